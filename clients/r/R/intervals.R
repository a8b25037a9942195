#' Intervals and values of answers
#'
#' @param object,x A release or a derived statistic.
#' @param parm Not used: the intervals of all numbers are returned.
#' @param level The confidence level. It is chosen when you ask, with `alpha`, so
#'   no other is possible here.
#' @param ... Not used.
#' @returns `confint()`: a matrix with a row for each number, and the ends of its
#'   interval; `NA` where nothing is known. `coef()`: the values with their labels.
#'   `as.numeric()`: the values.
#' @name intervals
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' line <- sl_release(penguins, sl_regression(body_mass_g ~ bill_length_mm), epsilon = 1)
#' coef(line)
#' confint(line)
NULL

#' @rdname intervals
#' @export
confint.snapledger_release <- function(object, parm, level, ...) {
  given <- 1 - alpha_of(object)
  if (!missing(level) && !isTRUE(all.equal(level, given))) {
    refuse(
      "The confidence level of this answer is %s: ask with `alpha = %s` for another.", format(given), format(1 - level)
    )
  }
  numbers <- tibble::as_tibble(object)
  ends <- cbind(lower = as.numeric(numbers$conf_low), upper = as.numeric(numbers$conf_high))
  rownames(ends) <- numbers$label
  ends
}

#' @rdname intervals
#' @export
confint.snapledger_derived <- confint.snapledger_release

#' @rdname intervals
#' @export
coef.snapledger_release <- function(object, ...) {
  numbers <- tibble::as_tibble(object)
  stats::setNames(as.numeric(numbers$value), numbers$label)
}

#' @rdname intervals
#' @export
coef.snapledger_derived <- coef.snapledger_release

#' @rdname intervals
#' @export
as.double.snapledger_release <- function(x, ...) unname(coef.snapledger_release(x))

#' @rdname intervals
#' @export
as.double.snapledger_derived <- as.double.snapledger_release

#' Matrix of a two-way table
#'
#' @param x A release of [sl_table()].
#' @param ... Not used.
#' @returns A matrix with a row for each bin of the first column and a column for
#'   each bin of the second one. The count outside of a filter is left out.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' as.matrix(sl_release(penguins, sl_table("species", "body_mass_g", bins = list(NULL, 2)), epsilon = 0.5))
as.matrix.snapledger_histogram <- function(x, ...) {
  if (is.null(x$axes)) refuse("Only a two-way table has rows and columns: see `sl_table()`.")
  labels <- lapply(x$axes, axis_labels)
  cells <- as_values(x$value_in_range)[seq_len(length(labels[[1]]) * length(labels[[2]]))]
  matrix(cells, length(labels[[1]]), byrow = TRUE, dimnames = stats::setNames(labels, unlist(x$statistic$columns)))
}

alpha_of <- function(answer) as.numeric(rlang::`%||%`(answer$accuracy$alpha, answer$alpha))
