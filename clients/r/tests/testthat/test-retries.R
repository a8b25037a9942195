find_pause <- snapledger:::find_pause

test_that("what is lost or busy is asked again, with the same key and body", {
  sent <- local_answers(lost, answer(503), answer(429), answer(201, RELEASE))
  release <- sl_release(of_away(), sl_mean("body_mass_g"), epsilon = "0.1")
  expect_equal(release$id, "r1")
  expect_length(sent$requests, 4)
  keys <- vapply(sent$requests, header_of, "", "Idempotency-Key")
  expect_match(keys[1], "^[0-9a-f]{32}$")
  expect_length(unique(keys), 1)
  expect_length(unique(lapply(sent$requests, function(request) request$body$data)), 1)
})

test_that("an answer stands", {
  for (status in c(200L, 201L, 302L, 400L, 401L, 403L, 404L, 409L, 422L, 500L)) {
    expect_null(find_pause(away(), 0, answer(status)(NULL)))
  }
  for (status in c(429L, 502L, 503L, 504L)) {
    expect_true(is.numeric(find_pause(away(), 0, answer(status)(NULL))))
  }
})

test_that("patience ends, and the error has the key", {
  sent <- local_answers(lost)
  error <- expect_error(
    sl_release(of_away(retries = 2), sl_mean("a"), epsilon = 1, key = "monday"), class = "snapledger_unreachable"
  )
  expect_length(sent$requests, 3)
  expect_equal(error$idempotency_key, "monday")
  expect_match(conditionMessage(error), 'key = "monday"', fixed = TRUE)
})

test_that("Retry-After is kept, as seconds and as a date", {
  pause_after <- function(text) find_pause(away(), 0, answer(503, headers = list(`Retry-After` = text))(NULL))
  expect_equal(pause_after("7"), 7)
  now <- as.POSIXct("2026-11-30 12:00:00", tz = "UTC")
  expect_equal(snapledger:::read_retry_after("Mon, 30 Nov 2026 12:01:00 GMT", now), 60)
  for (odd in c("soon", "-3", "", "Mon, 30 Nov 2020 12:01:00 GMT", "Mon, 99 Foo 2026 12:01:00 GMT")) {
    expect_equal(snapledger:::read_retry_after(odd, now), 0)
  }
  expect_null(pause_after("121"))
})

test_that("pauses double up to a limit", {
  patient <- sl_connect("http://127.0.0.1:9", key = "any", retries = 100, backoff = 1)
  for (attempt in c(0, 1, 2, 3, 50)) {
    pause <- find_pause(patient, attempt, simpleError("lost"))
    expect_true(pause >= min(2^attempt, 10) / 2 && pause <= min(2^attempt, 10))
  }
})

test_that("keys do not depend on the seed of the analysis, and leave it alone", {
  set.seed(1)
  first <- snapledger:::new_key()
  drawn <- runif(1)
  set.seed(1)
  expect_false(snapledger:::new_key() == first)
  find_pause(away(), 0, simpleError("lost"))
  expect_equal(runif(1), drawn)
})

test_that("a key goes to no other address", {
  request <- snapledger:::make_request(away(), "GET", "/v1/me", NULL, NULL)
  expect_false(request$options$followlocation)
  expect_equal(request$options$useragent, "snapledger-r")
})
