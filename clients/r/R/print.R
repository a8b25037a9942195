# Prints answers. `format()` returns the lines that `print()` shows.

MAX_PRINTED <- 20

#' @export
print.snapledger_answer <- function(x, ...) {
  cat(wrap_sentences(format(x, ...)), sep = "\n")
  invisible(x)
}

# Returns the lines, those that are sentences and no rows of a table wrapped as R wraps its messages.
wrap_sentences <- function(lines) {
  width <- getOption("width")
  is_long <- nchar(lines, "width") > width & !startsWith(lines, "  ")
  unlist(Map(function(line, wraps) if (wraps) strwrap(line, width + 1, exdent = 2) else line, lines, is_long))
}

#' @export
format.snapledger_estimate <- function(x, ...) {
  level <- format_level(x$accuracy$alpha)
  if (!is.null(x$value_as_date)) {
    ends <- unlist(x$accuracy$interval_as_date)
    value <- sprintf("%s (%s to %s, %s)", x$value_as_date, ends[1], ends[2], level)
  } else {
    texts <- format_measured(x$value_in_range, x$accuracy$radius, is_count(x$statistic))
    shown <- as_years(texts[["value"]], is_year(x$statistic, x$columns))
    value <- sprintf("%s \u00b1 %s (%s)", shown, append_unit(texts[["error"]], unit_of(x)), level)
  }
  c(sprintf("%s: %s", name_answer(x, x$statistic), value), format_payment(x), format_treatment(x))
}

#' @export
format.snapledger_histogram <- function(x, ...) {
  error <- append_unit(format_error(x$accuracy$radius, is_count(x$statistic)), unit_of(x))
  head <- sprintf("%s: %d numbers, each \u00b1 %s (%s)",
    name_answer(x, x$statistic), length(x$value), error, format_level(x$accuracy$alpha)
  )
  c(head, format_rows(title_numbers(x, x$statistic), is_count(x$statistic)), format_payment(x), format_treatment(x))
}

#' @export
format.snapledger_derived <- function(x, ...) {
  numbers <- title_numbers(x, x$derived)
  level <- format_level(x$alpha)
  if (nrow(numbers) == 1) {
    row <- format_numbers(numbers, is_count(x$derived), is_year(x$derived, x$columns))
    head <- sprintf("%s: %s (%s, %s)", name_answer(x, x$derived), row$value, row$interval, level)
    return(c(head, format_payment(x), format_treatment(x)))
  }
  head <- sprintf("%s: %d numbers (%s together)", name_answer(x, x$derived), nrow(numbers), level)
  rows <- format_rows(numbers, is_count(x$derived), is_year(x$derived, x$columns))
  c(head, rows, format_payment(x), format_treatment(x))
}

#' @export
format.snapledger_batch <- function(x, ...) {
  lines <- vapply(seq_along(x$items), function(at) {
    name <- names(x$items)[at]
    paste0(if (!is.null(name) && nzchar(name)) paste0(name, ": "), format(x$items[[at]])[1])
  }, "")
  c(shorten(lines), x$summary, format_payment(x))
}

#' @export
format.snapledger_plan <- function(x, ...) {
  promise <- sprintf("%s: %s for \u03b5 = %s",
    describe_statistic(x$statistic), format_promise(x$accuracy, x), format_cost(x$privacy$epsilon)
  )
  c(paste0(promise, format_prospect(x)), format_treatment(x))
}

# Returns how close the number of a planned release is to the truth, or each of several.
format_promise <- function(accuracy, plan) {
  error <- append_unit(format_error(accuracy$radius, is_count(plan$statistic)), unit_of(plan))
  each <- if (has_several(plan$statistic)) "each " else ""
  sprintf("%swithin \u00b1 %s (%s)", each, error, format_level(accuracy$alpha))
}

format_prospect <- function(plan) {
  if (!is.null(plan$reused_accuracy)) {
    return(sprintf("; an earlier release answers it at no cost, %s", format_promise(plan$reused_accuracy, plan)))
  }
  if (is.null(plan$budget)) {
    return("")
  }
  if (!isTRUE(plan$budget$affordable)) {
    return("; more than you have left")
  }
  repeatable <- plan$budget$repeatable
  if (is.null(repeatable)) {
    return("; your budget covers it")
  }
  sprintf("; your budget covers %s of these", format_number(repeatable))
}

#' @export
format.snapledger_derived_plan <- function(x, ...) {
  components <- vapply(x$components, function(each) {
    cost <- if (isTRUE(each$reused)) "known" else paste("\u03b5 =", format_cost(each$charged))
    sprintf("%s (%s)", each$role, cost)
  }, "")
  verdict <- if (isTRUE(x$budget$affordable)) "your budget covers it" else "more than you have left"
  head <- sprintf("%s: from %s; \u03b5 = %s, %s",
    describe_statistic(x$derived), paste(components, collapse = ", "), format_cost(x$budget$charged), verdict
  )
  c(head, if (nzchar(as_one_text(x$summary, ""))) x$summary else format_treatment(x))
}

#' @export
format.snapledger_batch_plan <- function(x, ...) {
  planned <- tibble::as_tibble(x)
  charged <- vapply(x$items, function(each) format_cost(each$charged), "")
  cost <- ifelse(planned$reused, "known", paste("\u03b5 =", charged))
  promise <- vapply(x$items, function(each) {
    format_promise(rlang::`%||%`(each$reused_accuracy, each$accuracy), each)
  }, "")
  c(shorten(sprintf("%s: %s; %s", planned$statistic, promise, cost)), x$summary)
}

#' @export
format.snapledger_budget <- function(x, ...) {
  spent <- sprintf("\u03b5 = %s of %s spent", format_cost(x$epsilon_spent), format_left(x$epsilon_limit))
  others <- format_allowances(x$allowances)
  if (is.null(x$allowance)) {
    return(c(spent, others))
  }
  own <- x$allowance$epsilon_remaining
  left <- if (as.numeric(own) < as.numeric(x$epsilon_remaining)) own else x$epsilon_remaining
  renewed <- if (!is.null(x$allowance$window)) sprintf(", until %s", x$allowance$window$ends_at)
  own <- sprintf(
    "; you can still spend %s of your %s%s", format_left(left), format_left(x$allowance$epsilon_limit),
    rlang::`%||%`(renewed, "")
  )
  c(paste0(spent, own), others)
}

# Returns a line for each allowance that the dataset's owner sees.
format_allowances <- function(allowances) {
  lines <- vapply(allowances, function(each) {
    sprintf("  %s: %s of %s spent%s", as_one_text(each$principal, "?"), format_cost(each$epsilon_spent),
      format_left(each$epsilon_limit), if (isTRUE(each$revoked)) ", revoked" else "")
  }, "")
  if (length(lines) > 0) shorten(lines)
}

#' @export
format.snapledger_facts <- function(x, ...) {
  c(
    sprintf("<snapledger dataset> %s: %s rows, %s", x$name, format_number(x$n), as_one_text(x$state, "")),
    if (nzchar(as_one_text(x$description, ""))) x$description,
    sprintf("Protects each unit, such as a person: a unit has at most %s.", count_rows(x$rows_per_unit)),
    unlist(x$report$advice)
  )
}

count_rows <- function(n) if (isTRUE(n == 1)) "1 row" else paste(format_number(as.numeric(n)), "rows")

#' @export
print.snapledger_facts <- function(x, ...) {
  cat(format(x), sep = "\n")
  columns <- tibble::as_tibble(x)
  is_declared <- vapply(columns, function(column) is.list(column) || !all(is.na(column)), NA)
  print(columns[is_declared], ...)
  invisible(x)
}

#' @export
format.snapledger_releases <- function(x, ...) shorten(vapply(unclass(x), function(each) format(each)[1], ""))

#' @export
print.snapledger_releases <- function(x, ...) {
  cat(sprintf("<snapledger releases> %d", length(x)), wrap_sentences(format(x)), sep = "\n")
  invisible(x)
}

# Returns a statistic in words, after the mark of a rehearsal.
name_answer <- function(answer, statistic) {
  paste0(if (is_rehearsal(answer)) "Rehearsal with made-up data: ", describe_statistic(statistic))
}

is_rehearsal <- function(answer) isTRUE(answer$rehearsed)

# Returns what was paid, and what is left then.
format_payment <- function(answer) {
  budget <- answer$budget
  is_free <- as.numeric(budget$charged) == 0
  paid <- if (is_rehearsal(answer)) {
    "at no cost"
  } else if (is_free) {
    "from earlier releases, at no cost"
  } else {
    sprintf("\u03b5 = %s paid", format_cost(budget$charged))
  }
  own <- budget$allowance_remaining
  left <- sprintf("%s of the dataset's budget", format_left(budget$dataset_remaining))
  if (!is.null(own)) left <- sprintf("%s of your allowance and %s are left", format_left(own), left)
  if (is.null(own)) left <- paste(left, "is left")
  sprintf("%s; %s", paid, left)
}

# Returns what missing values and values outside the bounds count as.
format_treatment <- function(answer) {
  rules <- texts_of(rlang::`%||%`(answer$treatment, list()), "rule")
  if (length(rules) > 0) paste(unname(rules), collapse = "; ")
}

# Returns the values of a tibble of numbers and their intervals as texts.
format_numbers <- function(numbers, is_count, is_year = FALSE) {
  if (!is.numeric(numbers$value)) {
    value <- ifelse(is.na(numbers$value), "no value", format(numbers$value))
    return(list(value = value, interval = paste(format(numbers$conf_low), "to", format(numbers$conf_high))))
  }
  is_whole <- rep_len(is_count, nrow(numbers))
  value <- mapply(format_value, numbers$value, numbers$conf_low, numbers$conf_high, is_whole)
  interval <- mapply(format_interval, numbers$conf_low, numbers$conf_high, is_whole)
  unit <- ifelse(is.na(numbers$value), "", numbers$unit)
  list(value = mapply(append_unit, as_years(value, is_year), unit), interval = as_years(interval, is_year))
}

# Returns an aligned line for each number.
format_rows <- function(numbers, is_count, is_year = FALSE) {
  shown <- utils::head(numbers, MAX_PRINTED)
  texts <- format_numbers(shown, is_count, is_year)
  labels <- format(shorten_numbers(shown$label))
  lines <- sprintf("  %s  %s  %s", labels, format(texts$value, justify = "right"), texts$interval)
  c(lines, if (nrow(numbers) > MAX_PRINTED) sprintf("  and %d more: see as_tibble()", nrow(numbers) - MAX_PRINTED))
}

shorten <- function(lines) {
  more <- length(lines) - MAX_PRINTED
  c(utils::head(lines, MAX_PRINTED), if (more > 0) sprintf("and %d more", more))
}
