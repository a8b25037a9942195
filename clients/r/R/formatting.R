# Formats numbers for people: two significant digits of the error, or whole
# numbers, and the value to the same place. What is promised is rounded outwards,
# so that it stays true.

DIGITS <- 2
MAX_PLACES <- 12
MAX_WHOLE <- 1e15

# Returns how many decimals are shown beside an error, or NA if rounding makes no sense.
decimals_beside <- function(error) {
  if (is.na(error) || error <= 0 || !is.finite(error) || error >= MAX_WHOLE) {
    return(NA)
  }
  decimals <- max(0, DIGITS - 1 - floor(log10(error)))
  if (decimals > MAX_PLACES) NA else decimals
}

# Rounds to decimals; the quotient loses the last digits of a double, so that 0.3 is 30 hundredths and not 31.
round_to <- function(value, decimals, round_off = round) round_off(signif(value * 10^decimals, 14)) / 10^decimals

write_decimals <- function(value, decimals) {
  text <- formatC(value, digits = decimals, format = "f", big.mark = ",", decimal.mark = ".")
  sub("^-(0[.0]*)$", "\\1", text)
}

# Returns a number with six significant digits, or all whole ones.
format_number <- function(number) {
  if (is.na(number)) {
    return("unknown")
  }
  if (!is.finite(number)) {
    return(as.character(number))
  }
  is_whole <- abs(number) >= 1e6 && abs(number) < MAX_WHOLE
  shown <- if (is_whole) round(number) else signif(number, 6)
  format(shown, big.mark = ",", decimal.mark = ".", digits = 15, trim = TRUE)
}

# Returns a value and its error as texts. The error covers how far the value was rounded.
format_measured <- function(value, error, is_whole = FALSE) {
  decimals <- if (is_whole) 0 else decimals_beside(error)
  if (is.na(decimals)) {
    return(c(value = format_number(value), error = format_number(error)))
  }
  shown <- round_to(value, decimals)
  reach <- round_to(error + abs(value - shown), decimals, ceiling)
  c(value = write_decimals(shown, decimals), error = write_decimals(reach, decimals))
}

format_error <- function(error, is_whole = FALSE) format_measured(0, error, is_whole)[["error"]]

# Returns the ends of an interval as texts, rounded outwards to two digits of half its width; NA is unknown.
format_ends <- function(lower, upper, is_whole = FALSE) {
  known <- c(lower, upper)[!is.na(c(lower, upper))]
  width <- if (length(known) == 2) (upper - lower) / 2 else abs(known[1]) / 100
  decimals <- if (is_whole) 0 else decimals_beside(width)
  if (length(known) == 0 || is.na(decimals)) {
    return(c(if (is.na(lower)) NA else format_number(lower), if (is.na(upper)) NA else format_number(upper)))
  }
  c(
    if (is.na(lower)) NA else write_decimals(round_to(lower, decimals, floor), decimals),
    if (is.na(upper)) NA else write_decimals(round_to(upper, decimals, ceiling), decimals)
  )
}

format_interval <- function(lower, upper, is_whole = FALSE) {
  ends <- format_ends(lower, upper, is_whole)
  if (all(is.na(ends))) {
    return("anything")
  }
  if (is.na(ends[2])) {
    return(paste("at least", ends[1]))
  }
  if (is.na(ends[1])) paste("at most", ends[2]) else paste(ends[1], "to", ends[2])
}

# Returns a value to the place of its interval.
format_value <- function(value, lower, upper, is_whole = FALSE) {
  if (is.na(value)) {
    return("no value")
  }
  decimals <- if (is_whole) 0 else if (anyNA(c(lower, upper))) NA else decimals_beside((upper - lower) / 2)
  if (is.na(decimals)) format_number(value) else write_decimals(round_to(value, decimals), decimals)
}

# Returns an exact epsilon with three significant digits: rounded up if it is spent, and down if it is left. What is
# left has two decimals at least, so that it shows what was paid of a large budget.
format_epsilon <- function(text, round_off, least_decimals) {
  number <- as.numeric(text)
  if (number == 0) {
    return("0")
  }
  decimals <- min(9, max(least_decimals, 2 - floor(log10(number))))
  written <- write_decimals(round_to(number, decimals, round_off), decimals)
  if (decimals == 0) written else sub("\\.?0+$", "", written)
}

format_cost <- function(text) format_epsilon(text, ceiling, 0)

format_left <- function(text) format_epsilon(text, floor, 2)

# Returns the confidence level of an alpha, rounded down, with two decimals, or with eight above 99.99 %.
format_level <- function(alpha) {
  alpha <- as.numeric(alpha)
  units <- if (alpha < 1e-4) 1e8 else 100
  level <- min(floor(100 * units * (1 - alpha) + 1e-4), 100 * units - 1) / units
  paste(format(level, digits = 10, decimal.mark = "."), "%")
}

# Returns labels with six significant digits of numbers that have more than three decimals.
shorten_numbers <- function(labels) {
  found <- gregexpr("-?\\d+\\.\\d{4,}", labels)
  regmatches(labels, found) <- lapply(regmatches(labels, found), function(numbers) {
    vapply(numbers, function(number) decimal_text(signif(as.numeric(number), 6)), "")
  })
  labels
}

append_unit <- function(text, unit) if (nzchar(unit)) paste(text, unit) else text
