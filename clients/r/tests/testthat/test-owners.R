owner <- function() sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))

test_that("a data frame is written as a table that means the same", {
  file <- tempfile()
  snapledger:::write_table(data.frame(
    check.names = FALSE, stringsAsFactors = FALSE,
    "a, \"b\"" = c("x \"y\"", NA, "NA", ""), n = c(0.1 + 0.2, 1e6, NA, -3), i = 1:4, yes = c(TRUE, FALSE, NA, TRUE),
    day = as.Date("2024-03-01") + c(0, 1, NA, 3), f = factor(c("u", "v", NA, "u")),
    at = as.POSIXct(c("2024-03-31 12:00", NA, "2024-12-01 00:00", "2024-12-02 00:00"), tz = "Europe/Paris") + 0.25
  ), file)
  expect_equal(readLines(file, encoding = "UTF-8")[1:3], c(
    '"a, ""b""","n","i","yes","day","f","at"',
    '"x ""y""",0.3,1,true,2024-03-01,"u",2024-03-31T12:00:00.250000+02:00', ',1000000,2,false,2024-03-02,"v",'
  ))
  expect_equal(nchar(readLines(file)[5]), nchar('"",-3,4,true,2024-03-04,"u",2024-12-02T00:00:00.250000+01:00'))
  for (odd in list(data.frame(), data.frame(a = 1)[0, , drop = FALSE], data.frame(a = I(list(1:2))))) {
    expect_error(snapledger:::write_table(odd, file), class = "snapledger_invalid_argument")
  }
})

test_that("declarations have lists where JSON has lists", {
  declared <- snapledger:::as_declarations(list(
    sex = list(kind = "category", categories = factor("f"), category_labels = c(f = "Women")),
    day = list(kind = "date", bounds = as.Date(c("2024-01-01", "2024-12-31"))), age = list(bounds = c(0, 120))
  ))
  expect_equal(declared$sex$categories, list("f"))
  expect_equal(declared$sex$category_labels, list(f = "Women"))
  expect_equal(declared$day$bounds, list("2024-01-01", "2024-12-31"))
  expect_equal(declared$age$bounds, list("0", "120"))
  for (odd in list(list(1), list(age = "integer"), "age", list())) {
    expect_error(snapledger:::as_declarations(odd), class = "snapledger_invalid_argument")
  }
})

test_that("a registration whose answer is lost is not sent again", {
  sent <- local_answers(lost)
  register <- function() sl_register(away(), "a", data.frame(x = 1), list(x = list(kind = "boolean")), 1)
  expect_error(register(), "may have taken effect", class = "snapledger_unreachable")
  expect_length(sent$requests, 1)
  sent <- local_answers(answer(503))
  expect_error(register(), class = "snapledger_problem")
  expect_length(sent$requests, 1)
  never <- rlang::error_cnd(class = "httr2_failure", message = "Failed to connect to 127.0.0.1 port 9: refused")
  expect_true(is.numeric(snapledger:::find_pause(away(), 0, never, repeatable = FALSE)))
  expect_error(sl_register(away(), "a", "no-such.csv", list(x = list()), 1), class = "snapledger_invalid_argument")
})

test_that("an owner drafts, confirms, registers, grants, answers and deletes", {
  skip_without_service()
  name <- paste0("people-", snapledger:::new_key())
  people <- data.frame(
    age = c(31, 64, NA), sex = c("f", "m", "f"), born = as.Date(c("1990-05-01", "1960-01-31", "1971-12-01")),
    seen = as.POSIXct("2024-06-01 08:30", tz = "Europe/Paris") + 0:2, smokes = c(TRUE, NA, FALSE), shoe = 38:40
  )
  draft <- sl_draft(owner(), people)
  expect_output(print(draft), "age: bounds")
  expect_equal(draft$metadata$columns$age$bounds, list("31", "64"))
  expect_error(sl_register(owner(), name, people, draft, 5), "unconfirmed", class = "snapledger_invalid_request")
  expect_error(sl_confirm(draft, height = list()), "height", class = "snapledger_invalid_argument")
  for (odd in list(list(), list(age = 1), list(age = list(1)), list(list()))) {
    expect_error(do.call(sl_confirm, c(list(draft), odd)), class = "snapledger_invalid_argument")
  }
  confirmed <- sl_confirm(draft,
    age = list(bounds = c(0, 120), unit = "years"), sex = list(categories = c("f", "m", "x")),
    born = list(bounds = as.Date(c("1900-01-01", "2024-12-31"))), smokes = list(),
    seen = list(time_zone = "Europe/Paris", resolution = "second", bounds = as.Date(c("2024-01-01", "2025-01-01")))
  )
  facts <- sl_register(owner(), name, people, confirmed, 5, null_values = "", description = "Three people")
  expect_equal(facts$n, 3)
  expect_equal(as_tibble(facts)$column, c("age", "sex", "born", "smokes", "seen"))
  expect_equal(facts$report$columns$age$missing, 1)
  dataset <- sl_dataset(owner(), name)
  budget <- sl_allow(dataset, "ada", "1.5", window_days = 30)
  expect_output(print(budget), "ada: 0 of 1.5 spent")
  expect_equal(as_tibble(budget)$principal, c(NA, "ada"))
  expect_true("ada" %in% sl_grantees(dataset)$principal)
  expect_true("ada" %in% sl_grantees(dataset, to = "view")$principal)
  expect_error(sl_grantees(dataset, to = "see"), class = "snapledger_invalid_request")
  granted <- sl_allowance(dataset, "ada")
  limit <- sl_limit(dataset)
  expect_equal(c(granted$epsilon_limit, limit$epsilon_limit), c("1.5", "5"))
  sl_allow(dataset, "ada", 2, if_match = granted)
  expect_equal(sl_adjust_limit(dataset, 6, "Another year.", if_match = limit$etag)$epsilon_limit, "6")
  late <- list(
    function() sl_allow(dataset, "ada", 3, if_match = granted),
    function() sl_revoke(dataset, "ada", if_match = granted$etag),
    function() sl_adjust_limit(dataset, 7, "Too late.", if_match = limit)
  )
  for (change in late) expect_error(change(), class = "snapledger_precondition_failed")
  expect_error(sl_allow(dataset, "ada", 3, only_new = TRUE), class = "snapledger_already_exists")
  expect_equal(c(sl_allowance(dataset, "ada")$epsilon_limit, sl_limit(dataset)$epsilon_limit), c("2", "6"))
  sl_allow(dataset, "ada", "1.5", window_days = 30)
  asked <- sl_dataset(sl_connect(), name)
  request <- sl_request_budget(asked, 1, "For the annual report.")
  expect_equal(sl_decline_request(dataset, request$id)$state, "declined")
  request <- sl_request_budget(asked, 1, "For the annual report.")
  answered <- sl_grant_request(dataset, request$id, epsilon = 0.5, answer = "For now.")
  expect_equal(answered$granted, 0.5)
  expect_equal(sl_budget(asked)$allowance$epsilon_limit, "2")
  expect_equal(sl_release(asked, sl_mean("seen"), epsilon = 1)$budget$allowance_remaining, "1")
  expect_equal(sum(sl_ledger(dataset)$kind == "debit"), 1)
  sl_revoke(dataset, "ada")
  expect_error(sl_budget(asked), class = "snapledger_not_found")
  expect_null(sl_delete_dataset(dataset))
  expect_equal(sl_describe(dataset)$state, "closed")
})
