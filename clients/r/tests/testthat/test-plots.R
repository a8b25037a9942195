skip_if_not_installed("ggplot2")

drawn <- function(answer) ggplot2::ggplot_build(ggplot2::autoplot(answer))

bars <- function(bins, values, ...) {
  make_release(statistic = list(kind = "histogram", column = "body_mass_g"), value = values,
    value_in_range = values, bins = bins, unit = "",
    accuracy = list(interval = lapply(values, function(value) list(value - 1, value + 1))), ...)
}

test_that("a release is a point with its interval", {
  built <- drawn(make_release())
  expect_equal(built$data[[1]]$xmin, 4093.9)
  expect_equal(built$data[[2]]$x, 4209.1)
  expect_equal(built$plot$labels$x, "g")
})

test_that("bins of numbers are bars, and missing values are in the caption", {
  bins <- list(
    list(kind = "interval", label = "[0, 1)", lower = 0, upper = 1),
    list(kind = "interval", label = "[1, 3]", lower = 1, upper = 3), list(kind = "missing", label = "missing")
  )
  built <- drawn(bars(bins, list(5, 7, 2), columns = list(body_mass_g = list(label = "Body mass", unit = "g"))))
  expect_equal(built$data[[1]]$xmax, c(1, 3))
  expect_equal(built$data[[2]]$ymax, c(6, 8))
  expect_equal(built$plot$labels$x, "Body mass (g)")
  expect_match(built$plot$labels$caption, "missing 2")
})

test_that("categories are points in their order", {
  built <- drawn(bars(list(list(kind = "category", label = "b"), list(kind = "category", label = "a")), list(5, 7)))
  expect_equal(built$layout$panel_params[[1]]$y$get_labels(), c("a", "b"))
})

test_that("a two-way table is a grid", {
  axes <- list(
    list(bins = list(list(kind = "category", label = "a"), list(kind = "category", label = "b"))),
    list(edges = list(0, 1, 2))
  )
  release <- bars(NULL, list(1, 2, 3, 4), axes = axes)
  release$statistic <- list(kind = "histogram", columns = list("x", "y"))
  expect_equal(nrow(drawn(release)$data[[1]]), 4)
  expect_equal(as.matrix(release)["b", "[0, 1)"], 3)
})
