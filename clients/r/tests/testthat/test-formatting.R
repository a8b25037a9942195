measured <- function(...) unname(snapledger:::format_measured(...))
ends <- function(...) snapledger:::format_interval(...)

test_that("values have the places of their error, which is rounded up", {
  expect_equal(measured(4209.1, 115.2), c("4,209", "116"))
  expect_equal(measured(3.14159, 0.131), c("3.14", "0.14"))
  expect_equal(measured(0.3, 0.3), c("0.30", "0.30"))
  expect_equal(measured(-0.001, 0.5), c("0.00", "0.51"))
  expect_equal(measured(98, 6.49, TRUE), c("98", "7"))
  expect_equal(measured(1234567.8, 15000), c("1,234,568", "15,001"))
})

test_that("intervals are rounded outwards", {
  expect_equal(ends(4093.91, 4324.31), "4,093 to 4,325")
  expect_equal(ends(0.1234, 0.2345), "0.123 to 0.235")
  expect_equal(ends(NA, 5), "at most 5.000")
  expect_equal(ends(NA_real_, NA_real_), "anything")
  set.seed(3)
  for (each in 1:500) {
    lower <- rnorm(1) * 10^runif(1, -6, 9)
    upper <- lower + abs(rnorm(1)) * 10^runif(1, -6, 9)
    shown <- as.numeric(gsub(",", "", strsplit(ends(lower, upper), " to ")[[1]]))
    expect_true(shown[1] <= lower + 1e-13 * abs(lower) && shown[2] >= upper - 1e-13 * abs(upper))
  }
})

test_that("what is spent is rounded up, and what is left is rounded down", {
  expect_equal(snapledger:::format_cost("0.871099697"), "0.872")
  expect_equal(snapledger:::format_left("9.128900303"), "9.12")
  expect_equal(snapledger:::format_cost("0.5"), "0.5")
  expect_equal(snapledger:::format_left("1200"), "1,200")
  expect_equal(snapledger:::format_left("499.9"), "499.9")
  expect_equal(snapledger:::format_cost("499.9"), "500")
  expect_equal(snapledger:::format_cost("0.000000001"), "0.000000001")
  expect_equal(snapledger:::format_left("0"), "0")
})

test_that("a confidence level is rounded down, and never to 100 %", {
  levels <- vapply(c(0.05, 1 / 60, 1e-4, 1e-9, 1e-300), snapledger:::format_level, "")
  expect_equal(levels, c("95 %", "98.33 %", "99.99 %", "99.9999999 %", "99.99999999 %"))
})

test_that("a decimal comma of the session does not reach the texts", {
  rlang::local_options(OutDec = ",")
  expect_equal(measured(3.14159, 0.131), c("3.14", "0.14"))
  expect_equal(snapledger:::format_level(0.025), "97.5 %")
})

test_that("a release is shown with its error bar, cost and what is left", {
  expect_equal(format(make_release()), c(
    "mean of body_mass_g: 4,209 \u00b1 116 g (95 %)",
    "\u03b5 = 0.1 paid; 0.123 of your allowance and 9.9 of the dataset's budget are left"
  ))
})

test_that("an error bar says whether it holds for each number or for all together", {
  plan <- function(...) {
    members <- list(accuracy = list(alpha = 0.05, radius = 6.1), privacy = list(epsilon = "0.871099697"), ...)
    format(structure(members, class = c("snapledger_plan", "snapledger_answer")))
  }
  expect_equal(
    plan(statistic = list(kind = "mean", column = "mass"), unit = "g"),
    "mean of mass: within \u00b1 6.1 g (95 %) for \u03b5 = 0.872"
  )
  expect_equal(
    plan(statistic = list(kind = "count", group_by = "species")),
    "count by species: each within \u00b1 7 (95 %) for \u03b5 = 0.872"
  )
  reused <- plan(
    statistic = list(kind = "histogram", column = "x"), reused_accuracy = list(alpha = 0.05, radius = 2)
  )
  expect_match(reused, "an earlier release answers it at no cost, each within \u00b1 2 (95 %)", fixed = TRUE)
  derived <- snapledger:::as_derived(list(
    derived = list(kind = "cumulative", column = "x"), edges = list(0, 1), alpha = 0.05, components = list(),
    estimates = list(cumulative = list(value = list(1, 2), interval = list(list(0, 2), list(1, 3)))),
    budget = list(charged = "0", dataset_remaining = "1", allowance_remaining = NULL)
  ), "GET /")
  expect_equal(format(derived)[1], "cumulative of x: 2 numbers (95 % together)")
})

test_that("years have no separators, and other numbers have them", {
  in_year <- function(column, ...) {
    statistic <- list(kind = "mean", column = column, bounds = list(1900, 2020))
    mean <- make_release(statistic = statistic, value_in_range = 1978.82, unit = "", ..., accuracy = list(radius = 1.5))
    format(mean)[1]
  }
  expect_equal(in_year("birth_year"), "mean of birth_year: 1978.8 \u00b1 1.6 (95 %)")
  expect_equal(in_year("born", columns = list(born = list(unit = "year"))), "mean of born: 1978.8 \u00b1 1.6 (95 %)")
  expect_equal(in_year("income"), "mean of income: 1,978.8 \u00b1 1.6 (95 %)")
  dates <- list(kind = "mean", column = "year", bounds = list("1900-01-01", "2020-01-01"))
  expect_false(snapledger:::is_year(dates, list()))
  median <- list(kind = "quantile", column = "year", probabilities = list("0.5"), bounds = list(1900, 2020))
  answer <- snapledger:::as_derived(list(
    derived = median, alpha = 0.05, components = list(),
    estimates = list(quantile = list(value = list(1984), interval = list(list(1950, 2010)))),
    budget = list(charged = "0", dataset_remaining = "1", allowance_remaining = NULL)
  ), "GET /")
  expect_match(format(answer)[1], "1984 (1950 to 2010, 95 %)", fixed = TRUE)
})

test_that("the cells of a two-way table have the owner's labels", {
  bins <- list(list(kind = "category", label = "f"), list(kind = "other", label = "other"))
  cells <- make_release(
    statistic = list(kind = "histogram", columns = list("sex", "x")), unit = "", value = list(1, 2, 3, 4),
    value_in_range = list(1, 2, 3, 4), axes = list(list(bins = bins), list(edges = list(0, 1, 2))),
    columns = list(sex = list(category_labels = list(f = "Women"))),
    accuracy = list(interval = list(list(0, 2), list(1, 3), list(2, 4), list(3, 5)), radius = 1)
  )
  expect_match(format(cells)[2], "Women, [0, 1)", fixed = TRUE)
  expect_match(format(cells)[4], "other, [0, 1)", fixed = TRUE)
  expect_equal(tibble::as_tibble(cells)$label[1], "f, [0, 1)")
})

test_that("labels of bins are short enough to read", {
  expect_equal(
    snapledger:::shorten_numbers(c("[3666.66666666667, 5333)", "a", "[-0.00012345678, 1]")),
    c("[3666.67, 5333)", "a", "[-0.000123457, 1]")
  )
})

test_that("sentences are wrapped to the width of the console, and rows of tables are not", {
  rlang::local_options(width = 40)
  lines <- c(strrep("word ", 12), paste0("  ", strrep("x", 60)))
  expect_equal(
    unname(snapledger:::wrap_sentences(lines)),
    c(trimws(strrep("word ", 8)), paste0("  ", trimws(strrep("word ", 4))), lines[2])
  )
})

test_that("statistics are shown in words", {
  expect_equal(format(sl_mean("mass", where = species == "Adelie", missing = "exclude")),
    "<snapledger statistic> mean of mass where species in Adelie, known values")
  by_week <- sl_count(group_by = sl_periods("born", "iso_week"))
  expect_equal(format(by_week), "<snapledger statistic> count by week of born")
  expect_equal(format(sl_median("cost")), "<snapledger statistic> median of cost")
  expect_equal(format(sl_quantile("cost", c(0.25, 0.5))), "<snapledger statistic> quantile of cost")
  expect_equal(format(sl_regression(y ~ x)), "<snapledger statistic> regression of y on x")
})
