test_that("a release is a tibble with one row", {
  numbers <- as_tibble(make_release())
  expect_equal(names(numbers), c("label", "lower", "upper", "value", "conf_low", "conf_high", "unit"))
  expect_equal(as.list(numbers), list(
    label = "mean of body_mass_g", lower = NA_real_, upper = NA_real_, value = 4209.1, conf_low = 4093.9,
    conf_high = 4324.3, unit = "g"
  ))
})

test_that("means of dates are dates", {
  release <- make_release(value_as_date = "2024-03-01",
    accuracy = list(interval_as_date = list("2024-02-28", "2024-03-03")))
  expect_equal(as_tibble(release)$value, as.Date("2024-03-01"))
  expect_equal(as_tibble(release)$conf_high, as.Date("2024-03-03"))
  expect_equal(format(release)[1], "mean of body_mass_g: 2024-03-01 (2024-02-28 to 2024-03-03, 95 %)")
  release$value_as_date <- "2024-03-01T12:00:00"
  release$accuracy$interval_as_date <- list("2024-03-01T11:00:00", "2024-03-01T13:00:00")
  expect_equal(as_tibble(release)$value, as.POSIXct("2024-03-01 12:00:00", tz = "UTC"))
})

test_that("many bins have edges instead, and labels", {
  release <- make_release(statistic = list(kind = "histogram", column = "x"), value = list(1, 2, 3),
    value_in_range = list(1, 2, 3), edges = list(0, 0.5, 1),
    accuracy = list(interval = list(list(0, 2), list(1, 3), list(2, 4))))
  numbers <- as_tibble(release)
  expect_equal(numbers$label, c("[0, 0.5)", "[0.5, 1]", "missing"))
  expect_equal(numbers$lower, c(0, 0.5, NA))
})

test_that("unknown values and ends are missing", {
  derived <- snapledger:::as_derived(jsonlite::parse_json('{"derived": {"kind": "mean", "column": "x", "group_by": "g"},
    "alpha": 0.05, "estimates": {"mean": {"value": [1.5, null], "interval": [[1, 2], [null, null]]}},
    "bins": [{"kind": "category", "label": "a"}, {"kind": "category", "label": "b"}], "units": {"mean": "g"},
    "components": [], "budget": {"charged": "0", "dataset_remaining": "1", "allowance_remaining": null}}'), "GET /")
  numbers <- as_tibble(derived)
  expect_equal(numbers$value, c(1.5, NA))
  expect_equal(numbers$conf_low, c(1, NA))
  expect_equal(numbers$unit, c("g", "g"))
  expect_match(format(derived)[3], "no value.*anything")
  expect_equal(unname(confint(derived)[, "upper"]), c(2, NA))
})

test_that("a confidence level is chosen when asking", {
  release <- make_release()
  expect_equal(confint(release, level = 0.95)[1, ], c(lower = 4093.9, upper = 4324.3))
  expect_error(confint(release, level = 0.99), "alpha = 0.01", class = "snapledger_invalid_argument")
  expect_equal(as.numeric(release), 4209.1)
  expect_equal(coef(release), c(`mean of body_mass_g` = 4209.1))
})
