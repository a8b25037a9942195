test_that("a connection never shows its key", {
  connection <- away()
  shown <- capture.output(
    print(connection), utils::str(unclass(connection)), utils::str(connection$get_key), dput(connection)
  )
  expect_false(any(grepl("secret-key", shown)))
  shown <- capture.output(print(sl_dataset(connection, "penguins")), print(unclass(sl_dataset(connection, "penguins"))))
  expect_false(any(grepl("secret-key", shown)))
})

test_that("a key of the environment is read for each request, and not stored", {
  old <- Sys.getenv("SNAPLEDGER_KEY", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("SNAPLEDGER_KEY") else Sys.setenv(SNAPLEDGER_KEY = old))
  Sys.setenv(SNAPLEDGER_KEY = "first-key")
  connection <- sl_connect("http://127.0.0.1:9")
  expect_false(any(grepl("first-key", rawToChar(serialize(connection, NULL, ascii = TRUE)))))
  Sys.setenv(SNAPLEDGER_KEY = "second-key")
  expect_equal(connection$get_key(), "second-key")
  Sys.unsetenv("SNAPLEDGER_KEY")
  expect_error(sl_connect("http://127.0.0.1:9"), "SNAPLEDGER_KEY", class = "snapledger_invalid_argument")
})

test_that("an anonymous connection sends no key, and is told what it needs one for", {
  old <- Sys.getenv("SNAPLEDGER_KEY", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("SNAPLEDGER_KEY") else Sys.setenv(SNAPLEDGER_KEY = old))
  Sys.setenv(SNAPLEDGER_KEY = "secret-key")
  nobody <- sl_connect("http://127.0.0.1:9", anonymous = TRUE, retries = 0)
  expect_match(format(nobody), "without a key")
  sent <- local_answers(answer(401, '{"type": "/problems/unauthenticated", "title": "Unauthenticated", "status": 401}'))
  refused <- expect_error(sl_me(nobody), "not public", class = "snapledger_unauthenticated")
  expect_equal(refused$status, 401L)
  expect_null(header_of(sent$requests[[1]], "Authorization"))
  expect_error(sl_connect("http://a", key = "any", anonymous = TRUE), class = "snapledger_invalid_argument")
  expect_error(sl_connect("http://a", anonymous = NA), class = "snapledger_invalid_argument")
  expect_silent(sl_connect("http://stats.example.org", anonymous = TRUE)) # there is no key to be read on the way
})

test_that("a key over plain HTTP is warned of, except on this machine", {
  expect_warning(sl_connect("http://stats.example.org", key = "any"), "https", class = "snapledger_insecure_url")
  expect_warning(sl_connect("http://127.0.0.1.example.org", key = "any"), class = "snapledger_insecure_url")
  for (url in c("https://stats.example.org", "http://127.0.0.1:8000", "http://localhost/x", "http://[::1]:8000")) {
    expect_silent(sl_connect(url, key = "any"))
  }
})

test_that("wrong addresses and keys are refused", {
  for (url in list("", NULL, "stats.example.org", "ftp://a", "http://user:secret@host", "http://host?x=1", NA)) {
    expect_error(sl_connect(url, key = "any"), class = "snapledger_invalid_argument")
  }
  error <- expect_error(sl_connect("http://127.0.0.1", key = "with space"), class = "snapledger_invalid_argument")
  expect_false(grepl("with space", conditionMessage(error)))
  expect_error(sl_connect("http://127.0.0.1", key = "a\nb"), class = "snapledger_invalid_argument")
  expect_error(sl_connect("http://127.0.0.1", key = "any", timeout = 0), class = "snapledger_invalid_argument")
})

test_that("names are encoded in paths", {
  expect_equal(snapledger:::make_path("datasets", "a/b \u00fc?"), "/v1/datasets/a%2Fb%20%C3%BC%3F")
})

test_that("lists are read page by page", {
  page <- function(names, after) {
    items <- lapply(names, function(name) list(name = name, n = 1, columns = list(), state = "open"))
    body <- jsonlite::toJSON(list(datasets = items, `next` = after), auto_unbox = TRUE, null = "null")
    answer(200, as.character(body))
  }
  sent <- local_answers(page(c("a", "b"), "b"), page("c", NULL))
  expect_equal(sl_datasets(away())$name, c("a", "b", "c"))
  expect_match(sent$requests[[2]]$url, "after=b")
})
