#' Sign in with your organisation's account
#'
#' If the service has your organisation's sign-on, you need no key. `sl_sign_in()`
#' shows an address and a code: open the address on any device, enter the code, and
#' sign in there (RFC 8628). It waits until you have done so, and returns a
#' connection, which renews its token in the middle of a session.
#'
#' Tokens are in memory, and gone with the session; a connection that you save with
#' [saveRDS()] has them. Sign in only to services that you know.
#'
#' @inheritParams sl_connect
#' @param connection A connection of `sl_sign_in()`.
#' @returns `sl_sign_in()`: a connection, as of [sl_connect()]. `sl_sign_out()`, which
#'   forgets the tokens and revokes them at the provider: nothing.
#' @export
#' @examples
#' tryCatch(
#'   sl_sign_in("http://127.0.0.1:9"),
#'   snapledger_error = function(error) "no service is running there"
#' )
sl_sign_in <- function(url = Sys.getenv("SNAPLEDGER_URL"), timeout = 60, retries = 6, backoff = 0.2) {
  url <- check_url(url)
  if (!is_private_url(url)) {
    fail_sign_in("Sign in only to a service at an https:// URL: others can change what http:// answers.")
  }
  provider <- find_provider(url)
  account <- open_account(provider, enter_code(provider))
  new_connection(
    url, "signed in with your account", account$get_token, timeout, retries, backoff, account$renew, account$sign_out
  )
}

#' @rdname sl_sign_in
#' @export
sl_sign_out <- function(connection) {
  if (is.null(check_connection(connection)$sign_out)) refuse("Only a connection of `sl_sign_in()` can sign out.")
  connection$sign_out()
  invisible(NULL)
}

PROVIDER_TIMEOUT <- 10 # seconds
DEVICE_GRANT <- "urn:ietf:params:oauth:grant-type:device_code"
MIN_INTERVAL <- 1 # seconds between polls
MAX_INTERVAL <- 60
SLOW_DOWN <- 5
ENDED <- "Your session has ended: sign in again with `sl_sign_in()`."

fail_sign_in <- function(message) fail(message, "snapledger_sign_in_error")

# Returns what a service and its OpenID Connect provider say of themselves.
find_provider <- function(url) {
  told <- fetch_json(paste0(url, "/v1/sign-on"), "The service")$provider
  if (!is_object(told) || !nzchar(as_one_text(told$client_id, ""))) {
    fail_sign_in("This service does not let programs sign people in: use a key.")
  }
  if (!is_private_url(told$issuer)) fail_sign_in("This service names a provider whose URL is not https://.")
  address <- paste0(sub("/+$", "", told$issuer), "/.well-known/openid-configuration")
  configuration <- fetch_json(address, "The provider")
  if (!identical(configuration$issuer, told$issuer)) {
    fail_sign_in("The provider's configuration names another issuer.")
  }
  endpoints <- configuration[c("token_endpoint", "device_authorization_endpoint")]
  if (!all(vapply(endpoints, is_private_url, NA))) {
    fail_sign_in("The provider does not let programs sign people in (RFC 8628): use a key.")
  }
  revoke <- configuration$revocation_endpoint
  list(
    token = endpoints[[1]], device = endpoints[[2]], revoke = if (is_private_url(revoke)) revoke,
    scopes = paste(unlist(told$scopes), collapse = " "),
    form = compact(list(client_id = told$client_id, resource = told$resource))
  )
}

to_provider <- function(url) {
  request <- httr2::req_user_agent(httr2::request(url), USER_AGENT)
  request <- httr2::req_timeout(httr2::req_headers(request, Accept = "application/json"), PROVIDER_TIMEOUT)
  request <- httr2::req_options(request, followlocation = FALSE)
  httr2::req_error(request, is_error = function(response) FALSE)
}

fetch_json <- function(url, who) {
  response <- attempt_request(to_provider(url))
  if (inherits(response, "error")) fail(paste(who, "was not reached."), "snapledger_unreachable")
  document <- parse_json(response)
  if (httr2::resp_status(response) != 200 || !is_object(document)) {
    fail_sign_in(paste(who, "did not say how to sign in."))
  }
  document
}

# Sends a form; returns the members of the answer, or the provider's word for why it refuses. The word is empty if it
# is away: the same request may succeed later.
post_form <- function(url, form) {
  response <- attempt_request(httr2::req_body_form(to_provider(url), !!!form))
  if (inherits(response, "error") || httr2::resp_status(response) >= 500 || httr2::resp_status(response) == 429) {
    return("")
  }
  document <- parse_json(response)
  if (!is_object(document)) fail_sign_in("The provider's answer is not as expected.")
  if (httr2::resp_status(response) == 200) document else as_one_text(document$error, "an unknown error")
}

# Shows somebody a code, and returns the tokens when it has been entered at the provider.
enter_code <- function(provider, pause = Sys.sleep) {
  code <- post_form(provider$device, c(provider$form, scope = provider$scopes))
  if (identical(code, "")) fail("The provider was not reached.", "snapledger_unreachable")
  if (is.character(code)) next_interval(0, code)
  check_code(code)
  rlang::inform(sprintf("To sign in, open %s and enter the code %s.", code$verification_uri, code$user_code))
  deadline <- Sys.time() + min(as_seconds(code$expires_in, 600), 3600)
  interval <- min(max(as_seconds(code$interval, 5), MIN_INTERVAL), MAX_INTERVAL)
  repeat {
    pause(interval)
    if (Sys.time() > deadline) next_interval(interval, "expired_token")
    form <- c(provider$form, grant_type = DEVICE_GRANT, device_code = code$device_code)
    outcome <- post_form(provider$token, form)
    if (is.list(outcome)) {
      return(read_tokens(outcome))
    }
    interval <- next_interval(interval, outcome)
  }
}

check_code <- function(code) {
  shown <- c(as_one_text(code$user_code, ""), as_one_text(code$device_code, ""))
  if (!all(nzchar(shown)) || !grepl("^[[:print:]]{1,64}$", shown[1]) || !is_private_url(code$verification_uri)) {
    fail_sign_in("The provider's answer has no code to sign in with.")
  }
}

# Returns the seconds until the next poll (RFC 8628, section 3.5).
next_interval <- function(interval, error) {
  switch(error,
    authorization_pending = interval,
    slow_down = interval + SLOW_DOWN,
    access_denied = fail_sign_in("The sign-in was refused or cancelled at the provider."),
    expired_token = fail_sign_in("Nobody entered the code in time: sign in again."),
    if (nzchar(error)) {
      fail_sign_in(sprintf("The provider does not let this program sign anybody in: %s.", error))
    } else {
      min(interval * 2, MAX_INTERVAL)
    }
  )
}

as_seconds <- function(value, default) {
  if (is.numeric(value) && length(value) == 1 && isTRUE(value >= 0 && value < Inf)) value else default
}

# Returns the tokens of an answer; a renewal may keep the refresh token.
read_tokens <- function(document, refresh = NULL) {
  access <- as_one_text(document$access_token, "")
  if (!grepl("^[!-~]+$", access) || !identical(tolower(as_one_text(document$token_type, "")), "bearer")) {
    fail_sign_in("The provider's answer has no bearer token.")
  }
  lasts <- as_seconds(document$expires_in, Inf)
  if (is.character(document$refresh_token)) refresh <- document$refresh_token
  expires_at <- Sys.time() + lasts
  list(access = access, refresh = refresh, expires_at = expires_at, renew_at = expires_at - min(60, lasts / 4))
}

# Returns the functions of a session, which alone know its tokens: so no list of the workspace shows them.
open_account <- function(provider, tokens) {
  force(provider)
  force(tokens)
  end <- function() {
    tokens <<- NULL
    fail_sign_in(ENDED)
  }
  renew <- function(is_refused = FALSE) {
    is_valid <- !is_refused && Sys.time() < tokens$expires_at
    if (is.null(tokens$refresh)) {
      return(if (!is_valid) end())
    }
    form <- c(provider$form, grant_type = "refresh_token", refresh_token = tokens$refresh)
    outcome <- post_form(provider$token, form)
    if (is.list(outcome)) {
      tokens <<- read_tokens(outcome, tokens$refresh)
    } else if (outcome == "invalid_grant") {
      end()
    } else if (!is_valid) {
      fail("The provider did not renew the token.", c("snapledger_unreachable", "snapledger_sign_in_error"))
    }
  }
  get_token <- function() {
    if (is.null(tokens)) fail_sign_in(ENDED)
    if (Sys.time() >= tokens$renew_at) renew()
    tokens$access
  }
  sign_out <- function() {
    refresh <- tokens$refresh
    tokens <<- NULL
    revoke(provider, refresh)
  }
  list(get_token = get_token, renew = renew, sign_out = sign_out)
}

# Revokes a refresh token, if the provider can do that (RFC 7009).
revoke <- function(provider, refresh) {
  if (is.null(provider$revoke) || is.null(refresh)) {
    return()
  }
  form <- list(client_id = provider$form$client_id, token = refresh, token_type_hint = "refresh_token")
  if (inherits(attempt_request(httr2::req_body_form(to_provider(provider$revoke), !!!form)), "error")) {
    fail("The provider did not answer; the tokens are forgotten here.", "snapledger_unreachable")
  }
}
