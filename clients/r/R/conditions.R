#' Errors of the client
#'
#' Each error has a class, so that [tryCatch()] can tell them apart. All have
#' the class `snapledger_error`, and `idempotency_key`, the key of a failed
#' release: ask again with it, and you are never charged twice.
#'
#' * `snapledger_problem`: the service refused the call, with the members of its
#'   problem document (RFC 9457) in the condition: `type`, `title`, `status`,
#'   `detail` and those of its type. Such an error also has a class for the type
#'   of problem:
#'     * `snapledger_budget_exhausted`, with `scope` (`dataset` or `allowance`),
#'       `requested`, `remaining` and `limit`; nothing was charged
#'     * `snapledger_invalid_request`, with `errors`, a list of `where` and `what`
#'     * `snapledger_accuracy_unattainable` and `snapledger_epsilon_too_large`,
#'       which cost more than one release may
#'     * `snapledger_accuracy_trivial`: the range guarantees the accuracy already
#'     * `snapledger_unauthenticated`, `snapledger_forbidden`,
#'       `snapledger_not_found`
#'     * `snapledger_precondition_failed` and `snapledger_already_exists`: the thing is not
#'       as `if_match` or `only_new` says
#'     * `snapledger_not_released`: a derived statistic to publish needs new releases
#'     * `snapledger_key_reused`: the idempotency key belongs to another request
#'     * `snapledger_closed` and `snapledger_stale` datasets,
#'       `snapledger_storage_exhausted`, `snapledger_request_open`
#'     * `snapledger_rate_limited`, `snapledger_overloaded`,
#'       `snapledger_unavailable`: also after all retries
#' * `snapledger_unreachable`: no attempt had an answer. `snapledger_timeout` is
#'   one of them. A release may have been charged: ask again with the same key.
#' * `snapledger_sign_in_error`: nobody signed in with [sl_sign_in()], or the session
#'   has ended.
#' * `snapledger_unexpected_answer`: the answer is not one of this service.
#' * `snapledger_invalid_argument`: an argument is not valid, so nothing was sent.
#'
#' Numbers of \eqn{\epsilon}{epsilon} in a condition are exact decimals, as text.
#'
#' @name snapledger_error
#' @examples
#' away <- sl_connect("http://127.0.0.1:9", key = "any", retries = 0)
#' tryCatch(
#'   sl_release(sl_dataset(away, "penguins"), sl_mean("body_mass_g"),
#'     epsilon = "0.5", key = "my first question"
#'   ),
#'   snapledger_unreachable = function(lost) lost$idempotency_key
#' )
NULL

# Signals that an argument is not valid; the rest are as in `sprintf`.
refuse <- function(text, ..., call = NULL) {
  message <- if (...length() == 0) text else sprintf(text, ...)
  rlang::abort(message, class = c("snapledger_invalid_argument", "snapledger_error"), call = call)
}

fail <- function(message, class, ..., key = NULL, may_be_charged = TRUE) {
  hint <- if (!is.null(key) && may_be_charged) c(i = describe_key(key))
  rlang::abort(
    c(message, hint),
    class = c(class, "snapledger_error"), ..., idempotency_key = key, call = NULL
  )
}

describe_key <- function(key) sprintf("Ask again with `key = \"%s\"`: you are never charged twice.", key)

LOST_STATUSES <- c(502L, 503L, 504L)
# Members that a condition has itself.
RESERVED_MEMBERS <- c(
  "message", "class", "call", "body", "footer", "trace", "parent", "use_cli_format", "internal", "idempotency_key",
  ".internal", ".file", ".frame", ".trace_bottom", ".subclass", "rlang"
)

# Signals the problem document of a refused call.
fail_problem <- function(status, members, key, anonymous) {
  members <- if (is_object(members)) members else list()
  members$status <- status
  members$type <- as_one_text(members$type, "about:blank")
  members$title <- as_one_text(members$title, sprintf("HTTP status %d", status))
  members$detail <- as_one_text(members$detail, "")
  slug <- sub("^.*/", "", members$type)
  class <- if (grepl("^[a-z][a-z-]*$", slug)) paste0("snapledger_", gsub("-", "_", slug))
  members <- members[!names(members) %in% RESERVED_MEMBERS]
  rlang::inject(fail(describe_problem(members, anonymous), c(class, "snapledger_problem"), !!!members,
    key = key, may_be_charged = status >= 500
  ))
}

describe_problem <- function(members, anonymous) {
  if (identical(members$type, "/problems/unauthenticated")) {
    if (anonymous) {
      return(c("Not found, or not public.", i = "Give a key with `sl_connect(key = )` or SNAPLEDGER_KEY."))
    }
    is_of_token <- nzchar(members$detail) && !grepl("Authorization", members$detail) # users do not see headers
    reason <- if (is_of_token) members$detail else "The service does not know this key: is it mistyped or expired?"
    advice <- "Give another one with `sl_connect(key = )` or SNAPLEDGER_KEY."
    return(c(paste0(members$title, "."), x = reason, i = advice))
  }
  errors <- Filter(is_object, if (is.list(members$errors)) members$errors)
  what <- vapply(errors, function(error) paste(as_one_text(error$where, ""), as_one_text(error$what, "")), "")
  if (length(what) > 0) {
    return(c(paste0(members$title, ":"), rlang::set_names(what, "x")))
  }
  c(paste0(members$title, "."), if (nzchar(members$detail)) c(x = members$detail))
}

as_one_text <- function(value, default) {
  if (is.character(value) && length(value) == 1 && !is.na(value)) value else default
}

# Whether parsed JSON is an object.
is_object <- function(value) is.list(value) && (length(value) == 0 || !is.null(names(value)))
