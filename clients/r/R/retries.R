# Decides when a call is sent again, and after how long.
#
# A call that can be repeated has the same effect however often the service receives
# it: a release has an idempotency key, and reading changes nothing. It is sent again
# if its answer was lost (in the network, or with a proxy's 502 or 504), was a 503 or
# a 429. Any other call is sent again only if it certainly had no effect: it was
# never sent, or the answer was a 429. Any other answer is final.

MAX_BACKOFF <- 10 # seconds
MAX_RETRY_AFTER <- 120 # seconds; for a longer wait the call fails, and the caller decides

# Returns the seconds to wait after attempt number `attempt` (from 0), or NULL if the outcome is final.
find_pause <- function(connection, attempt, outcome, repeatable = TRUE, now = Sys.time()) {
  is_answer <- inherits(outcome, "httr2_response")
  had_no_effect <- if (is_answer) httr2::resp_status(outcome) == 429 else was_never_sent(outcome)
  is_lost <- !is_answer || httr2::resp_status(outcome) %in% LOST_STATUSES
  if (attempt >= connection$retries || !(had_no_effect || (repeatable && is_lost))) {
    return(NULL)
  }
  retry_after <- if (is_answer) read_retry_after(httr2::resp_header(outcome, "Retry-After"), now) else 0
  if (retry_after > MAX_RETRY_AFTER) {
    return(NULL)
  }
  # Not R's own random numbers, whose seed belongs to the user's analysis.
  jitter <- 0.5 + openssl::rand_num(1) / 2
  max(retry_after, min(connection$backoff * 2^attempt, MAX_BACKOFF) * jitter)
}

# Whether curl had no connection to send a call through.
was_never_sent <- function(error) {
  grepl("(could ?n[o']t|failed to) (connect|resolve)", reason_of(error), ignore.case = TRUE)
}

# Returns the seconds that `Retry-After` asks for, as a number or a date (RFC 9110); 0 for anything else.
read_retry_after <- function(text, now) {
  if (is.null(text)) {
    return(0)
  }
  if (grepl("^[0-9]+$", text)) {
    return(as.numeric(text))
  }
  date <- "^[A-Z][a-z]{2}, (\\d{2}) ([A-Z][a-z]{2}) (\\d{4}) (\\d{2}):(\\d{2}):(\\d{2}) GMT$"
  parts <- regmatches(text, regexec(date, text))[[1]]
  month <- match(parts[3], month.abb) # not strptime's, which depends on the language
  if (length(parts) == 0 || is.na(month)) {
    return(0)
  }
  numbers <- as.numeric(parts[-c(1, 3)])
  until <- ISOdatetime(numbers[2], month, numbers[1], numbers[3], numbers[4], numbers[5], tz = "UTC")
  if (is.na(until)) 0 else max(0, as.numeric(difftime(until, now, units = "secs")))
}

# Returns a new idempotency key: 128 random bits, which do not depend on `set.seed()`.
new_key <- function() paste(openssl::rand_bytes(16), collapse = "")
