#' Reports
#'
#' A report is a batch that is released by itself whenever new data of the same people
#' is registered (`succeeds`), within a budget that is set beforehand, and published as
#' figures under the same names. Defining one releases nothing now.
#'
#' `sl_define_report()` defines a report where the latest data is, or changes it.
#' `sl_plan_report()`, which is free, says what a run would cost and promise, and how
#' many more runs the budget covers. `sl_retry_report()` tries the run on this dataset
#' again, if it was refused or could not be published. `sl_withdraw_report()` ends the
#' report; what it has published stays.
#'
#' @inheritParams sl_batch
#' @param name The name of a report, such as `"monthly"`.
#' @param items A list of items of [sl_item()], which may have names.
#' @param figures A list of figures of `sl_report_figure()`.
#' @param epsilon_per_run The most that one run may cost.
#' @param epsilon_total The most that all runs may cost together.
#' @param epsilon What the items with a weight share.
#' @param if_match An answer of `sl_report()` or its `etag`: the report is changed or
#'   withdrawn only if it is still as it was read. Otherwise the call fails with the
#'   class `snapledger_precondition_failed`.
#' @param only_new Whether to define it only if there is no such report. Otherwise the
#'   call fails with the class `snapledger_already_exists`.
#' @param newest Whether the newest runs come first. By default, the oldest do.
#' @param figure The name that each run publishes under.
#' @param title What the figure shows.
#' @param of Which items of the batch it shows: their names, or their numbers from 1.
#'   By default, all.
#' @param note What readers should know.
#' @param public Whether everybody who reaches the service may read it. For owners.
#' @returns `sl_reports()`: a tibble with a row for each report that you may see.
#'   `sl_report()` and `sl_define_report()`: a report, with `epsilon_remaining` and
#'   others. `sl_plan_report()`: a plan; [tibble::as_tibble()] has a row for each item.
#'   `sl_report_runs()` and `sl_retry_report()`: a tibble with a row for each run; its
#'   `state` is `pending`, `released`, `done`, or `refused`, and then `problem` says
#'   why. `sl_withdraw_report()`: nothing.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' items <- list(
#'   mass = sl_item(sl_mean("body_mass_g"), epsilon = 0.2),
#'   species = sl_item(sl_histogram("species"), epsilon = 0.1)
#' )
#' figures <- list(
#'   sl_report_figure("monthly-mass", "Body mass", of = "mass"),
#'   sl_report_figure("monthly-species", "Penguins by species", of = "species")
#' )
#' sl_define_report(penguins, "monthly", items, figures, epsilon_per_run = 0.3, epsilon_total = 3)
#' sl_plan_report(penguins, "monthly")
#' sl_report_runs(penguins, "monthly")
#' sl_withdraw_report(penguins, "monthly")
sl_reports <- function(dataset) {
  found <- list_items(dataset$connection, dataset_path(dataset, "reports"), "reports")
  tibble::tibble(
    dataset = texts_of(found, "dataset"),
    report = texts_of(found, "report"),
    principal = texts_of(found, "principal"),
    epsilon_per_run = numbers_of(found, "epsilon_per_run"),
    epsilon_total = numbers_of(found, "epsilon_total"),
    epsilon_spent = numbers_of(found, "epsilon_spent"),
    epsilon_remaining = numbers_of(found, "epsilon_remaining"),
    changed_at = times_of(found, "changed_at")
  )
}

#' @rdname sl_reports
#' @export
sl_report <- function(dataset, name) {
  path <- dataset_path(dataset, "reports", name)
  as_report(get_answer(dataset$connection, path), paste("GET", path))
}

#' @rdname sl_reports
#' @export
sl_define_report <- function(dataset, name, items, figures, epsilon_per_run, epsilon_total, epsilon = NULL,
                             equalise = NULL, alpha = NULL, gamma = NULL, grid_refinement = NULL, reuse = NULL,
                             if_match = NULL, only_new = FALSE) {
  if (!is.list(items) || is.object(items)) refuse("`items` must be a list of items: see `sl_item()`.")
  items <- as_items(list(items), epsilon, equalise)
  body <- list(
    batch = batch_body(items, epsilon, equalise, alpha, gamma, grid_refinement, reuse),
    figures = lapply(figures, place_figure, items = items),
    epsilon_per_run = decimal_text(epsilon_per_run, "`epsilon_per_run`"),
    epsilon_total = decimal_text(epsilon_total, "`epsilon_total`")
  )
  path <- dataset_path(dataset, "reports", name)
  document <- send(dataset$connection, "PUT", path, body, condition = condition_of(if_match, only_new))
  as_report(document, paste("PUT", path))
}

#' @rdname sl_reports
#' @export
sl_report_figure <- function(figure, title, of = NULL, note = NULL, public = FALSE) {
  members <- c(list(figure = figure, title = title), compact(list(note = note)))
  if (check_flag(public, "public")) members <- c(members, list(audience = "public", confirm_public = TRUE))
  structure(members, of = of, class = "snapledger_report_figure")
}

# Returns the members of a figure with the positions of its items, which the service counts from 0.
place_figure <- function(figure, items) {
  if (!inherits(figure, "snapledger_report_figure")) {
    refuse("`figures` must be a list of figures: see `sl_report_figure()`.")
  }
  of <- attr(figure, "of")
  if (is.null(of)) {
    return(unclass_figure(figure))
  }
  places <- if (is.character(of)) match(of, names(items)) else of
  if (!is.numeric(places) || anyNA(places) || !all(places %in% seq_along(items))) {
    refuse("`of` must be names of items, or their numbers from 1 to %d.", length(items))
  }
  c(unclass_figure(figure), list(items = as.list(as.integer(places) - 1L)))
}

unclass_figure <- function(figure) {
  attr(figure, "of") <- NULL
  unclass(figure)
}

#' @rdname sl_reports
#' @export
sl_plan_report <- function(dataset, name) {
  path <- dataset_path(dataset, "reports", name, "plan")
  as_answer(
    post_answer(dataset$connection, path, NULL), c("snapledger_batch_plan", "snapledger_answer"),
    c("items", "summary", "runs"), paste("POST", path)
  )
}

#' @rdname sl_reports
#' @export
sl_report_runs <- function(dataset, name, newest = FALSE) {
  path <- dataset_path(dataset, "reports", name, "runs")
  tabulate_runs(list_items(dataset$connection, path, "runs", newest = newest))
}

#' @rdname sl_reports
#' @export
sl_retry_report <- function(dataset, name) {
  path <- dataset_path(dataset, "reports", name, "runs")
  run <- as_answer(post_answer(dataset$connection, path, NULL), NULL, c("number", "state"), paste("POST", path))
  tabulate_runs(list(run))
}

#' @rdname sl_reports
#' @export
sl_withdraw_report <- function(dataset, name, if_match = NULL) {
  path <- dataset_path(dataset, "reports", name)
  send(dataset$connection, "DELETE", path, repeatable = FALSE, condition = condition_of(if_match))
  invisible(NULL)
}

as_report <- function(document, what) {
  members <- c("dataset", "report", "principal", "epsilon_per_run", "epsilon_remaining")
  as_answer(document, c("snapledger_report", "snapledger_answer"), members, what)
}

#' @export
format.snapledger_report <- function(x, ...) {
  budget <- sprintf("\u03b5 = %s a run at most; %s of %s are left", x$epsilon_per_run, x$epsilon_remaining,
    x$epsilon_total
  )
  figures <- vapply(x$figures, function(each) sprintf("  %s: %s", each$figure, each$title), "")
  c(sprintf("report %s of %s, in the name of %s", x$report, x$dataset, x$principal), budget, shorten(figures))
}

tabulate_runs <- function(runs) {
  problems <- lapply(runs, function(run) run$problem)
  tibble::tibble(
    number = as.integer(numbers_of(runs, "number")),
    dataset = texts_of(runs, "dataset"),
    state = texts_of(runs, "state"),
    principal = texts_of(runs, "principal"),
    charged = numbers_of(runs, "charged"),
    queued_at = times_of(runs, "queued_at"),
    ended_at = times_of(runs, "ended_at"),
    problem = vapply(problems, function(problem) as_one_text(problem$detail, NA_character_), "")
  )
}
