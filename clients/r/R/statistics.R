#' Statistics that can be released
#'
#' These functions describe a statistic, for [sl_plan()], [sl_release()] and
#' [sl_item()]. They send nothing.
#'
#' `sl_mean()` of some rows (`where`), of groups (`group_by`), with weights or
#' without missing values is a derived statistic: computed from several releases,
#' which together cost the \eqn{\epsilon}{epsilon} that you give. So are
#' `sl_sum()`, `sl_variance()` and `sl_covariance()` without missing values.
#'
#' @param column,x,y The name of a column.
#' @param bounds The lower and the upper bound that values are clamped to: two
#'   numbers or, for a column of dates, dates. By default, those that the owner
#'   declared. Of two columns, a list with a pair or `NULL` for each.
#' @param where Only rows that meet this condition: see [sl_where()]. For variances,
#'   covariances and what follows from them, only together with `missing`.
#' @param group_by The name of a column, or [sl_periods()]: a number for each of
#'   its declared categories, or for each period.
#' @param weight The name of a column of weights, whose bounds are at least 0.
#' @param missing `"exclude"` leaves out missing values, which otherwise count as
#'   the value that the owner declared.
#' @returns A description of the statistic.
#' @name statistics
#' @examples
#' sl_mean("body_mass_g")
#' sl_mean("body_mass_g", where = species == "Adelie")
#' sl_count(where = body_mass_g >= 4000, group_by = "species")
#' sl_histogram("body_mass_g", edges = c(2000, 4000, 7000))
#' sl_table("species", "body_mass_g", bins = list(NULL, 5))
NULL

new_statistic <- function(kind, ..., derived = FALSE) {
  structure(compact(list(kind = kind, ...)), class = "snapledger_statistic", derived = derived)
}

#' @rdname statistics
#' @export
sl_mean <- function(column, bounds = NULL, where = NULL, group_by = NULL, weight = NULL, missing = NULL) {
  where <- as_filter(rlang::enquo(where))
  new_statistic("mean",
    column = check_column(column), bounds = as_bounds(bounds), where = where, group_by = as_group(group_by),
    weight = check_column(weight, "weight"), missing = missing,
    derived = !all(is.null(where), is.null(group_by), is.null(weight), is.null(missing))
  )
}

#' @rdname statistics
#' @export
sl_variance <- function(column, bounds = NULL, where = NULL, missing = NULL) {
  where <- check_known(as_filter(rlang::enquo(where)), missing)
  new_statistic("variance",
    column = check_column(column), bounds = as_bounds(bounds), where = where, missing = missing,
    derived = !is.null(where) || !is.null(missing)
  )
}

#' @rdname statistics
#' @export
sl_covariance <- function(x, y, bounds = NULL, where = NULL, missing = NULL) {
  where <- check_known(as_filter(rlang::enquo(where)), missing)
  new_statistic("covariance",
    columns = as_pair(x, y), bounds = as_pair_of_bounds(bounds), where = where, missing = missing,
    derived = !is.null(where) || !is.null(missing)
  )
}

#' @rdname statistics
#' @export
sl_count <- function(where = NULL, group_by = NULL) {
  new_statistic("count", where = as_filter(rlang::enquo(where)), group_by = as_group(group_by))
}

#' @rdname statistics
#' @export
sl_missing <- function(column) new_statistic("missing", column = check_column(column))

#' @rdname statistics
#' @export
sl_sum <- function(column, bounds = NULL, where = NULL, group_by = NULL, missing = NULL) {
  where <- as_filter(rlang::enquo(where))
  new_statistic("sum",
    column = check_column(column), bounds = as_bounds(bounds), where = where, group_by = as_group(group_by),
    missing = missing, derived = !is.null(missing)
  )
}

#' @rdname statistics
#' @param edges The edges of the bins, of a column of numbers or dates. Of two
#'   columns, a list with the edges or `NULL` for each.
#' @param bins How many bins of equal width or, for a column of dates, a calendar
#'   period: `"day"`, `"iso_week"`, `"month"`, `"quarter"` or `"year"`. Of two
#'   columns, a list with one or `NULL` for each.
#' @export
sl_histogram <- function(column, edges = NULL, bins = NULL, bounds = NULL, where = NULL) {
  binned("histogram", column, edges, bins, bounds, as_filter(rlang::enquo(where)))
}

#' @rdname statistics
#' @export
sl_table <- function(x, y, edges = NULL, bins = NULL, bounds = NULL, where = NULL) {
  binned_pair("histogram", x, y, edges, bins, bounds, as_filter(rlang::enquo(where)))
}

binned <- function(kind, column, edges, bins, bounds, where, ..., derived = FALSE) {
  new_statistic(kind,
    column = check_column(column), edges = if (!is.null(edges)) value_texts(edges, "an edge"), bins = as_bins(bins),
    bounds = as_bounds(bounds), where = where, ..., derived = derived
  )
}

binned_pair <- function(kind, x, y, edges, bins, bounds, where, ..., derived = FALSE) {
  new_statistic(kind,
    columns = as_pair(x, y), edges = each_of_pair(edges, "edges", function(each) value_texts(each, "an edge")),
    bins = each_of_pair(bins, "bins", as_bins), bounds = as_pair_of_bounds(bounds), where = where, ...,
    derived = derived
  )
}

#' Groups of calendar periods
#'
#' @param column The name of a column of dates.
#' @param period `"day"`, `"iso_week"`, `"month"`, `"quarter"` or `"year"`.
#' @param bounds The first and the last date. By default, those that the owner declared.
#' @returns Groups, for the argument `group_by` of a statistic.
#' @export
#' @examples
#' sl_count(group_by = sl_periods("admitted", "month"))
sl_periods <- function(column, period, bounds = NULL) {
  structure(
    compact(list(column = check_column(column), bins = as_bins(period), bounds = as_bounds(bounds))),
    class = "snapledger_periods"
  )
}

#' Any statistic of the HTTP interface
#'
#' @param kind The kind of statistic, such as `"pair_differences"`.
#' @param ... Its other members, as in the HTTP interface. Lists and vectors become
#'   arrays, except for vectors of length one: write `list("a")` for an array of one.
#' @param derived Whether it is a derived statistic.
#' @returns A description of the statistic.
#' @export
#' @examples
#' sl_statistic("sum", column = "body_mass_g", centred = TRUE)
sl_statistic <- function(kind, ..., derived = FALSE) new_statistic(kind, ..., derived = derived)

check_column <- function(column, name = "column") {
  if (is.null(column) && name != "column") {
    return(NULL)
  }
  if (inherits(column, "snapledger_dataset")) {
    refuse("Pass the statistic to `sl_release()`: `sl_release(dataset, sl_mean(\"age\"), epsilon = 1)`.")
  }
  if (is.character(column) && length(column) == 2) {
    refuse(
      "`%s` must be one column: for a table of two, see `sl_table(\"%s\", \"%s\")`.", name, column[1], column[2]
    )
  }
  if (!is.character(column) || length(column) != 1 || is.na(column)) {
    refuse("`%s` must be the name of a column, as text.", name)
  }
  column
}

# Returns a filter of a statistic that has one only for known values.
check_known <- function(where, missing) {
  if (!is.null(where) && is.null(missing)) {
    refuse(paste(
      "Here `where` goes with `missing = \"exclude\"`, which leaves out rows without a value; `where` alone goes with",
      "`sl_mean()`, `sl_count()`, `sl_sum()`, `sl_histogram()`, `sl_table()` and `sl_quantile()`."
    ))
  }
  where
}

as_pair <- function(x, y) list(check_column(x, "x"), check_column(y, "y"))

as_bounds <- function(bounds) {
  if (is.null(bounds)) {
    return(NULL)
  }
  if (length(bounds) != 2) refuse("`bounds` must be a lower and an upper bound.")
  value_texts(bounds, "a bound")
}

as_pair_of_bounds <- function(bounds) each_of_pair(bounds, "bounds", as_bounds)

# Returns the JSON of a member that has an item or NULL for each of two columns.
each_of_pair <- function(values, name, encode) {
  if (is.null(values)) {
    return(NULL)
  }
  if (!is.list(values) || length(values) != 2) {
    refuse("`%s` must be a list of two, with `NULL` for a column that has none.", name)
  }
  lapply(values, function(each) if (!is.null(each)) encode(each))
}

as_bins <- function(bins) {
  if (is.null(bins) || rlang::is_string(bins)) {
    return(bins)
  }
  if (!rlang::is_integerish(bins, n = 1, finite = TRUE)) refuse("`bins` must be a whole number or a calendar period.")
  as.integer(bins)
}

as_group <- function(group_by) {
  if (inherits(group_by, "snapledger_periods")) unclass(group_by) else check_column(group_by, "group_by")
}
