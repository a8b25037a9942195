problem <- function(slug, status, ...) {
  members <- list(type = paste0("/problems/", slug), title = "Refused", status = status, detail = "Ask for less.", ...)
  answer(status, as.character(jsonlite::toJSON(members, auto_unbox = TRUE)))
}

ask <- function() sl_release(of_away(0), sl_mean("a"), epsilon = 1, key = "monday")

test_that("each problem has a class, and its members", {
  local_answers(problem("budget-exhausted", 409L, scope = "allowance", requested = "1", remaining = "0.5", limit = "2"))
  error <- expect_error(ask(), class = "snapledger_budget_exhausted")
  expect_s3_class(error, "snapledger_problem")
  expect_s3_class(error, "snapledger_error")
  expect_equal(
    list(error$scope, error$requested, error$remaining, error$limit, error$status, error$idempotency_key),
    list("allowance", "1", "0.5", "2", 409L, "monday")
  )
  expect_match(conditionMessage(error), "^Refused\\..*Ask for less\\.$")
  expect_false(grepl("Ask again", conditionMessage(error)))
})

test_that("an invalid request says where and what", {
  local_answers(problem("invalid-request", 422L, errors = list(list(where = "statistic.column", what = "is unknown"))))
  error <- expect_error(ask(), "statistic.column is unknown", class = "snapledger_invalid_request")
  expect_equal(error$errors[[1]]$where, "statistic.column")
})

test_that("after a 503 a release may have been charged", {
  local_answers(problem("unavailable", 503L))
  error <- expect_error(ask(), class = "snapledger_unavailable")
  expect_match(conditionMessage(error), 'Ask again with `key = "monday"`', fixed = TRUE)
})

test_that("a refused key is never shown", {
  local_answers(problem("unauthenticated", 401L))
  error <- expect_error(ask(), "SNAPLEDGER_KEY", class = "snapledger_unauthenticated")
  shown <- capture.output(print(error), utils::str(error))
  expect_false(any(grepl("secret-key", shown)))
})

test_that("why a token was refused is told", {
  local_answers(problem("unauthenticated", 401L))
  expect_error(ask(), "Ask for less", class = "snapledger_unauthenticated")
  members <- list(type = "/problems/unauthenticated", title = "No key", detail = "Send Authorization: Bearer.")
  local_answers(answer(401L, as.character(jsonlite::toJSON(members, auto_unbox = TRUE))))
  expect_error(ask(), "mistyped or expired", class = "snapledger_unauthenticated")
})

test_that("problems of other types, and what is no problem document, are problems", {
  for (each in list(problem("of-tomorrow", 418L, call = "x", class = "y"), answer(500, "<html>"), answer(404, "[]"))) {
    local_answers(each)
    expect_error(ask(), class = "snapledger_problem")
  }
  local_answers(answer(302, headers = list(Location = "http://elsewhere")))
  expect_error(ask(), "HTTP status 302", class = "snapledger_problem")
})

test_that("an answer of another service is not taken for one", {
  for (body in c("<html>", "[]", "{}", '{"id": 3}', '"text"')) {
    local_answers(answer(200, body))
    error <- expect_error(ask(), class = "snapledger_unexpected_answer")
    expect_equal(error$idempotency_key, "monday")
    expect_error(sl_datasets(away()), class = "snapledger_unexpected_answer")
  }
})

test_that("a timeout says with which key to ask again", {
  socket <- NULL
  for (port in sample(20000:60000, 50)) {
    socket <- tryCatch(serverSocket(port), error = function(error) NULL)
    if (!is.null(socket)) break
  }
  on.exit(close(socket))
  silent <- sl_connect(sprintf("http://127.0.0.1:%d", port), key = "any", timeout = 0.2, retries = 0)
  error <- expect_error(
    sl_release(sl_dataset(silent, "penguins"), sl_mean("a"), epsilon = 1, key = "monday"),
    class = "snapledger_timeout"
  )
  expect_s3_class(error, "snapledger_unreachable")
  expect_equal(error$idempotency_key, "monday")
  expect_match(conditionMessage(error), 'Ask again with `key = "monday"`', fixed = TRUE)
})

test_that("an interruption says with which key to ask again", {
  local_answers(function(request) rlang::interrupt())
  told <- NULL
  tryCatch(
    withCallingHandlers(ask(), message = function(message) {
      told <<- conditionMessage(message)
      invokeRestart("muffleMessage")
    }),
    interrupt = function(interrupted) NULL
  )
  expect_match(told, 'Interrupted. Ask again with `key = "monday"`', fixed = TRUE)
})

test_that("a service that is away is unreachable, without a wait", {
  took <- system.time(error <- expect_error(ask(), class = "snapledger_unreachable"))
  expect_lt(took[["elapsed"]], 1)
  expect_equal(error$idempotency_key, "monday")
})
