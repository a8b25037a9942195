#' Plan a statistic
#'
#' A plan says what a release would cost and promise. It is free and reads no data.
#'
#' Give exactly one of `epsilon`, `accuracy` and `relative_accuracy`. Numbers may
#' be text, so that each digit reaches the service: `"0.1"`. A double stands for
#' the decimal that R prints, so 0.1 is sent as `"0.1"` too.
#'
#' @param dataset A dataset of [sl_dataset()].
#' @param statistic What to ask for: see [statistics] and [derived_statistics].
#' @param epsilon What the release may cost. A derived statistic divides it among
#'   its releases.
#' @param accuracy The wanted radius, in the statistic's units. For a derived
#'   statistic, half the width of its interval.
#' @param relative_accuracy The same as a part of the guess.
#' @param guess What the statistic may be, as far as you know without the data.
#' @param guesses For a derived statistic, numbers of the table by name, such as
#'   `list(mean = 4200, count = 150)`.
#' @param alpha The true statistic lies outside the interval with at most this
#'   probability; 0.05 by default.
#' @param gamma,grid_refinement Parameters of the mechanism, for experts.
#' @param reuse Whether an earlier release may answer, which costs nothing.
#' @param curve The range of other \eqn{\epsilon}{epsilon} to plan for, as a list
#'   of the first one, the last one and how many: `list(0.01, 10, 50)`.
#' @returns A plan, with `privacy$epsilon`, `accuracy$radius`, `budget$affordable`
#'   and others. [tibble::as_tibble()] has its cost and radius, or those of each
#'   point of the curve; of a derived statistic, its releases.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' sl_plan(penguins, sl_mean("body_mass_g"), accuracy = 50)
sl_plan <- function(dataset, statistic, epsilon = NULL, accuracy = NULL, relative_accuracy = NULL, guess = NULL,
                    guesses = NULL, alpha = NULL, gamma = NULL, grid_refinement = NULL, reuse = NULL, curve = NULL) {
  body <- make_question(
    statistic, list(epsilon = epsilon, accuracy = accuracy, relative_accuracy = relative_accuracy), guess, guesses,
    mechanism_options(alpha, gamma, grid_refinement, reuse)
  )
  if (is_derived(statistic)) {
    if (!is.null(curve)) refuse("A derived statistic has no `curve`.")
    path <- dataset_path(dataset, "derived", "plan")
    return(as_answer(
      post_answer(dataset$connection, path, body), c("snapledger_derived_plan", "snapledger_answer"),
      c("components", "budget"), paste("POST", path)
    ))
  }
  body$curve <- as_curve(curve)
  path <- dataset_path(dataset, "plan")
  as_answer(
    post_answer(dataset$connection, path, body), c("snapledger_plan", "snapledger_answer"),
    c("accuracy", "privacy", "budget"), paste("POST", path)
  )
}

#' Plan before there is a dataset
#'
#' @inheritParams sl_plan
#' @param connection A connection of [sl_connect()].
#' @param statistic What to ask for: see [statistics]. Its `bounds` imply its
#'   column; a statistic that names other columns needs `columns`.
#' @param n How many rows the table has.
#' @param rows_per_unit How many rows a person or another protected unit has at most.
#' @param columns The declaration of each column, as a named list as in a registration.
#' @returns A plan, without a `budget`.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' sl_plan_ahead(sl_connect(), sl_mean("age", bounds = c(0, 100)), n = 1000, accuracy = 1)
sl_plan_ahead <- function(connection, statistic, n, rows_per_unit = 1, columns = NULL, epsilon = NULL, accuracy = NULL,
                          relative_accuracy = NULL, guess = NULL, alpha = NULL, gamma = NULL, grid_refinement = NULL,
                          curve = NULL) {
  body <- make_question(
    statistic, list(epsilon = epsilon, accuracy = accuracy, relative_accuracy = relative_accuracy), guess, NULL,
    mechanism_options(alpha, gamma, grid_refinement, NULL)
  )
  if (is_derived(statistic)) refuse("A derived statistic is planned on a dataset: see `sl_plan()`.")
  columns <- as_declarations(columns)
  body <- c(body, compact(list(n = as.integer(n), rows_per_unit = as.integer(rows_per_unit), columns = columns)))
  body$curve <- as_curve(curve)
  path <- make_path("plan")
  as_answer(
    post_answer(connection, path, body), c("snapledger_plan", "snapledger_answer"), c("accuracy", "privacy"),
    paste("POST", path)
  )
}

#' Release a statistic
#'
#' A release draws noise once, debits its cost and is stored. If its answer is
#' lost, the same request is sent again with the same idempotency key, so that
#' you never pay twice. If all attempts fail, the error says with which `key` to
#' ask again.
#'
#' @inheritParams sl_plan
#' @param key The idempotency key, which names this request: the same key and
#'   question have the same answer. By default, a new one for each call.
#' @param rehearse Whether to answer with made-up data, which has nothing to do
#'   with the table's and costs nothing. By default, as in [sl_dataset()].
#' @returns A release, or a derived statistic. [tibble::as_tibble()] has a row for
#'   each number, [stats::confint()] the intervals and [as.numeric()] the values.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' mass <- sl_release(penguins, sl_mean("body_mass_g"), epsilon = 0.5)
#' mass
#' confint(mass)
#' sl_release(penguins, sl_sd("body_mass_g"), epsilon = "0.2")
sl_release <- function(dataset, statistic, epsilon = NULL, accuracy = NULL, relative_accuracy = NULL, guess = NULL,
                       guesses = NULL, alpha = NULL, gamma = NULL, grid_refinement = NULL, reuse = NULL, key = NULL,
                       rehearse = NULL) {
  body <- make_question(
    statistic, list(epsilon = epsilon, accuracy = accuracy, relative_accuracy = relative_accuracy), guess, guesses,
    mechanism_options(alpha, gamma, grid_refinement, reuse)
  )
  body <- c(body, rehearsal(dataset, rehearse))
  key <- check_idempotency_key(key)
  path <- dataset_path(dataset, if (is_derived(statistic)) "derived" else "releases")
  document <- post_answer(dataset$connection, path, body, key)
  if (!is_derived(statistic)) {
    return(as_release(document, paste("POST", path), key))
  }
  # What `sl_publish()` sends: the same question, which earlier releases answer.
  question <- body[setdiff(names(body), c("reuse", "rehearse"))]
  structure(as_derived(document, paste("POST", path), key), request = question)
}

#' Earlier releases
#'
#' `sl_releases()` lists those of everybody on a dataset, or your own on all
#' datasets. `sl_earlier_release()` is one of them.
#'
#' @param of A dataset of [sl_dataset()], or a connection of [sl_connect()].
#' @param n_max How many releases to read at most.
#' @param newest Whether the newest ones come first. By default, the oldest do.
#' @returns A list of releases; [tibble::as_tibble()] has all their numbers.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' sl_releases(sl_connect(), n_max = 10, newest = TRUE)
sl_releases <- function(of, n_max = Inf, newest = FALSE) {
  is_dataset <- inherits(of, "snapledger_dataset")
  path <- if (is_dataset) dataset_path(of, "releases") else make_path("releases")
  found <- list_items(if (is_dataset) of$connection else of, path, "releases", n_max, newest)
  structure(lapply(found, as_release, what = paste("GET", path)), class = "snapledger_releases")
}

#' @rdname sl_releases
#' @param connection A connection of [sl_connect()].
#' @param id The `id` of a release.
#' @export
sl_earlier_release <- function(connection, id) {
  path <- make_path("releases", id)
  as_release(get_answer(connection, path), paste("GET", path))
}

as_release <- function(document, what, key = NULL) {
  kind <- if (is.list(document$value)) "snapledger_histogram" else "snapledger_estimate"
  as_answer(
    document, c(kind, "snapledger_release", "snapledger_answer"),
    c("id", "statistic", "value_in_range", "accuracy", "privacy", "budget"), what, key
  )
}

as_derived <- function(document, what, key = NULL) {
  members <- c("derived", "estimates", "components", "budget")
  as_answer(document, c("snapledger_derived", "snapledger_answer"), members, what, key)
}

is_derived <- function(statistic) isTRUE(attr(statistic, "derived"))

# Returns the body of a question about one statistic.
make_question <- function(statistic, aims, guess, guesses, options) {
  body <- list(statistic = check_statistic(statistic))
  if (is_derived(statistic)) {
    if (!is.null(guess)) refuse("A derived statistic takes `guesses`, such as `list(mean = 4200)`, and no `guess`.")
    names(body) <- "derived"
    body$guesses <- as_guesses(guesses)
  } else if (!is.null(guesses)) {
    refuse("`guesses` go with derived statistics; this one takes one `guess`.")
  }
  if (length(compact(aims)) != 1) refuse("Give exactly one of `epsilon`, `accuracy` and `relative_accuracy`.")
  c(body, decimal_texts(c(aims, list(guess = guess))), options)
}

# Returns the members that releases, plans and batches share.
mechanism_options <- function(alpha, gamma, grid_refinement, reuse) {
  if (is.numeric(grid_refinement)) grid_refinement <- as.integer(grid_refinement)
  if (!is.null(reuse)) check_flag(reuse, "reuse")
  c(decimal_texts(list(alpha = alpha, gamma = gamma)), compact(list(grid_refinement = grid_refinement, reuse = reuse)))
}

# Returns the member of a rehearsal: by the argument or, if that is NULL, by the dataset.
rehearsal <- function(dataset, rehearse) {
  rehearses <- if (is.null(rehearse)) check_dataset(dataset)$rehearse else check_flag(rehearse, "rehearse")
  if (rehearses) list(rehearse = TRUE)
}

check_statistic <- function(statistic) {
  if (!inherits(statistic, "snapledger_statistic")) {
    refuse("`statistic` must be a statistic such as `sl_mean(\"age\")`: see `?snapledger::statistics`.")
  }
  statistic
}

check_idempotency_key <- function(key) {
  if (is.null(key)) {
    return(new_key())
  }
  if (!is.character(key) || length(key) != 1 || is.na(key) || !grepl("^[ -~]+$", key)) {
    refuse("`key` must be one text of printable ASCII characters.")
  }
  key
}

as_guesses <- function(guesses) {
  if (is.null(guesses)) {
    return(NULL)
  }
  if (is.null(names(guesses))) refuse("`guesses` must have names, such as `list(mean = 4200)`.")
  lapply(as.list(guesses), value_text, what = "a guess")
}

as_curve <- function(curve) {
  if (is.null(curve)) {
    return(NULL)
  }
  if (length(curve) != 3) refuse("`curve` must be the first epsilon, the last one and how many: `list(0.01, 10, 50)`.")
  list(from = decimal_text(curve[[1]]), to = decimal_text(curve[[2]]), points = as.integer(curve[[3]]))
}
