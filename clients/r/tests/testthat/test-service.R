# Against a real service: see helper-service.R.

test_that("datasets are found and described", {
  skip_without_service()
  found <- sl_datasets(sl_connect())
  expect_equal(found$rows[found$name == "penguins"], 344)
  columns <- as_tibble(sl_describe(penguins()))
  expect_equal(columns$column, c("body_mass_g", "bill_length_mm", "species"))
  expect_equal(columns$lower[1], "2000")
  expect_equal(columns$categories[[3]], c("Adelie", "Chinstrap", "Gentoo"))
  expect_equal(sl_me(sl_connect())$role, "analyst")
  expect_error(sl_describe(sl_dataset(sl_connect(), "no-such")), class = "snapledger_not_found")
})

test_that("a plan says what a release costs, and a release costs that", {
  skip_without_service()
  plan <- sl_plan(penguins(), sl_mean("body_mass_g"), accuracy = 50, reuse = FALSE)
  expect_equal(plan$privacy$epsilon, "0.871099697")
  before <- sl_budget(penguins())
  release <- sl_release(penguins(), sl_mean("body_mass_g"), accuracy = 50, reuse = FALSE)
  expect_equal(release$budget$charged, "0.871099697")
  after <- as_tibble(sl_budget(penguins()))
  expect_equal(as.numeric(before$epsilon_spent) + 0.871099697, after$spent[1])
  expect_equal(unname(confint(release)[1, ]), unlist(release$accuracy$interval))
  again <- sl_release(penguins(), sl_mean("body_mass_g"), accuracy = 60)
  expect_true(again$reused)
  expect_equal(again$budget$charged, "0")
})

test_that("0.1 costs exactly 0.1", {
  skip_without_service()
  release <- sl_release(penguins(), sl_mean("body_mass_g"), epsilon = 0.1, reuse = FALSE)
  expect_equal(release$budget$charged, "0.1")
  release <- sl_release(penguins(), sl_mean("body_mass_g"), epsilon = 0.1 + 0.2, reuse = FALSE)
  expect_equal(release$budget$charged, "0.3")
})

test_that("the same key is the same release", {
  skip_without_service()
  key <- snapledger:::new_key()
  ask <- function(epsilon) sl_release(penguins(), sl_mean("body_mass_g"), epsilon = epsilon, reuse = FALSE, key = key)
  expect_equal(ask("0.1")$id, ask("0.1")$id)
  expect_error(ask("0.2"), class = "snapledger_key_reused")
})

test_that("every statistic can be planned, released, printed, tabulated and drawn", {
  skip_without_service()
  bins <- list(NULL, 2)
  asked <- list(
    sl_mean("body_mass_g"), sl_variance("body_mass_g", c(2500, 6500)), sl_covariance("bill_length_mm", "body_mass_g"),
    sl_count(where = species == "Adelie" & body_mass_g >= 4000 & body_mass_g < 5000), sl_count(group_by = "species"),
    sl_missing("body_mass_g"), sl_sum("body_mass_g"), sl_sum("body_mass_g", group_by = "species"),
    sl_sum("body_mass_g", missing = "exclude"), sl_histogram("species"), sl_histogram("body_mass_g", bins = 5),
    sl_histogram("body_mass_g", edges = c(2000, 3500.5, 7000), where = species %in% c("Adelie", "Gentoo")),
    sl_table("species", "body_mass_g", bins = bins), sl_mean("body_mass_g", where = species != "Adelie"),
    sl_mean("body_mass_g", where = between(bill_length_mm, 40, 50)),
    sl_mean("body_mass_g", where = !is.na(body_mass_g)),
    sl_mean("body_mass_g", group_by = "species"), sl_mean("bill_length_mm", weight = "body_mass_g"),
    sl_mean("body_mass_g", missing = "exclude"), sl_sd("body_mass_g"), sl_proportion("species", "Gentoo"),
    sl_proportion(where = body_mass_g > 4000), sl_correlation("bill_length_mm", "body_mass_g"),
    sl_regression(body_mass_g ~ bill_length_mm), sl_cumulative("body_mass_g", bins = 5),
    sl_quantile("body_mass_g", c(0.25, 0.5), bins = 20), sl_median("body_mass_g", bins = 100),
    sl_margin("species", "species", "body_mass_g", bins = bins),
    sl_statistic("pair_differences", columns = list("body_mass_g", "body_mass_g"))
  )
  for (statistic in asked) {
    plan <- sl_plan(penguins(), statistic, epsilon = "0.6")
    expect_gt(nrow(as_tibble(plan)), 0)
    expect_output(print(plan), substr(snapledger:::describe_statistic(statistic), 1, 12))
    release <- sl_release(penguins(), statistic, epsilon = "0.6")
    expect_equal(release$budget$charged, plan$budget$charged)
    numbers <- as_tibble(release)
    known <- !is.na(numbers$value) & !is.na(numbers$conf_low) & !is.na(numbers$conf_high)
    expect_true(all(numbers$conf_low[known] <= numbers$value[known] & numbers$value[known] <= numbers$conf_high[known]))
    expect_output(print(release), "left")
    if (requireNamespace("ggplot2", quietly = TRUE)) expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(release)))
  }
})

test_that("dates are dates, and units and labels are shown", {
  skip_without_service()
  visits <- sl_dataset(sl_connect(), "visits")
  mean_date <- sl_release(visits, sl_mean("admitted"), epsilon = 1)
  expect_s3_class(as_tibble(mean_date)$value, "Date")
  expect_match(format(mean_date)[1], "mean of admitted: 2024-0[67]-[0-9]{2} \\(2024-")
  noon <- as.POSIXct("2024-03-15 12:00", tz = "Europe/Paris")
  before_noon <- sl_release(visits, sl_count(where = arrived < noon), epsilon = 1)
  expect_equal(before_noon$statistic$where$arrived$at_most, "2024-03-15T11:59:00")
  expect_s3_class(as_tibble(sl_release(visits, sl_mean("arrived"), epsilon = 1))$conf_low, "POSIXct")
  months <- sl_release(visits, sl_count(where = urgent, group_by = sl_periods("admitted", "month")), epsilon = 1)
  expect_equal(as_tibble(months)$lower[2], as.Date("2024-02-01"))
  quarters <- sl_release(visits, sl_histogram("admitted", bins = "quarter"), epsilon = 1)
  halves <- as.Date(c("2024-01-01", "2024-07-01", "2024-12-31"))
  of_halves <- sl_release(visits, sl_histogram("admitted", edges = halves), epsilon = 1)
  expect_equal(as_tibble(of_halves)$upper[1], halves[2])
  costs <- sl_release(visits, sl_mean("cost", group_by = "ward"), epsilon = 2)
  expect_match(format(costs)[2], "Surgery .*\u20ac")
  expect_equal(as_tibble(costs)$unit[1], "\u20ac")
  expect_equal(as_tibble(costs)$label[1], "A")
  middle <- sl_release(visits, sl_median("admitted", bins = "day"), epsilon = 1)
  expect_s3_class(as_tibble(middle)$value, "Date")
  for (answer in list(mean_date, months, quarters, of_halves, costs, middle)) {
    expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(answer)))
  }
  batch <- sl_batch(visits, sl_mean("admitted"), sl_mean("cost"), epsilon = 1)
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(batch)))
})

test_that("a rehearsal is free, marked everywhere, and has the shape of a release", {
  skip_without_service()
  in_rehearsal <- sl_dataset(sl_connect(), "penguins", rehearse = TRUE)
  before <- sl_budget(penguins())
  asked <- list(
    sl_mean("body_mass_g"), sl_histogram("species"), sl_table("species", "body_mass_g", bins = list(NULL, 2)),
    sl_median("body_mass_g", bins = 20), sl_regression(body_mass_g ~ bill_length_mm)
  )
  for (statistic in asked) {
    answer <- sl_release(in_rehearsal, statistic, epsilon = 1)
    expect_true(answer$rehearsed)
    expect_match(format(answer)[1], "^Rehearsal with made-up data: ")
    expect_true(all(as_tibble(answer)$rehearsed))
    expect_match(ggplot2::autoplot(answer)$labels$title, "^Rehearsal with made-up data: ")
    expect_equal(answer$budget$charged, "0")
    real <- sl_release(in_rehearsal, statistic, epsilon = 1, rehearse = FALSE)
    expect_null(real$rehearsed)
    expect_equal(setdiff(names(as_tibble(answer)), names(as_tibble(real))), "rehearsed")
    expect_equal(nrow(as_tibble(real)), nrow(as_tibble(answer)))
    before <- sl_budget(penguins())
  }
  batch <- sl_batch(penguins(), sl_mean("body_mass_g"), sl_histogram("species"), epsilon = 1, rehearse = TRUE)
  expect_true(all(as_tibble(batch)$rehearsed))
  expect_match(format(batch)[1], "^Rehearsal with made-up data: ")
  expect_match(ggplot2::autoplot(batch)$labels$title, "^Rehearsal")
  expect_equal(sl_budget(penguins())$epsilon_spent, before$epsilon_spent)
  expect_output(print(in_rehearsal), "in rehearsal")
})

test_that("a batch is paid together, and its items have their names", {
  skip_without_service()
  items <- list(mass = sl_item(sl_mean("body_mass_g"), weight = 2), species = sl_histogram("species"))
  plan <- sl_plan_batch(penguins(), items, epsilon = "0.3", reuse = FALSE)
  expect_equal(as_tibble(plan)$charged, c(0.2, 0.1))
  batch <- sl_batch(penguins(), items, epsilon = "0.3", reuse = FALSE)
  expect_equal(batch$budget$charged, "0.3")
  expect_equal(names(batch$items), c("mass", "species"))
  expect_equal(as_tibble(batch)$item, c("mass", rep("species", 4)))
  expect_output(print(batch), "mass: mean of body_mass_g")
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(batch)))
  one <- sl_batch(penguins(), sl_item(sl_mean("body_mass_g"), accuracy = 200))
  expect_length(one$items, 1)
})

test_that("a plan has a curve, also before there is a dataset", {
  skip_without_service()
  plan <- sl_plan(penguins(), sl_mean("body_mass_g"), accuracy = 50, curve = list("0.01", 10, 20), reuse = FALSE)
  curve <- as_tibble(plan)
  expect_equal(curve$epsilon[!curve$cliff][1], 0.01)
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(plan)))
  ahead <- sl_plan_ahead(sl_connect(), sl_mean("body_mass_g", bounds = c(2000, 7000)), n = 344, accuracy = 50)
  expect_equal(ahead$privacy$epsilon, "0.871099697")
  declared <- list(body_mass_g = list(kind = "integer", bounds = c(2000, 7000)), yes = list(kind = "boolean"))
  counted <- sl_plan_ahead(sl_connect(), sl_count(where = yes), n = 344, columns = declared, epsilon = 1)
  expect_equal(counted$statistic$kind, "count")
})

test_that("refusals have classes", {
  skip_without_service()
  error <- expect_error(
    sl_release(penguins(), sl_mean("bill_length"), epsilon = 1), "did you mean 'bill_length_mm'",
    class = "snapledger_invalid_request"
  )
  expect_equal(error$errors[[1]]$where, "statistic.column")
  error <- expect_error(
    sl_release(penguins(), sl_mean("body_mass_g"), epsilon = 600, reuse = FALSE), class = "snapledger_budget_exhausted"
  )
  expect_equal(error$scope, "allowance")
  expect_equal(error$requested, "600")
  plan <- function(accuracy) sl_plan(penguins(), sl_mean("body_mass_g"), accuracy = accuracy)
  expect_error(plan("0.001"), class = "snapledger_accuracy_unattainable")
  expect_error(plan(9000), class = "snapledger_accuracy_trivial")
  expect_error(sl_me(sl_connect(key = "wrong")), class = "snapledger_unauthenticated")
})

test_that("earlier releases, requests for budget and the ledger are read", {
  skip_without_service()
  release <- sl_release(penguins(), sl_mean("body_mass_g"), epsilon = "0.1", reuse = FALSE)
  expect_equal(sl_earlier_release(sl_connect(), release$id)$value_exact, release$value_exact)
  expect_true(release$id %in% vapply(sl_releases(penguins()), function(each) each$id, ""))
  expect_gt(nrow(as_tibble(sl_releases(sl_connect(), n_max = 2))), 1)
  request <- sl_request_budget(penguins(), 5, "The report needs the means by island too.")
  expect_equal(request$state, "open")
  expect_equal(request$id, sl_request_budget(penguins(), 5, "The report needs the means by island too.")$id)
  expect_true(request$id %in% sl_budget_requests(penguins())$id)
  expect_equal(sl_releases(sl_connect(), n_max = 1, newest = TRUE)[[1]]$id, release$id)
  ledger <- sl_ledger(owned_penguins())
  newest <- sl_ledger(owned_penguins(), n_max = 3, newest = TRUE)
  expect_equal(newest$seq, rev(utils::tail(ledger$seq, 3)))
  expect_equal(ledger$kind[1:2], c("open", "allow"))
  expect_equal(ledger$epsilon[ledger$release_id %in% release$id], 0.1)
  expect_error(sl_ledger(penguins()), class = "snapledger_forbidden")
})
