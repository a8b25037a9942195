#' Many statistics at once
#'
#' A batch is paid as a whole or not at all. Each item has its own
#' \eqn{\epsilon}{epsilon} or accuracy, or a `weight` for its part of the batch's
#' `epsilon`. `sl_plan_batch()` is free.
#'
#' @inheritParams sl_plan
#' @inheritParams sl_release
#' @param ... Items of `sl_item()`, which may have names, or one list of them. A
#'   statistic alone is an item with the weight 1.
#' @param epsilon What the items with a weight share. Of an item, what it may cost.
#' @param equalise `"relative"` shares `epsilon` so that the largest radius, as a
#'   part of the item's range, is as small as possible.
#' @param weight The part of the batch's `epsilon`.
#' @returns `sl_batch()`: a batch. Its `items` are releases, by their names;
#'   [tibble::as_tibble()] has all their numbers. `sl_plan_batch()`: a plan.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' items <- list(
#'   mass = sl_item(sl_mean("body_mass_g"), weight = 2),
#'   bill = sl_item(sl_mean("bill_length_mm"), weight = 1)
#' )
#' sl_plan_batch(penguins, items, epsilon = 0.3)
#' batch <- sl_batch(penguins, items, epsilon = 0.3)
#' batch$items$mass
#' tibble::as_tibble(batch)
sl_batch <- function(dataset, ..., epsilon = NULL, equalise = NULL, alpha = NULL, gamma = NULL, grid_refinement = NULL,
                     reuse = NULL, key = NULL, rehearse = NULL) {
  items <- as_items(list(...), epsilon, equalise)
  key <- check_idempotency_key(key)
  path <- dataset_path(dataset, "batches")
  body <- batch_body(items, epsilon, equalise, alpha, gamma, grid_refinement, reuse)
  body <- c(body, rehearsal(dataset, rehearse))
  what <- paste("POST", path)
  batch <- as_answer(
    post_answer(dataset$connection, path, body, key), c("snapledger_batch", "snapledger_answer"),
    c("items", "summary", "budget"), what, key
  )
  batch$items <- rlang::set_names(lapply(batch$items, as_release, what = what, key = key), names(items))
  batch
}

#' @rdname sl_batch
#' @export
sl_plan_batch <- function(dataset, ..., epsilon = NULL, equalise = NULL, alpha = NULL, gamma = NULL,
                          grid_refinement = NULL, reuse = NULL) {
  items <- as_items(list(...), epsilon, equalise)
  path <- dataset_path(dataset, "batches", "plan")
  body <- batch_body(items, epsilon, equalise, alpha, gamma, grid_refinement, reuse)
  plan <- as_answer(
    post_answer(dataset$connection, path, body), c("snapledger_batch_plan", "snapledger_answer"),
    c("items", "summary", "budget"), paste("POST", path)
  )
  names(plan$items) <- names(items)
  plan
}

#' @rdname sl_batch
#' @export
sl_item <- function(statistic, epsilon = NULL, accuracy = NULL, relative_accuracy = NULL, guess = NULL, weight = NULL) {
  if (is_derived(check_statistic(statistic))) refuse("A batch has no derived statistics: release them alone.")
  numbers <- list(
    epsilon = epsilon, accuracy = accuracy, relative_accuracy = relative_accuracy, guess = guess, weight = weight
  )
  structure(c(list(statistic = statistic), decimal_texts(numbers)), class = "snapledger_item")
}

# Returns the items of a batch: of `...`, or of one list.
as_items <- function(given, epsilon, equalise) {
  is_one_list <- length(given) == 1 && is.list(given[[1]]) && !is.object(given[[1]])
  if (is_one_list) given <- given[[1]]
  if (length(given) == 0) refuse("A batch has at least one item: see `sl_item()`.")
  lapply(given, function(each) {
    if (inherits(each, "snapledger_item")) {
      return(each)
    }
    sl_item(each, weight = if (!is.null(epsilon) && is.null(equalise)) 1)
  })
}

batch_body <- function(items, epsilon, equalise, alpha, gamma, grid_refinement, reuse) {
  c(
    list(items = unname(items)), decimal_texts(list(epsilon = epsilon)), compact(list(equalise = equalise)),
    mechanism_options(alpha, gamma, grid_refinement, reuse)
  )
}
