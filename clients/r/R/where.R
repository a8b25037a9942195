#' Filter rows
#'
#' Functions with an argument `where` take a condition as R code, like
#' `dplyr::filter()`. `sl_where()` makes such a filter to use it several times.
#'
#' A condition compares a column with a value by `==`, `!=`, `<`, `<=`, `>`, `>=`,
#' `%in%`, `between(column, least, most)` or `is.na(column)`. A column of booleans
#' is a condition itself. `&` joins conditions, of which a row must meet all, and
#' `!` negates one. Values are computed where you write them, so variables can
#' stand for them, whatever columns are called. `.env$variable` and `!!variable`
#' work, too.
#'
#' A missing value meets only `is.na()`, as in `dplyr::filter()`.
#'
#' @param where A condition, a filter of `sl_where()`, or a named list as in the
#'   HTTP interface: `list(species = "Adelie", year = list(between = c(2007, 2008)))`.
#' @returns A filter, for the argument `where` of a statistic.
#' @export
#' @examples
#' sl_where(species %in% c("Adelie", "Gentoo") & body_mass_g >= 4000)
#' heavy <- sl_where(body_mass_g > 4000)
#' sl_count(where = heavy)
sl_where <- function(where) as_filter(rlang::enquo(where))

# Returns the filter of a captured argument `where`, or NULL.
as_filter <- function(quo) {
  expression <- rlang::quo_get_expr(quo)
  environment <- rlang::quo_get_env(quo)
  if (rlang::is_missing(expression)) {
    return(NULL)
  }
  if (!is_condition(expression)) {
    return(check_filter(eval(expression, environment)))
  }
  variable <- if (is.symbol(expression)) get0(as.character(expression), environment)
  if (is_filter(variable)) check_filter(variable) else new_filter(translate_condition(expression, environment))
}

# Whether it is a filter, or a named list of conditions; a data frame is neither.
is_filter <- function(given) {
  inherits(given, "snapledger_filter") || (is.list(given) && !is.object(given) && !is.null(names(given)))
}

check_filter <- function(given) {
  if (is.null(given) || inherits(given, "snapledger_filter")) {
    return(given)
  }
  if (!is_filter(given)) refuse("`where` must be a condition such as `species == \"Adelie\"`.")
  new_filter(lapply(given, as_condition))
}

new_filter <- function(conditions) structure(conditions, class = "snapledger_filter")

#' @export
format.snapledger_filter <- function(x, ...) {
  sprintf("<snapledger filter> %s", paste(describe_conditions(x), collapse = " and "))
}

#' @export
print.snapledger_filter <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

FLIPPED <- c("==" = "==", "!=" = "!=", "<" = ">", "<=" = ">=", ">" = "<", ">=" = "<=")
ENDS <- c("<" = "below", "<=" = "at_most", ">" = "above", ">=" = "at_least")
CONDITIONS <- c("(", "&", "&&", "|", "||", "!", "%in%", "between", "is.na", names(FLIPPED))

is_condition <- function(expression) {
  is.symbol(expression) ||
    (is.call(expression) && !is.null(name_of_call(expression)) && name_of_call(expression) %in% CONDITIONS)
}

# Returns the name of a called function, also of `dplyr::between`, or NULL.
name_of_call <- function(expression) {
  called <- expression[[1]]
  if (is.call(called) && identical(called[[1]], quote(`::`))) called <- called[[3]]
  if (is.symbol(called)) as.character(called)
}

# Returns a named list with the condition of each column.
translate_condition <- function(expression, environment) {
  if (rlang::is_quosure(expression)) {
    return(translate_condition(rlang::quo_get_expr(expression), rlang::quo_get_env(expression)))
  }
  column <- as_column(expression)
  if (!is.null(column)) {
    return(rlang::set_names(list(TRUE), column))
  }
  name <- if (is.call(expression)) name_of_call(expression)
  if (is.null(name) || !name %in% CONDITIONS) refuse_condition(expression)
  parts <- as.list(expression)[-1]
  switch(name,
    "(" = translate_condition(parts[[1]], environment),
    "&" = ,
    "&&" = join_conditions(
      translate_condition(parts[[1]], environment), translate_condition(parts[[2]], environment)
    ),
    "|" = ,
    "||" = refuse("`where` has no `|`: use `%in%` for several values of a column, and `&` to join conditions."),
    "!" = negate_condition(parts[[1]], environment),
    "is.na" = rlang::set_names(list(list(is_missing = TRUE)), need_column(parts[[1]], expression)),
    "between" = translate_between(parts, expression, environment),
    translate_comparison(name, parts, expression, environment)
  )
}

translate_comparison <- function(name, parts, expression, environment) {
  if (is.null(as_column(parts[[1]])) && name != "%in%") {
    parts <- rev(parts)
    name <- FLIPPED[[name]]
  }
  column <- need_column(parts[[1]], expression)
  values <- filter_values(eval_value(parts[[2]], environment))
  if (name != "%in%" && length(values) != 1) {
    refuse("`%s` compares with %d values: use `%%in%%` for several.", deparse1(expression), length(values))
  }
  condition <- switch(name,
    "%in%" = list(`in` = values),
    "==" = values[[1]],
    "!=" = list(not = values[[1]]),
    rlang::set_names(values, ENDS[[name]])
  )
  rlang::set_names(list(condition), column)
}

translate_between <- function(parts, expression, environment) {
  if (length(parts) != 3) refuse_condition(expression)
  ends <- lapply(parts[-1], function(end) filter_values(eval_value(end, environment)))
  condition <- list(between = unname(unlist(ends, recursive = FALSE)))
  rlang::set_names(list(condition), need_column(parts[[1]], expression))
}

negate_condition <- function(expression, environment) {
  column <- as_column(expression)
  if (!is.null(column)) {
    return(rlang::set_names(list(FALSE), column))
  }
  conditions <- translate_condition(expression, environment)
  if (length(conditions) != 1) {
    refuse("`!` negates the condition of one column, not `%s`.", deparse1(expression))
  }
  condition <- conditions[[1]]
  if (is_member(condition, "is_missing")) {
    return(rlang::set_names(list(list(is_missing = !condition$is_missing)), names(conditions)))
  }
  negated <- if (is_member(condition, "not")) condition$not else list(not = condition)
  rlang::set_names(list(negated), names(conditions))
}

is_member <- function(condition, name) is.list(condition) && name %in% names(condition)

# Joins the conditions of several columns; two ends of one column become one range.
join_conditions <- function(first, second) {
  for (column in names(second)) {
    if (column %in% names(first)) {
      ends <- c(names(first[[column]]), names(second[[column]]))
      if (length(ends) != 2 || anyDuplicated(ends) || !all(ends %in% ENDS)) {
        refuse("`where` takes one condition of `%s`, or a range with two ends.", column)
      }
    }
    first[[column]] <- c(if (column %in% names(first)) first[[column]], second[[column]])
  }
  first
}

# Returns the column that a symbol, `.data$column` or `.data[["column"]]` names, or NULL.
as_column <- function(expression) {
  if (is.symbol(expression)) {
    return(as.character(expression))
  }
  is_pronoun <- is.call(expression) && length(expression) == 3 &&
    as.character(expression[[1]])[1] %in% c("$", "[[") && identical(expression[[2]], quote(.data))
  if (is_pronoun && (is.symbol(expression[[3]]) || is.character(expression[[3]]))) as.character(expression[[3]])
}

need_column <- function(expression, whole) {
  column <- as_column(expression)
  if (is.null(column)) refuse_condition(whole)
  column
}

refuse_condition <- function(expression) {
  refuse(
    "`where` takes conditions that compare a column with a value, such as `species == \"Adelie\"`, not `%s`.",
    deparse1(expression)
  )
}

# Returns a value of a condition, which may be a quosure or use the pronoun `.env`.
eval_value <- function(expression, environment) rlang::eval_tidy(expression, list(), environment)

# Returns values of a filter as a list for JSON. Numbers stay numbers.
filter_values <- function(values) {
  if (inherits(values, "POSIXlt")) values <- as.POSIXct(values)
  if (is.null(values) || !is.atomic(values) || anyNA(values)) {
    refuse("Values of `where` are text, numbers, dates, TRUE or FALSE. For missing values use `is.na()`.")
  }
  if (is.factor(values)) values <- as.character(values)
  if (inherits(values, c("Date", "POSIXct"))) {
    return(value_texts(values, "a value"))
  }
  if (is.numeric(values) && any(!is.finite(values))) refuse("A number of `where` must be finite.")
  as.list(unname(values))
}

# Returns a condition of a named list for JSON: `c("a", "b")`, or `list(between = c(1, 2))`.
as_condition <- function(condition) {
  if (!is.list(condition)) {
    values <- filter_values(condition)
    return(if (length(values) == 1) values[[1]] else list(`in` = values))
  }
  if (is.null(names(condition))) {
    return(list(`in` = unlist(lapply(condition, filter_values), recursive = FALSE)))
  }
  members <- lapply(names(condition), function(name) {
    if (name == "not") {
      return(as_condition(condition[[name]]))
    }
    values <- filter_values(condition[[name]])
    if (name %in% c("in", "between")) values else values[[1]]
  })
  rlang::set_names(members, names(condition))
}
