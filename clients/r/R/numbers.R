# Converts numbers to exact decimal texts for requests, since the service reads
# epsilon, bounds and edges exactly. A double stands for the decimal that R
# prints, with up to 15 digits: 0.1 is "0.1", and 0.1 + 0.2 is "0.3".

decimal_text <- function(number, what = "a number") {
  check_one_number(number, what)
  if (is.character(number)) {
    return(trimws(number))
  }
  if (!is.numeric(number) || is.object(number)) {
    return(as.character(number)) # of a class of its own, such as integer64 or bigq
  }
  write_numbers(number)
}

# Returns a date or a time in ISO 8601, or a number as decimal text. A time has
# its offset from UTC.
value_text <- function(value, what = "a value") {
  if (inherits(value, "Date")) {
    return(format(value, "%Y-%m-%d"))
  }
  if (inherits(value, "POSIXt")) {
    text <- format(as.POSIXct(value), "%Y-%m-%dT%H:%M:%OS6%z")
    return(sub("(\\d{2})(\\d{2})$", "\\1:\\2", text))
  }
  decimal_text(value, what)
}

# Returns numbers as decimal texts; unlike `format`, whatever the options of the session.
write_numbers <- function(numbers) sprintf("%.15g", numbers)

check_one_number <- function(number, what) {
  if (is.logical(number) || length(number) != 1 || is.na(number)) {
    refuse("%s must be one number, or one as text such as \"0.1\".", what)
  }
  if (is.numeric(number) && !is.finite(number)) refuse("%s must be finite.", what)
}

value_texts <- function(values, what) {
  lapply(seq_along(values), function(at) value_text(values[[at]], what))
}

# Returns a copy of a list without its NULL members.
compact <- function(members) members[!vapply(members, is.null, logical(1))]

# Returns each number of a list as text, and leaves out those that are NULL.
decimal_texts <- function(numbers) {
  numbers <- compact(numbers)
  Map(function(number, name) decimal_text(number, sprintf("`%s`", name)), numbers, names(numbers))
}

as_number <- function(text) {
  if (is.null(text)) NA_real_ else as.numeric(text)
}
