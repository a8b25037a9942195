figure_of <- function(...) {
  rows <- lapply(list(...), function(row) {
    common <- list(measure = "mean", columns = "body_mass_g", label = "mean", value = 4209.3, interval_lower = 4093.1,
      interval_upper = 4325.5, alpha = 0.05, epsilon = "0.5", released_at = "2026-01-31T12:00:00Z")
    common[names(row)] <- row
    common
  })
  document <- list(
    dataset = "penguins", figure = "mass", version = 2, title = "Body mass", note = "Palmer Archipelago.",
    published_by = "ada", published_at = "2026-01-31T12:00:00.000000Z", rows = unname(rows)
  )
  snapledger:::as_figure(document, "rows", "GET /")
}

test_that("a figure is a table with types, a text and a plot", {
  figure <- figure_of(list(unit = "g"))
  numbers <- as_tibble(figure)
  expect_equal(numbers$value, 4209.3)
  expect_equal(numbers$epsilon, 0.5)
  expect_s3_class(numbers$released_at, "POSIXct")
  expect_match(format(figure)[1], "Body mass: figure mass of penguins, version 2")
  expect_match(format(figure)[2], "mean body_mass_g  4,209 g  4,093 to 4,326", fixed = TRUE)
  expect_true("Palmer Archipelago." %in% format(figure))
  skip_if_not_installed("ggplot2")
  expect_equal(ggplot2::autoplot(figure)$labels$title, "Body mass")
  expect_equal(ggplot2::autoplot(figure)$labels$caption, "Palmer Archipelago.; error bars: 95 % intervals")
})

test_that("a figure tells which rows and values its numbers are of", {
  rule <- "values outside 0 to 50,000 count as the nearer bound"
  same <- figure_of(list(conditions = rule), list(conditions = rule, label = "other"))
  expect_equal(as_tibble(same)$conditions, c(rule, rule))
  expect_equal(sum(grepl(rule, format(same), fixed = TRUE)), 1)
  varied <- figure_of(list(conditions = "region in West"), list(conditions = ""))
  expect_match(format(varied)[2], "mean body_mass_g: region in West", fixed = TRUE)
  expect_equal(as_tibble(figure_of(list()))$conditions, "") # from an earlier version of the service
  skip_if_not_installed("ggplot2")
  expect_match(ggplot2::autoplot(same)$labels$caption, rule, fixed = TRUE)
  panels <- levels(ggplot2::autoplot(varied)$data$panel)
  expect_equal(panels, c("mean body_mass_g: region in West", "mean body_mass_g"))
})

test_that("dates of a figure are dates, and times are those of its clocks", {
  day <- figure_of(
    list(value = 19790.4, interval_lower = 19780.6, interval_upper = 19800.2, value_as_date = "2024-03-08")
  )
  expect_equal(as_tibble(day)$value, as.Date("2024-03-08"))
  expect_equal(as_tibble(day)$conf_low, as.Date("2024-02-27"))
  expect_equal(as_tibble(day)$conf_high, as.Date("2024-03-19"))
  days <- figure_of(list(value = 19790.4, value_as_date = "2024-03-08", unit = "days"))
  expect_equal(as_tibble(days)$unit, "")
  expect_no_match(format(days), "days")
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    expect_equal(levels(ggplot2::autoplot(days)$data$panel), "mean body_mass_g")
  }
  for (seconds in c(3600, 60, 1)) {
    noon <- as.numeric(as.POSIXct("2024-03-08 12:00", "UTC")) / seconds
    at <- figure_of(list(value = noon, interval_lower = noon - 1, interval_upper = noon + 0.5,
      value_as_date = "2024-03-08T12:00:00"))
    expect_equal(as_tibble(at)$conf_low, as.POSIXct("2024-03-08 12:00", "UTC") - seconds)
    expect_equal(as_tibble(at)$conf_high, as.POSIXct("2024-03-08 12:00", "UTC") + seconds)
  }
  mixed <- figure_of(list(value_as_date = "2024-03-08", lower_edge = "2024-01-01"), list(lower_edge = 3))
  expect_type(as_tibble(mixed)$value, "double")
  expect_equal(as_tibble(mixed)$lower, c(NA, 3))
})

test_that("bins are bars, cells a grid, and several measures have panels", {
  skip_if_not_installed("ggplot2")
  count <- function(...) list(measure = "count", ...)
  drawn <- function(...) ggplot2::ggplot_build(ggplot2::autoplot(figure_of(...)))
  bars <- drawn(count(label = "[0, 1)", lower_edge = 0, upper_edge = 1), count(label = "missing", value = 2))
  expect_equal(bars$data[[1]]$xmax, 1)
  expect_match(bars$plot$labels$caption, "missing 2")
  grid <- drawn(count(group = "a", label = "x"), count(group = "b", label = "x"), count(label = "outside"))
  expect_equal(nrow(grid$data[[1]]), 2)
  panels <- drawn(list(measure = "slope", label = "slope"), list(measure = "intercept", label = "intercept"))
  expect_equal(nrow(panels$layout$layout), 2)
})

test_that("what is no answer cannot be published", {
  sent <- local_answers(answer(500))
  for (odd in list(NULL, 1, character(), NA_character_, list(), make_release(rehearsed = TRUE))) {
    expect_error(sl_publish(of_away(), "a", "A", odd), class = "snapledger_invalid_argument")
  }
  expect_length(sent$requests, 0)
})

test_that("a withdrawal whose answer is lost is not sent again", {
  sent <- local_answers(lost)
  expect_error(sl_withdraw(of_away(), "mass"), "may have taken effect", class = "snapledger_unreachable")
  expect_length(sent$requests, 1)
  sent <- local_answers(answer(429), answer(204, ""))
  expect_null(sl_withdraw(of_away(), "mass"))
  expect_length(sent$requests, 2)
})

test_that("every kind of answer is published, read, listed, drawn and withdrawn", {
  skip_without_service()
  ask <- function(statistic, name = "penguins") {
    sl_release(sl_dataset(sl_connect(), name), statistic, epsilon = 1, reuse = if (name == "penguins") FALSE)
  }
  answers <- list(
    line = sl_release(penguins(), sl_regression(body_mass_g ~ bill_length_mm), epsilon = 4, alpha = 0.1),
    batch = sl_batch(penguins(), sl_mean("body_mass_g"), sl_histogram("species"), epsilon = 1, reuse = FALSE),
    mean = ask(sl_mean("body_mass_g")), bins = ask(sl_histogram("body_mass_g", bins = 5)),
    cells = ask(sl_table("species", "body_mass_g", bins = list(NULL, 2))), date = ask(sl_mean("admitted"), "visits"),
    months = ask(sl_count(group_by = sl_periods("admitted", "month")), "visits"),
    time = ask(sl_mean("arrived"), "visits")
  )
  for (name in names(answers)) {
    dataset <- sl_dataset(sl_connect(), if (name %in% c("months", "date", "time")) "visits" else "penguins")
    expect_gte(sl_publish(dataset, name, name, answers[[name]])$version, 1)
    figure <- sl_figure(dataset, name)
    numbers <- as_tibble(figure)
    expected <- as_tibble(answers[[name]])
    if (name != "line") { # which is derived again, from the most accurate releases until then
      expect_equal(numbers$value, expected$value)
      expect_equal(numbers$conf_low, expected$conf_low)
      expect_equal(numbers$conf_high, expected$conf_high)
    }
    expect_equal(nrow(numbers), nrow(expected))
    if (!name %in% c("batch", "cells")) expect_equal(numbers$lower, expected$lower)
    expect_match(format(figure)[1], sprintf("%s: figure %s of", name, name))
    if (requireNamespace("ggplot2", quietly = TRUE)) expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(figure)))
    sl_withdraw(dataset, name)
    expect_error(sl_figure(dataset, name), class = "snapledger_not_found")
  }
})

test_that("an answer is published as it was given, though an earlier release answered", {
  skip_without_service()
  within <- c(2500, 6500)
  total <- sl_release(penguins(), sl_sum("body_mass_g", bounds = within), epsilon = 0.1, reuse = FALSE)
  mass <- sl_release(penguins(), sl_mean("body_mass_g", bounds = within), epsilon = 0.05, alpha = 0.2)
  expect_equal(mass$id, total$id)
  sl_publish(penguins(), "given", "Mass", mass)
  numbers <- as_tibble(sl_figure(penguins(), "given"))
  expect_equal(numbers$value, mass$value_in_range)
  expect_equal(numbers$alpha, 0.2)
  sl_publish(penguins(), "given", "Total", mass$id)
  expect_equal(as_tibble(sl_figure(penguins(), "given"))$value, total$value_in_range)
  sl_withdraw(penguins(), "given")
})

test_that("versions stay, and viewers and everybody see what they may", {
  skip_without_service()
  first <- sl_release(penguins(), sl_mean("body_mass_g"), epsilon = 0.1, reuse = FALSE)
  second <- sl_release(penguins(), sl_mean("body_mass_g"), epsilon = 0.1, reuse = FALSE)
  before <- sl_publish(penguins(), "kept", "Kept", first$id)$version
  expect_equal(sl_publish(penguins(), "kept", "Kept", second)$version, before + 1)
  expect_equal(sl_publish(penguins(), "kept", "Kept", second)$version, before + 1)
  expect_equal(sl_figure_versions(penguins(), "kept")$version, seq_len(before + 1))
  expect_equal(as_tibble(sl_figure(penguins(), "kept", before))$value, first$value_in_range)
  expect_equal(sl_figures(penguins(), "KEPT")$figure, "kept")
  expect_equal(nrow(sl_figures(sl_connect(), "no such figure")), 0)
  expect_error(sl_publish(penguins(), "open", "Open", first, public = TRUE), class = "snapledger_forbidden")
  sl_publish(owned_penguins(), "open", "Open", first, note = "For all.", public = TRUE)
  expect_equal(sl_figures(sl_connect(), "open")$audience, "public")
  sl_grant_viewer(owned_penguins(), "ada")
  expect_equal(sl_viewers(owned_penguins())$principal, "ada")
  sl_revoke_viewer(owned_penguins(), "ada")
  expect_equal(nrow(sl_viewers(owned_penguins())), 0)
})

test_that("a figure is changed only as it was read, or made only if there is none", {
  skip_without_service()
  released <- sl_release(penguins(), sl_mean("body_mass_g"), epsilon = 0.1, reuse = FALSE)
  publish <- function(...) sl_publish(penguins(), "shared", ..., answer = released)
  expect_error(publish("None yet", if_match = "*"), class = "snapledger_precondition_failed")
  publish("First", only_new = TRUE)
  expect_error(publish("Again", only_new = TRUE), class = "snapledger_already_exists")
  first <- sl_figure(penguins(), "shared")
  expect_equal(publish("Second", if_match = first)$title, "Second")
  for (late in list(first, first$etag)) {
    expect_error(publish("Third", if_match = late), class = "snapledger_precondition_failed")
    expect_error(sl_withdraw(penguins(), "shared", if_match = late), class = "snapledger_precondition_failed")
  }
  expect_equal(sl_figure(penguins(), "shared")$title, "Second")
  sl_withdraw(penguins(), "shared", if_match = sl_figure(penguins(), "shared"))
  expect_error(sl_figure(penguins(), "shared"), class = "snapledger_not_found")
})

test_that("a condition has an entity tag, and such a change is not sent again", {
  sent <- local_answers(answer(500))
  for (odd in list(figure_of(list()), list(), "", NA_character_, c("a", "b"), 1, "a\nb", TRUE)) {
    expect_error(sl_publish(of_away(), "a", "A", "r1", if_match = odd), "`if_match`",
      class = "snapledger_invalid_argument"
    )
  }
  expect_error(sl_publish(of_away(), "a", "A", "r1", only_new = NA), class = "snapledger_invalid_argument")
  expect_length(sent$requests, 0)
  for (condition in list(list(if_match = "\"tag\""), list(only_new = TRUE))) {
    sent <- local_answers(lost)
    publish <- function() do.call(sl_publish, c(list(of_away(), "a", "A", "r1"), condition))
    expect_error(publish(), "may have taken effect", class = "snapledger_unreachable")
    expect_length(sent$requests, 1)
  }
  expect_equal(sent$requests[[1]]$headers$`If-None-Match`, "*")
})

test_that("the answer of another statistic is published as what was asked", {
  skip_without_service()
  total <- sl_release(penguins(), sl_sum("body_mass_g"), epsilon = 0.1, reuse = FALSE)
  sl_publish(penguins(), "as-mean", "Mean", total, statistic = sl_mean("body_mass_g"))
  expect_equal(as_tibble(sl_figure(penguins(), "as-mean"))$measure, "mean")
  sl_withdraw(penguins(), "as-mean")
  sent <- local_answers(answer(500))
  for (odd in list("mean", sl_mean("body_mass_g", where = species == "Adelie"))) {
    expect_error(
      sl_publish(of_away(), "a", "A", "r1", statistic = odd), "`statistic`", class = "snapledger_invalid_argument"
    )
  }
  expect_error(sl_publish(of_away(), "a", "A", c("r1", "r2"), statistic = sl_mean("x")), "one release")
  expect_length(sent$requests, 0)
})
