#' The datasets that you may see
#'
#' @param connection A connection of [sl_connect()].
#' @returns A tibble with a row for each dataset: its `name`, the number of `rows`
#'   and of `columns`, its `state` (`open`, `closed` or `stale`), its `description`
#'   and when it was registered (`created_at`).
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' sl_datasets(sl_connect())
sl_datasets <- function(connection) {
  found <- list_items(connection, make_path("datasets"), "datasets")
  tibble::tibble(
    name = texts_of(found, "name"),
    rows = numbers_of(found, "n"),
    columns = vapply(found, function(each) length(each$columns), 0L),
    state = texts_of(found, "state"),
    description = texts_of(found, "description"),
    created_at = times_of(found, "created_at")
  )
}

#' A dataset
#'
#' @param connection A connection of [sl_connect()].
#' @param name The name of a dataset. Nothing is sent.
#' @param rehearse Whether [sl_release()] and [sl_batch()] answer with made-up
#'   data, which costs nothing. Write a notebook with rehearsals before you touch
#'   the budget; then take this argument away.
#' @returns A dataset, for [sl_describe()], [sl_plan()], [sl_release()],
#'   [sl_batch()] and [sl_budget()].
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' sl_describe(penguins)
sl_dataset <- function(connection, name, rehearse = FALSE) {
  structure(
    list(connection = check_connection(connection), name = as_name(name), rehearse = check_flag(rehearse, "rehearse")),
    class = "snapledger_dataset"
  )
}

#' @export
format.snapledger_dataset <- function(x, ...) {
  sprintf("<snapledger dataset> %s at %s%s", x$name, x$connection$url, if (x$rehearse) ", in rehearsal" else "")
}

#' @export
print.snapledger_dataset <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

check_dataset <- function(dataset) {
  if (!inherits(dataset, "snapledger_dataset")) refuse("This needs a dataset: see `sl_dataset()`.")
  dataset
}

check_flag <- function(flag, name) {
  if (!rlang::is_bool(flag)) refuse("`%s` must be TRUE or FALSE.", name)
  flag
}

dataset_path <- function(dataset, ...) make_path("datasets", check_dataset(dataset)$name, ...)

#' The public facts of a dataset
#'
#' @param dataset A dataset of [sl_dataset()].
#' @returns The facts: `n` rows, the declared `columns`, `rows_per_unit` and
#'   others. [tibble::as_tibble()] has a row for each column.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' facts <- sl_describe(sl_dataset(sl_connect(), "penguins"))
#' tibble::as_tibble(facts)
sl_describe <- function(dataset) {
  path <- dataset_path(dataset)
  as_answer(get_answer(dataset$connection, path), "snapledger_facts", c("name", "n", "columns"), paste("GET", path))
}

#' Who you are
#'
#' @param connection A connection of [sl_connect()].
#' @returns A list with your `name`, `role`, when your key expires
#'   (`key_expires_at`) and your `allowances`.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' sl_me(sl_connect())$role
sl_me <- function(connection) {
  path <- make_path("me")
  as_answer(get_answer(connection, path), "snapledger_me", c("name", "role"), paste("GET", path))
}

#' @export
format.snapledger_me <- function(x, ...) {
  name <- if (is.null(x$display_name)) x$name else sprintf("%s (%s)", x$display_name, x$name)
  sprintf("<snapledger principal> %s, %s", name, x$role)
}

#' @export
print.snapledger_me <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

texts_of <- function(items, name) vapply(items, function(each) as_one_text(each[[name]], NA_character_), "")

numbers_of <- function(items, name) vapply(items, function(each) as_number(each[[name]]), 0)

times_of <- function(items, name) as_time(texts_of(items, name))

# Returns times of ISO 8601 in UTC.
as_time <- function(texts) as.POSIXct(sub("Z$", "", texts), "UTC", "%Y-%m-%dT%H:%M:%OS")
