#' What may be spent on a dataset, and what is left
#'
#' @param dataset A dataset of [sl_dataset()].
#' @returns A budget: `epsilon_limit`, `epsilon_spent` and `epsilon_remaining` of
#'   the dataset, and your `allowance`; for its owner and for auditors, everybody's
#'   `allowances`. [tibble::as_tibble()] has a row for each account; its numbers are
#'   exact to 15 digits.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' sl_budget(sl_dataset(sl_connect(), "penguins"))
sl_budget <- function(dataset) {
  path <- dataset_path(dataset, "budget")
  as_budget(get_answer(dataset$connection, path), paste("GET", path))
}

as_budget <- function(document, what) {
  as_answer(
    document, c("snapledger_budget", "snapledger_answer"), c("epsilon_limit", "epsilon_spent", "epsilon_remaining"),
    what
  )
}

#' Ask for a larger allowance
#'
#' `sl_request_budget()` asks the dataset's owner to raise your allowance. You
#' may have one open request at a time, and the same request, sent again while it
#' is open, is the same.
#'
#' @param dataset A dataset of [sl_dataset()].
#' @param epsilon How much more you ask for.
#' @param reason What for, in a sentence that its owner reads.
#' @returns The request, as a tibble with one row; `sl_budget_requests()`: all that
#'   you may see, oldest first. `state` is `open`, `granted` or `declined`.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' sl_budget_requests(sl_dataset(sl_connect(), "penguins"))
sl_request_budget <- function(dataset, epsilon, reason) {
  path <- dataset_path(dataset, "budget-requests")
  body <- list(epsilon = decimal_text(epsilon, "`epsilon`"), reason = reason)
  request <- as_answer(post_answer(dataset$connection, path, body), NULL, c("id", "state"), paste("POST", path))
  tabulate_requests(list(request))
}

#' @rdname sl_request_budget
#' @export
sl_budget_requests <- function(dataset) {
  tabulate_requests(list_items(dataset$connection, dataset_path(dataset, "budget-requests"), "budget_requests"))
}

tabulate_requests <- function(requests) {
  tibble::tibble(
    id = texts_of(requests, "id"),
    principal = texts_of(requests, "principal"),
    epsilon = numbers_of(requests, "epsilon"),
    reason = texts_of(requests, "reason"),
    state = texts_of(requests, "state"),
    granted = numbers_of(requests, "granted"),
    answer = texts_of(requests, "answer"),
    created_at = times_of(requests, "created_at"),
    answered_at = times_of(requests, "answered_at")
  )
}

#' The ledger of a dataset
#'
#' For owners and auditors.
#'
#' @param dataset A dataset of [sl_dataset()].
#' @param n_max How many entries to read at most.
#' @param newest Whether the newest ones come first. By default, the oldest do.
#' @returns A tibble with a row for each entry. `epsilon_spent` is
#'   the total of the dataset after it.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' sl_ledger(sl_dataset(owner, "penguins"), n_max = 10, newest = TRUE)
sl_ledger <- function(dataset, n_max = Inf, newest = FALSE) {
  path <- dataset_path(dataset, "ledger")
  entries <- list_items(dataset$connection, path, "entries", n_max, newest)
  tibble::tibble(
    seq = numbers_of(entries, "seq"),
    kind = texts_of(entries, "kind"),
    principal = texts_of(entries, "principal"),
    epsilon = numbers_of(entries, "epsilon"),
    epsilon_spent = numbers_of(entries, "epsilon_spent"),
    release_id = texts_of(entries, "release_id"),
    reason = texts_of(entries, "reason"),
    at = times_of(entries, "at"),
    hash = texts_of(entries, "hash")
  )
}
