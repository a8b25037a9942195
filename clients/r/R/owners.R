#' Who may spend what
#'
#' For owners. `sl_allow()` lets somebody see a dataset and spend
#' \eqn{\epsilon}{epsilon} on it, or changes how much. `sl_revoke()` takes the access
#' away; what was spent stays spent. `sl_grantees()` lists who may get an allowance, or
#' with `to = "view"` who may be made a viewer of the figures.
#' [sl_budget()] says what has been spent, by whom, and [sl_ledger()] on what.
#'
#' `sl_allowance()` reads what was granted to somebody, and `sl_limit()` the limit of the
#' dataset, without the spending. Give their answers as `if_match` to change only what
#' you have read.
#'
#' @param dataset A dataset of [sl_dataset()].
#' @param principal The name of a person or a program.
#' @param epsilon_limit The \eqn{\epsilon}{epsilon} that it may spend. Of
#'   `sl_adjust_limit()`: that everybody may spend together, in the whole life of the
#'   dataset.
#' @param window_days After how many days the allowance is renewed. By default, never.
#' @param to `"spend"` or `"view"`.
#' @param reason Why the limit changes, for the ledger.
#' @param if_match An answer of `sl_allowance()`, or for `sl_adjust_limit()` one of
#'   `sl_limit()`, or its `etag`: the change is made only if nobody else has made one
#'   since. Otherwise the call fails with the class `snapledger_precondition_failed`.
#' @param only_new Whether to grant an allowance only to somebody who has none. Otherwise
#'   the call fails with the class `snapledger_already_exists`.
#' @returns `sl_allow()` and `sl_adjust_limit()`: the budget, as [sl_budget()].
#'   `sl_revoke()`: nothing. `sl_grantees()`: a tibble. `sl_allowance()` and
#'   `sl_limit()`: a list with `epsilon_limit`, `etag` and others.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' penguins <- sl_dataset(owner, "penguins")
#' sl_grantees(penguins)
#' sl_allow(penguins, "ada", 500)
#' sl_allow(penguins, "ada", 400, if_match = sl_allowance(penguins, "ada"))
#' tibble::as_tibble(sl_budget(penguins))
sl_allow <- function(dataset, principal, epsilon_limit, window_days = NULL, if_match = NULL, only_new = FALSE) {
  path <- dataset_path(dataset, "allowances", principal)
  body <- list(epsilon_limit = decimal_text(epsilon_limit, "`epsilon_limit`"))
  if (!is.null(window_days)) body$window_days <- as.integer(check_number(window_days, "window_days", 1))
  document <- send(dataset$connection, "PUT", path, body, condition = condition_of(if_match, only_new))
  as_budget(document, paste("PUT", path))
}

#' @rdname sl_allow
#' @export
sl_allowance <- function(dataset, principal) {
  path <- dataset_path(dataset, "allowances", principal)
  as_answer(get_answer(dataset$connection, path), NULL, c("principal", "epsilon_limit"), paste("GET", path))
}

#' @rdname sl_allow
#' @export
sl_limit <- function(dataset) {
  path <- dataset_path(dataset, "budget", "limit")
  as_answer(get_answer(dataset$connection, path), NULL, c("dataset", "epsilon_limit"), paste("GET", path))
}

#' @rdname sl_allow
#' @export
sl_revoke <- function(dataset, principal, if_match = NULL) {
  path <- dataset_path(dataset, "allowances", principal)
  send(dataset$connection, "DELETE", path, repeatable = FALSE, condition = condition_of(if_match))
  invisible(NULL)
}

#' @rdname sl_allow
#' @export
sl_grantees <- function(dataset, to = "spend") {
  query <- if (!identical(to, "spend")) paste0("&to=", encode_query(to)) # services of 1.0 do not know it
  found <- list_items(dataset$connection, dataset_path(dataset, "grantees"), "grantees", query = query)
  tibble::tibble(
    principal = texts_of(found, "name"),
    display_name = texts_of(found, "display_name"),
    role = texts_of(found, "role")
  )
}

#' @rdname sl_allow
#' @export
sl_adjust_limit <- function(dataset, epsilon_limit, reason, if_match = NULL) {
  path <- dataset_path(dataset, "budget", "adjustments")
  body <- list(epsilon_limit = decimal_text(epsilon_limit, "`epsilon_limit`"), reason = reason)
  document <- send(
    dataset$connection, "POST", path, body, repeatable = FALSE, condition = condition_of(if_match)
  )
  as_budget(document, paste("POST", path))
}

#' Answer requests for budget
#'
#' For owners. `sl_grant_request()` raises an allowance by what was asked, or by
#' another \eqn{\epsilon}{epsilon}; `sl_decline_request()` does not. See
#' [sl_budget_requests()] for those that are open.
#'
#' @inheritParams sl_allow
#' @param id The `id` of a request.
#' @param epsilon How much to grant. By default, what was asked for.
#' @param answer What to tell who asked.
#' @returns The request, as a tibble with one row.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' penguins <- sl_dataset(owner, "penguins")
#' requests <- sl_budget_requests(penguins)
#' for (id in requests$id[requests$state == "open"]) {
#'   sl_grant_request(penguins, id, epsilon = "0.5", answer = "For the report.")
#' }
sl_grant_request <- function(dataset, id, epsilon = NULL, answer = NULL) {
  answer_request(dataset, id, "grant", c(decimal_texts(list(epsilon = epsilon)), compact(list(answer = answer))))
}

#' @rdname sl_grant_request
#' @export
sl_decline_request <- function(dataset, id, answer = NULL) {
  answer_request(dataset, id, "decline", compact(list(answer = answer)))
}

answer_request <- function(dataset, id, verdict, members) {
  path <- dataset_path(dataset, "budget-requests", id, verdict)
  body <- if (length(members) == 0) rlang::set_names(list(), character()) else members # `{}`, not `[]`
  request <- as_answer(post_answer(dataset$connection, path, body), NULL, c("id", "state"), paste("POST", path))
  tabulate_requests(list(request))
}

#' Delete a dataset
#'
#' Deletes the data for good, for owners. Its releases and its ledger stay readable.
#'
#' @inheritParams sl_allow
#' @returns Nothing.
#' @export
#' @examples
#' # sl_delete_dataset(sl_dataset(owner, "people-of-2019"))
sl_delete_dataset <- function(dataset) {
  send(dataset$connection, "DELETE", dataset_path(dataset), repeatable = FALSE)
  invisible(NULL)
}
