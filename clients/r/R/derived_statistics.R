#' Derived statistics
#'
#' These functions describe statistics that follow from releases, for [sl_plan()]
#' and [sl_release()]. You pay only for those releases that do not exist yet. The
#' \eqn{\epsilon}{epsilon} is divided among them, and [sl_plan()] shows them.
#'
#' @inheritParams statistics
#' @param category The share of this category; by default, of what is true in a
#'   column of booleans. Without a `column`, the share of rows that meet `where`.
#' @param formula `y ~ x`: the least-squares line of the column y on the column x.
#' @param probabilities Between 0 and 1: up to 100 quantiles.
#' @param method `"histogram"`, `"search"` or `"adaptive"`; by default, whichever
#'   of the first and the last tells more for the same \eqn{\epsilon}{epsilon}.
#' @returns A description of the statistic.
#' @name derived_statistics
#' @examples
#' sl_sd("body_mass_g")
#' sl_proportion("species", "Gentoo")
#' sl_regression(body_mass_g ~ bill_length_mm)
#' sl_quantile("body_mass_g", c(0.25, 0.5, 0.75), bins = 1000)
#' sl_margin("species", "species", "body_mass_g", bins = list(NULL, 5))
NULL

#' @rdname derived_statistics
#' @export
sl_sd <- function(column, bounds = NULL, where = NULL, missing = NULL) {
  new_statistic("standard_deviation",
    column = check_column(column), bounds = as_bounds(bounds),
    where = check_known(as_filter(rlang::enquo(where)), missing), missing = missing, derived = TRUE
  )
}

#' @rdname derived_statistics
#' @export
sl_proportion <- function(column = NULL, category = NULL, where = NULL, group_by = NULL) {
  new_statistic("proportion",
    column = if (!is.null(column)) check_column(column), category = category,
    where = as_filter(rlang::enquo(where)), group_by = as_group(group_by), derived = TRUE
  )
}

#' @rdname derived_statistics
#' @export
sl_correlation <- function(x, y, bounds = NULL, where = NULL, missing = NULL) {
  new_statistic("correlation",
    columns = as_pair(x, y), bounds = as_pair_of_bounds(bounds),
    where = check_known(as_filter(rlang::enquo(where)), missing), missing = missing, derived = TRUE
  )
}

#' @rdname derived_statistics
#' @export
sl_regression <- function(formula, bounds = NULL, where = NULL, missing = NULL) {
  is_line <- rlang::is_formula(formula, lhs = TRUE) && is.symbol(formula[[2]]) && is.symbol(formula[[3]])
  if (!is_line) refuse("`formula` must be `y ~ x` with the names of two columns.")
  new_statistic("regression",
    columns = as_pair(as.character(formula[[3]]), as.character(formula[[2]])), bounds = as_pair_of_bounds(bounds),
    where = check_known(as_filter(rlang::enquo(where)), missing), missing = missing, derived = TRUE
  )
}

#' @rdname derived_statistics
#' @export
sl_cumulative <- function(column, edges = NULL, bins = NULL, bounds = NULL, where = NULL) {
  binned("cumulative", column, edges, bins, bounds, as_filter(rlang::enquo(where)), derived = TRUE)
}

#' @rdname derived_statistics
#' @export
sl_quantile <- function(column, probabilities = c(0.25, 0.5, 0.75), edges = NULL, bins = NULL, bounds = NULL,
                        where = NULL, method = NULL) {
  texts <- lapply(as.list(probabilities), decimal_text, what = "a probability")
  binned("quantile", column, edges, bins, bounds, as_filter(rlang::enquo(where)),
    probabilities = texts, method = method, derived = TRUE
  )
}

#' @rdname derived_statistics
#' @export
sl_median <- function(column, edges = NULL, bins = NULL, bounds = NULL, where = NULL, method = NULL) {
  binned("quantile", column, edges, bins, bounds, as_filter(rlang::enquo(where)),
    probabilities = list("0.5"), method = method, derived = TRUE
  )
}

#' @rdname derived_statistics
#' @export
sl_margin <- function(column, x, y, edges = NULL, bins = NULL, bounds = NULL, where = NULL) {
  binned_pair("margin", x, y, edges, bins, bounds, as_filter(rlang::enquo(where)),
    column = check_column(column), derived = TRUE
  )
}
