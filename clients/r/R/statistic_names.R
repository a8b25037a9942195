# Describes statistics in words, as the Python client does.

MAX_LISTED <- 4

# Returns a statistic in words: `mean of body_mass_g`, `count by species where year between 2007 and 2008`.
describe_statistic <- function(statistic) {
  columns <- unlist(rlang::`%||%`(statistic$columns, statistic$column))
  names <- paste(columns, collapse = " and ")
  if (identical(statistic$kind, "regression")) names <- paste(rev(columns), collapse = " on ")
  is_median <- identical(statistic$kind, "quantile") && identical(as.numeric(unlist(statistic$probabilities)), 0.5)
  if (identical(statistic$kind, "margin")) names <- sprintf("%s in the table of %s", statistic$column, names)
  words <- c(
    if (is_median) "median" else gsub("_", " ", statistic$kind, fixed = TRUE),
    if (nzchar(names)) paste("of", names),
    if (!is.null(statistic$category)) paste("=", statistic$category),
    if (!is.null(statistic$weight)) paste("weighted by", statistic$weight),
    if (!is.null(statistic$group_by)) paste("by", describe_groups(statistic$group_by)),
    if (length(statistic$where) > 0) paste("where", paste(describe_conditions(statistic$where), collapse = " and "))
  )
  words <- paste(words, collapse = " ")
  if (is.null(statistic$missing)) words else paste0(words, ", known values")
}

describe_groups <- function(group_by) {
  if (is.list(group_by)) paste(sub("^iso_", "", group_by$bins), "of", group_by$column) else group_by
}

describe_conditions <- function(where) paste(names(where), vapply(unclass(where), describe_condition, ""))

describe_condition <- function(condition) {
  if (!is.list(condition) || is.null(names(condition))) condition <- list(`in` = as.list(condition))
  if (!is.null(condition$not)) {
    return(paste("not", describe_condition(condition$not)))
  }
  if (!is.null(condition$is_missing)) {
    return(if (condition$is_missing) "is missing" else "is not missing")
  }
  if (!is.null(condition$between)) {
    return(sprintf("between %s and %s", condition_text(condition$between[[1]]), condition_text(condition$between[[2]])))
  }
  ends <- compact(condition[intersect(ENDS[c(">=", ">", "<=", "<")], names(condition))])
  if (length(ends) > 0) {
    return(paste(gsub("_", " ", names(ends)), vapply(ends, condition_text, ""), collapse = " and "))
  }
  values <- vapply(condition$`in`, condition_text, "")
  more <- length(values) - MAX_LISTED
  paste0("in ", paste(utils::head(values, MAX_LISTED), collapse = ", "), if (more > 0) sprintf(" and %d more", more))
}

condition_text <- function(value) {
  if (is.logical(value)) {
    return(tolower(as.character(value)))
  }
  as_text(value)
}

#' @export
format.snapledger_statistic <- function(x, ...) sprintf("<snapledger statistic> %s", describe_statistic(x))

#' @export
print.snapledger_statistic <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# Whether the numbers of a statistic are counts, which are whole.
COUNTS <- c("count", "missing", "histogram", "margin", "cumulative", "adaptive_histogram", "quantile_search")

is_count <- function(statistic) statistic$kind %in% COUNTS

YEAR_NAMES <- "(?:(?<![A-Za-z])y|Y)ears?(?![a-z])|(?<![A-Za-z])YEARS?(?![A-Za-z])"

# Whether the numbers of a statistic are calendar years, which have no thousands separators, by the rule of the
# service's sentences: the bounds or edges of the column are within 1000 to 2999, and its unit is "year", or it has
# none and its name says year.
is_year <- function(statistic, columns) {
  column <- statistic$column
  ends <- unlist(rlang::`%||%`(statistic$edges, statistic$bounds))
  if (!statistic$kind %in% c("mean", "quantile") || is.null(column) || is.null(ends)) {
    return(FALSE)
  }
  unit <- as_one_text(columns[[column]]$unit, "")
  says_year <- if (nzchar(unit)) unit == "year" else grepl(YEAR_NAMES, column, perl = TRUE)
  numbers <- suppressWarnings(as.numeric(ends)) # NA for dates
  says_year && !anyNA(numbers) && all(numbers >= 1000 & numbers <= 2999)
}

# Returns texts of numbers, without separators if they are years.
as_years <- function(texts, is_year) if (is_year) gsub(",", "", texts, fixed = TRUE) else texts

# Whether a released statistic has a number for each bin or group, each with a radius of its own.
has_several <- function(statistic) {
  statistic$kind %in% c("histogram", "adaptive_histogram", "quantile_search") || !is.null(statistic$group_by)
}
