# Sends calls to the service and reads their answers.

PAGE_SIZE <- 1000L
USER_AGENT <- "snapledger-r"

# Returns a path below /v1. Refuses an empty or dotted part, which would lead to another resource.
make_path <- function(...) {
  parts <- vapply(list(...), as_name, "")
  paste0("/v1/", paste(vapply(parts, utils::URLencode, "", reserved = TRUE), collapse = "/"))
}

as_name <- function(part) {
  if (!is.character(part) || length(part) != 1 || is.na(part) || !nzchar(gsub(".", "", part, fixed = TRUE))) {
    refuse("A name or an id must be one text with letters or digits.")
  }
  enc2utf8(part)
}

get_answer <- function(connection, path) send(connection, "GET", path)

post_answer <- function(connection, path, body, key = NULL) send(connection, "POST", path, body, key)

# Sends a call, again if that is safe and necessary, and returns the parsed answer; NULL if it has none. `table` is a
# file to upload, and `condition` has the headers of `condition_of()`. A call that is not `repeatable` is sent again
# only if it certainly had no effect.
send <- function(connection, method, path, body = NULL, key = NULL, repeatable = length(condition) == 0, table = NULL,
                 condition = NULL) {
  check_connection(connection)
  attempt <- 0
  repeat {
    outcome <- tell_key_if_interrupted(
      attempt_call(connection, method, path, body, key = key, table = table, condition = condition), key
    )
    pause <- find_pause(connection, attempt, outcome, repeatable)
    if (is.null(pause)) break
    tell_key_if_interrupted(Sys.sleep(pause), key)
    attempt <- attempt + 1
  }
  if (inherits(outcome, "error")) fail_unreachable(method, path, outcome, key, repeatable)
  read_answer(outcome, sprintf("%s %s", method, path), key, is_anonymous(connection))
}

is_anonymous <- function(connection) is.null(connection$get_key)

# Sends a call once; but again with a new token if the service refuses a token, which has no effect.
attempt_call <- function(connection, ..., key, table) {
  tryCatch({
    outcome <- attempt_request(make_request(connection, ..., key = key, table = table))
    is_refused <- inherits(outcome, "httr2_response") && httr2::resp_status(outcome) == 401
    if (!is_refused || is.null(connection$renew)) {
      return(outcome)
    }
    connection$renew(is_refused = TRUE)
    attempt_request(make_request(connection, ..., key = key, table = table))
  }, snapledger_sign_in_error = function(error) {
    fail(error$message, intersect(class(error), c("snapledger_unreachable", "snapledger_sign_in_error")), key = key)
  })
}

make_request <- function(connection, method, path, body, key, table = NULL, condition = NULL) {
  request <- httr2::request(paste0(connection$url, path))
  request <- httr2::req_method(request, method)
  request <- httr2::req_headers(request,
    Authorization = if (!is_anonymous(connection)) paste("Bearer", connection$get_key()),
    Accept = "application/json", `Idempotency-Key` = key, !!!condition
  )
  request <- httr2::req_user_agent(request, USER_AGENT)
  request <- httr2::req_options(request, followlocation = FALSE) # a key goes to no other address
  request <- httr2::req_error(request, is_error = function(response) FALSE)
  request <- httr2::req_retry(request, max_tries = 1, backoff = function(attempt) 0) # `send` decides
  if (!is.null(table)) { # however long the upload takes, and the service's checks of the table
    request <- httr2::req_options(request, connecttimeout = connection$timeout)
    return(httr2::req_body_multipart(request, metadata = encode_json(body), file = table))
  }
  request <- httr2::req_timeout(request, connection$timeout)
  if (is.null(body)) request else httr2::req_body_raw(request, encode_json(body), "application/json")
}

# Returns the headers of a change that is made only if the thing is still as it was read, or only if there is none.
condition_of <- function(if_match, only_new = FALSE) {
  etag <- if (is.list(if_match)) if_match[["etag"]] else if_match
  is_etag <- is.character(etag) && length(etag) == 1 && grepl("^[ -~]+$", etag)
  if (!is.null(if_match) && !is_etag) {
    refuse("`if_match` must be an answer that was read from the service and has an `etag`, or that `etag`.")
  }
  compact(list(`If-Match` = etag, `If-None-Match` = if (check_flag(only_new, "only_new")) "*"))
}

encode_json <- function(body) {
  enc2utf8(as.character(jsonlite::toJSON(as_plain(body), auto_unbox = TRUE, null = "null", digits = NA)))
}

# Returns a list without the classes of its parts.
as_plain <- function(value) {
  if (!is.list(value)) {
    return(value)
  }
  lapply(stats::setNames(unclass(value), names(value)), as_plain)
}

# Returns the response, or the error of the network.
attempt_request <- function(request) {
  tryCatch(httr2::req_perform(request), httr2_failed = identity, httr2_failure = identity)
}

tell_key_if_interrupted <- function(code, key) {
  withCallingHandlers(code, interrupt = function(interrupted) {
    if (!is.null(key)) {
      rlang::inform(paste("Interrupted.", describe_key(key)))
    }
  })
}

reason_of <- function(error) conditionMessage(rlang::`%||%`(error$parent, error))

fail_unreachable <- function(method, path, error, key, repeatable = TRUE) {
  reason <- reason_of(error)
  hint <- if (!repeatable && !was_never_sent(error)) c(i = "It may have taken effect: look before you repeat it.")
  timed_out <- grepl("timed out|timeout was reached", reason, ignore.case = TRUE)
  fail(
    c(sprintf("%s %s was not answered.", method, path), x = reason, hint),
    c(if (timed_out) "snapledger_timeout", "snapledger_unreachable"),
    key = key
  )
}

read_answer <- function(response, what, key, anonymous) {
  status <- httr2::resp_status(response)
  document <- parse_json(response)
  if (status >= 300 || status < 200) fail_problem(status, document, key, anonymous)
  if (status == 204) {
    return(NULL)
  }
  if (!is_object(document) || length(document) == 0) fail_unexpected(what, key)
  document$etag <- httr2::resp_header(response, "ETag")
  document
}

fail_unexpected <- function(what, key = NULL) {
  message <- sprintf("%s: the answer is not from Snapledger; check the URL.", what)
  fail(message, "snapledger_unexpected_answer", key = key)
}

# Returns the parsed body, or NULL if it is not JSON.
parse_json <- function(response) {
  text <- tryCatch(httr2::resp_body_string(response, "UTF-8"), error = function(error) "")
  tryCatch(jsonlite::parse_json(text), error = function(error) NULL)
}

# Returns an answer with a class, after a check that it has its members.
as_answer <- function(document, class, members, what = "The answer", key = NULL) {
  if (!all(members %in% names(document))) fail_unexpected(what, key)
  structure(document, class = class)
}

# Returns the items of a list, page by page, up to `n_max`. `query` is its other part, from the `&` on.
list_items <- function(connection, path, member, n_max = Inf, newest = FALSE, query = NULL) {
  order <- if (check_flag(newest, "newest")) "&order=newest"
  items <- list()
  after <- NULL
  while (length(items) < n_max) {
    limit <- as.integer(min(PAGE_SIZE, n_max - length(items)))
    following <- if (!is.null(after)) paste0("&after=", encode_query(after))
    page <- get_answer(connection, paste0(path, "?limit=", limit, order, query, following))
    if (!all(c(member, "next") %in% names(page)) || !is.list(page[[member]])) fail_unexpected(paste("GET", path))
    items <- c(items, page[[member]])
    after <- page[["next"]]
    if (is.null(after)) break
  }
  items
}

encode_query <- function(value) {
  utils::URLencode(if (is.numeric(value)) format(value, scientific = FALSE) else as_name(value), reserved = TRUE)
}
