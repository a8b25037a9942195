json <- function(...) answer(200, as.character(jsonlite::toJSON(list(...), auto_unbox = TRUE)))

SERVICE <- json(provider = list(issuer = "https://id.example.org", client_id = "people", scopes = list("openid")))
PROVIDER <- json(
  issuer = "https://id.example.org", token_endpoint = "https://id.example.org/token",
  device_authorization_endpoint = "https://id.example.org/device",
  revocation_endpoint = "https://id.example.org/revoke"
)
CODE <- json(device_code = "s3cret", user_code = "WDJB-MJHT", verification_uri = "https://id.example.org/activate")

refusal <- function(error, status = 400) answer(status, sprintf('{"error": "%s"}', error))

tokens <- function(access, ...) json(access_token = access, token_type = "Bearer", ...)

sign_in <- function(...) {
  local_answers(..., env = parent.frame())
  provider <- snapledger:::find_provider("https://stats.example.org")
  paused <- numeric()
  found <- snapledger:::enter_code(provider, function(seconds) paused <<- c(paused, seconds))
  list(provider = provider, tokens = found, paused = paused)
}

test_that("somebody enters a code, however long it takes", {
  waiting <- refusal("authorization_pending")
  entered <- tokens("a1", expires_in = 300)
  expect_message(
    signed <- sign_in(SERVICE, PROVIDER, CODE, waiting, refusal("slow_down"), lost, waiting, entered),
    "open https://id.example.org/activate and enter the code WDJB-MJHT"
  )
  expect_equal(signed$paused, c(5, 5, 10, 20, 20))
  expect_equal(signed$tokens$access, "a1")
})

test_that("who does not sign in learns why", {
  refused <- function(pattern, ...) {
    expect_error(suppressMessages(sign_in(...)), pattern, class = "snapledger_sign_in_error")
  }
  refused("use a key", json(provider = NULL))
  refused("not https", json(provider = list(issuer = "http://id.example.org", client_id = "people")))
  refused("another issuer", SERVICE, json(issuer = "https://evil.example.org"))
  refused("RFC 8628", SERVICE, json(issuer = "https://id.example.org"))
  refused("cancelled", SERVICE, PROVIDER, CODE, refusal("access_denied"))
  refused("in time", SERVICE, PROVIDER, CODE, refusal("expired_token"))
  refused("invalid_client", SERVICE, PROVIDER, refusal("invalid_client", 401))
  evil <- json(device_code = "a", user_code = "b", verification_uri = "javascript:alert(1)")
  refused("no code", SERVICE, PROVIDER, evil)
  refused("no bearer token", SERVICE, PROVIDER, CODE, tokens("a b"))
  refused("did not say", answer(404))
  expect_error(sl_sign_in("http://stats.example.org"), class = "snapledger_sign_in_error")
})

account <- function(..., refresh = "r1") {
  provider <- list(token = "https://id.example.org/token", revoke = "https://id.example.org/revoke",
    form = list(client_id = "people"))
  found <- snapledger:::read_tokens(list(access_token = "a1", token_type = "bearer", refresh_token = refresh, ...))
  session <- snapledger:::open_account(provider, found)
  connection <- snapledger:::new_connection(
    "https://stats.example.org", "signed in with your account", session$get_token, 60, 3, 0, session$renew,
    session$sign_out
  )
  list(session = session, connection = connection)
}

bearers <- function(sent) unlist(lapply(sent$requests, header_of, "Authorization"))

test_that("a token is renewed before it expires, and once when the service refuses it", {
  signed <- account(expires_in = 0)
  sent <- local_answers(tokens("a2", expires_in = 300), json(name = "ada", role = "analyst"))
  expect_equal(sl_me(signed$connection)$name, "ada")
  expect_equal(bearers(sent), "Bearer a2")
  sent <- local_answers(answer(401), tokens("a3"), json(name = "ada", role = "analyst"))
  sl_me(signed$connection)
  expect_equal(bearers(sent), c("Bearer a2", "Bearer a3"))
  sent <- local_answers(answer(401), tokens("a4"), answer(401))
  expect_error(sl_me(signed$connection), class = "snapledger_problem")
  expect_length(sent$requests, 3)
})

test_that("a session ends, and a release tells its key then", {
  signed <- account(expires_in = 0)
  local_answers(refusal("invalid_grant"))
  dataset <- sl_dataset(signed$connection, "penguins")
  error <- expect_error(
    sl_release(dataset, sl_mean("a"), epsilon = 1, key = "monday"), "sign in again", class = "snapledger_sign_in_error"
  )
  expect_equal(error$idempotency_key, "monday")
  expect_error(sl_me(signed$connection), "sign in again", class = "snapledger_sign_in_error")
  local_answers(lost)
  expect_error(sl_me(account(expires_in = 0)$connection), class = "snapledger_unreachable")
  expect_error(sl_me(account(expires_in = 0, refresh = NULL)$connection), class = "snapledger_sign_in_error")
})

test_that("signing out forgets and revokes the tokens, and nothing shows them", {
  signed <- account(expires_in = 300)
  connection <- unclass(signed$connection)
  shown <- capture.output(print(signed$connection), utils::str(connection), print(connection))
  expect_false(any(grepl("\\b[ar]1\\b", shown)))
  expect_output(print(signed$connection), "signed in with your account")
  sent <- local_answers(answer(200, ""))
  expect_null(sl_sign_out(signed$connection))
  expect_equal(sent$requests[[1]]$url, "https://id.example.org/revoke")
  expect_error(sl_me(signed$connection), class = "snapledger_sign_in_error")
  expect_error(sl_sign_out(away()), class = "snapledger_invalid_argument")
})
