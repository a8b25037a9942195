report_items <- function() {
  list(
    mass = sl_item(sl_mean("body_mass_g"), epsilon = "0.2"), species = sl_item(sl_histogram("species"), epsilon = "0.1")
  )
}

test_that("the items of a figure are named or counted from 1", {
  sent <- local_answers(answer(500))
  define <- function(...) {
    figures <- list(sl_report_figure("mass", "Mass", ...))
    sl_define_report(of_away(retries = 0), "monthly", report_items(), figures, epsilon_per_run = 1, epsilon_total = 2)
  }
  for (odd in list("no such item", 0, 3, NA, TRUE)) {
    expect_error(define(of = odd), "names of items, or their numbers", class = "snapledger_invalid_argument")
  }
  expect_error(define(public = NA), class = "snapledger_invalid_argument")
  define_others <- function(items, figures) {
    sl_define_report(of_away(retries = 0), "monthly", items, figures, epsilon_per_run = 1, epsilon_total = 2)
  }
  expect_error(define_others(report_items(), list("mass")), "sl_report_figure", class = "snapledger_invalid_argument")
  expect_error(define_others(sl_mean("x"), list()), "list of items", class = "snapledger_invalid_argument")
  expect_length(sent$requests, 0)
  expect_error(define(of = c("species", "mass"), note = "All.", public = TRUE))
  sent_figure <- jsonlite::parse_json(sent$requests[[1]]$body$data)$figures[[1]]
  expect_equal(sent_figure, list(
    figure = "mass", title = "Mass", note = "All.", audience = "public", confirm_public = TRUE, items = list(1L, 0L)
  ))
})

test_that("a report is defined, planned, listed and withdrawn", {
  skip_without_service()
  figures <- list(sl_report_figure("a-mass", "Mass", of = 1), sl_report_figure("a-species", "Species", of = "species"))
  define <- function(total, ...) {
    sl_define_report(penguins(), "hourly", report_items(), figures, epsilon_per_run = 0.3, epsilon_total = total, ...)
  }
  defined <- define("1.5", only_new = TRUE)
  expect_error(define("9", only_new = TRUE), class = "snapledger_already_exists")
  expect_equal(defined$epsilon_remaining, "1.5")
  expect_equal(format(defined)[2], "\u03b5 = 0.3 a run at most; 1.5 of 1.5 are left")
  expect_equal(sl_report(penguins(), "hourly")$figures[[2]]$items, list(1L))
  read <- sl_report(penguins(), "hourly")
  define("3", if_match = read)
  expect_error(define("9", if_match = read), class = "snapledger_precondition_failed")
  expect_error(sl_withdraw_report(penguins(), "hourly", read$etag), class = "snapledger_precondition_failed")
  plan <- sl_plan_report(penguins(), "hourly")
  expect_equal(plan$runs, 10)
  expect_equal(as_tibble(plan)$charged, c(0.2, 0.1))
  expect_match(format(plan)[3], "covers 10 more runs")
  expect_equal(sl_reports(penguins())$epsilon_total, 3)
  expect_equal(nrow(sl_report_runs(penguins(), "hourly", newest = TRUE)), 0)
  expect_error(sl_retry_report(penguins(), "hourly"), class = "snapledger_not_found")
  sl_withdraw_report(penguins(), "hourly")
  expect_equal(nrow(sl_reports(penguins())), 0)
})

test_that("a run is on the dataset that succeeds the one of the report", {
  skip_without_service()
  owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
  table <- data.frame(mass = rep(c(3000, 4000), 50))
  columns <- list(mass = list(kind = "real", bounds = c(0, 6000)))
  sl_register(owner, "of-may", table, columns, epsilon_limit = 2)
  first <- sl_dataset(owner, "of-may")
  figures <- list(sl_report_figure("mass", "Mass"))
  items <- list(sl_item(sl_mean("mass"), epsilon = 1))
  sl_define_report(first, "monthly", items, figures, epsilon_per_run = 1, epsilon_total = 2)
  sl_register(owner, "of-june", table, columns, epsilon_limit = 2, succeeds = "of-may")
  second <- sl_dataset(owner, "of-june")
  state <- "pending"
  for (attempt in 1:600) {
    state <- sl_report_runs(second, "monthly")$state
    if (state %in% c("done", "refused")) break
    Sys.sleep(0.1)
  }
  expect_equal(state, "done")
  runs <- sl_report_runs(second, "monthly")
  expect_equal(c(runs$dataset, runs$principal), c("of-june", sl_report(second, "monthly")$principal))
  expect_equal(runs$charged, 1)
  expect_equal(sl_retry_report(second, "monthly")$state, "done") # nothing is left to do
  expect_equal(nrow(as_tibble(sl_figure(second, "mass"))), 1)
})
