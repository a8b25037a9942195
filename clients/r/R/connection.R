#' Connect to a service
#'
#' Nothing is sent until you ask. Keep your key out of scripts and notebooks:
#' put it into the environment variable SNAPLEDGER_KEY, for example in the file
#' `.Renviron`. Then the connection does not hold the key, but reads the variable
#' for each request. Printing a connection never shows the key.
#'
#' A call whose answer is lost, or which finds the service busy (429, 502, 503,
#' 504), is sent again up to `retries` times, with the same idempotency key and
#' after as long as `Retry-After` says. What was already charged is answered from
#' the record.
#'
#' @param url The address of the service, such as `https://stats.example.org`.
#' @param key Your key. By default, that in SNAPLEDGER_KEY.
#' @param timeout How many seconds a call waits for its answer.
#' @param retries How often a call is sent again at most.
#' @param backoff The seconds before the first retry. Each further pause is
#'   twice as long, up to 10 seconds.
#' @param anonymous Whether to send no key, also not that in SNAPLEDGER_KEY.
#'   Figures and collections that are public can be read so, and nothing else.
#' @returns A connection, for [sl_datasets()], [sl_dataset()] and [sl_me()].
#' @export
#' @examples
#' sl_connect("http://127.0.0.1:8000", key = "any")
#' sl_connect("http://127.0.0.1:8000", anonymous = TRUE)
sl_connect <- function(url = Sys.getenv("SNAPLEDGER_URL"), key = NULL, timeout = 60, retries = 6, backoff = 0.2,
                       anonymous = FALSE) {
  url <- check_url(url)
  if (check_flag(anonymous, "anonymous")) {
    if (!is.null(key)) refuse("An anonymous connection has no key: give `key`, or `anonymous = TRUE`.")
    return(new_connection(url, "without a key", NULL, timeout, retries, backoff))
  }
  if (is.null(key)) check_key(Sys.getenv("SNAPLEDGER_KEY")) else check_key(key)
  if (!is_private_url(url)) {
    rlang::warn(
      c(
        "The key is sent without encryption: everybody on the way can read it.",
        i = "Use an address that begins with https://."
      ),
      class = "snapledger_insecure_url"
    )
  }
  told <- if (is.null(key)) "with the key from SNAPLEDGER_KEY" else "with the key from `key`"
  new_connection(url, told, make_key_reader(key), timeout, retries, backoff)
}

# Returns a connection. `told` says how it identifies somebody, `get_key` gets the key, if it has one, and `renew` gets
# a new token, if it can.
new_connection <- function(url, told, get_key, timeout, retries, backoff, renew = NULL, sign_out = NULL) {
  members <- list(
    url = url,
    told = told,
    timeout = check_number(timeout, "timeout", least = 0.001),
    retries = check_number(retries, "retries"),
    backoff = check_number(backoff, "backoff")
  )
  members <- c(members, compact(list(get_key = get_key, renew = renew, sign_out = sign_out)))
  structure(members, class = "snapledger_connection")
}

# Returns a function that returns the key, so that no list of the workspace shows it.
make_key_reader <- function(key) {
  force(key)
  function() if (is.null(key)) check_key(Sys.getenv("SNAPLEDGER_KEY")) else key
}

check_url <- function(url) {
  if (!is.character(url) || length(url) != 1 || is.na(url) || !nzchar(url)) {
    refuse("No URL of a service: give `url`, or set SNAPLEDGER_URL.")
  }
  if (!grepl("^https?://[^/?#@[:space:]]+(/[^?#[:space:]]*)?$", url)) {
    refuse("The service's URL must begin with https:// or http:// and name a host, without a user.")
  }
  sub("/+$", "", url)
}

check_key <- function(key) {
  if (!is.character(key) || length(key) != 1 || is.na(key) || !nzchar(key)) {
    refuse("No key: set SNAPLEDGER_KEY, or give `key`.")
  }
  if (!grepl("^[!-~]+$", key)) refuse("This is not a key: it has characters that keys never have.")
  key
}

check_number <- function(number, name, least = 0) {
  if (!is.numeric(number) || length(number) != 1 || is.na(number) || number < least) {
    refuse("`%s` must be a number of at least %s.", name, format(least))
  }
  number
}

# Whether nobody on the network can read or change what is exchanged: it is HTTPS, or on this machine.
is_private_url <- function(url) {
  is_url <- is.character(url) && length(url) == 1 && grepl("^https?://[^/?#@[:space:]]+([/?#][[:graph:]]*)?$", url)
  is_url && (startsWith(url, "https://") || is_loopback(url))
}

is_loopback <- function(url) {
  host <- sub("^http://(\\[[^]]*\\]|[^/:]+).*$", "\\1", url)
  grepl("^(localhost|.*\\.localhost|127(\\.[0-9]+){3}|\\[::1\\])$", host, ignore.case = TRUE)
}

check_connection <- function(connection) {
  if (!inherits(connection, "snapledger_connection")) refuse("This needs a connection: see `sl_connect()`.")
  connection
}

#' @export
format.snapledger_connection <- function(x, ...) {
  sprintf("<snapledger connection> %s, %s", x$url, x$told)
}

#' @export
print.snapledger_connection <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}
