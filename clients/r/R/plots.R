#' Draw answers
#'
#' `ggplot2::autoplot()` draws the values of a release, a derived statistic, a
#' batch or a figure with their intervals, and the curve of a plan. Add scales and themes as
#' to any plot. `plot()` prints it.
#'
#' @param object,x A release, a derived statistic, a batch, a figure or a plan with a
#'   curve.
#' @param ... Not used.
#' @returns A ggplot.
#' @name autoplot
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL")) && requireNamespace("ggplot2", quietly = TRUE)
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' species <- sl_release(penguins, sl_histogram("species"), accuracy = 20)
#' ggplot2::autoplot(species)
NULL

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.snapledger_estimate <- function(object, ...) draw_points(object, object$statistic)

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.snapledger_histogram <- function(object, ...) {
  if (!is.null(object$axes)) {
    return(draw_table(object))
  }
  numbers <- tibble::as_tibble(object)
  has_intervals <- !all(is.na(numbers$lower))
  if (has_intervals) draw_bars(object, numbers) else draw_points(object, object$statistic)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.snapledger_derived <- function(object, ...) {
  edges <- object$edges
  is_curve <- object$derived$kind == "cumulative" && !is.null(edges) && all(vapply(edges, is.numeric, NA))
  if (is_curve) draw_curve(object, unlist(edges)) else draw_points(object, object$derived)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.snapledger_batch <- function(object, ...) {
  numbers <- tibble::as_tibble(object)
  numbers$label[numbers$label == numbers$statistic] <- "" # the panel has the name
  numbers$item <- factor(numbers$item, unique(numbers$item))
  point_plot(numbers) +
    ggplot2::facet_wrap(ggplot2::vars(.data$item), ncol = 1, scales = "free") +
    ggplot2::labs(x = NULL, y = NULL, title = if (is_rehearsal(object)) "Rehearsal with made-up data")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.snapledger_plan <- function(object, ...) {
  points <- tibble::as_tibble(object)
  ggplot2::ggplot(points, ggplot2::aes(.data$epsilon, .data$radius)) +
    (if (nrow(points) > 1) ggplot2::geom_line()) +
    ggplot2::geom_point(
      data = tibble::tibble(epsilon = as.numeric(object$privacy$epsilon), radius = object$accuracy$radius)
    ) +
    ggplot2::scale_x_log10() +
    ggplot2::scale_y_log10() +
    ggplot2::labs(
      title = describe_statistic(object$statistic), x = "\u03b5",
      y = append_unit(sprintf("radius (%s)", format_level(object$accuracy$alpha)), unit_of(object))
    )
}

#' @rdname autoplot
#' @export
plot.snapledger_answer <- function(x, ...) {
  rlang::check_installed("ggplot2", "to draw answers.")
  print(ggplot2::autoplot(x))
  invisible(x)
}

draw_points <- function(answer, statistic) {
  numbers <- title_numbers(answer, statistic)
  unit <- unique(numbers$unit)
  if (nrow(numbers) == 1) numbers$label <- "" # the title says it
  point_plot(numbers) + ggplot2::labs(
    title = name_answer(answer, statistic), caption = describe_error_bars(answer), y = NULL,
    x = if (length(unit) == 1 && nzchar(unit)) unit
  )
}

# Returns the values as points with their intervals, the first one at the top.
point_plot <- function(numbers) {
  labels <- shorten_numbers(numbers$label)
  numbers$label <- factor(labels, rev(unique(labels)))
  ggplot2::ggplot(numbers, ggplot2::aes(.data$value, .data$label)) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$conf_low, xmax = .data$conf_high), na.rm = TRUE) +
    ggplot2::geom_point(size = 2, na.rm = TRUE)
}

draw_curve <- function(derived, edges) {
  numbers <- tibble::as_tibble(derived)
  numbers$edge <- edges
  column <- derived$derived$column
  ggplot2::ggplot(numbers, ggplot2::aes(.data$edge, .data$value)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$conf_low, ymax = .data$conf_high), fill = "grey80", na.rm = TRUE) +
    ggplot2::geom_line(na.rm = TRUE) +
    ggplot2::labs(
      title = name_answer(derived, derived$derived), x = title_column(column, derived$columns[[column]]),
      y = "rows below", caption = sprintf("band: %s intervals", format_level(derived$alpha))
    )
}

# Returns a histogram of intervals; values that are in none, such as missing ones, are in the caption.
draw_bars <- function(release, numbers) {
  column <- binned_column(release$statistic)
  bar_plot(
    numbers, name_answer(release, release$statistic), title_column(column, release$columns[[column]]),
    if (release$statistic$kind == "sum") "sum" else "rows", describe_error_bars(release)
  )
}

bar_plot <- function(numbers, title, x, y, caption, is_count = TRUE) {
  inside <- !is.na(numbers$lower) & !is.na(numbers$upper)
  others <- numbers[!inside, ]
  others <- if (nrow(others) > 0) paste(others$label, format_numbers(others, is_count)$value, collapse = ", ")
  ggplot2::ggplot(numbers[inside, ], ggplot2::aes(
    xmin = .data$lower, xmax = .data$upper, ymin = 0, ymax = .data$value
  )) +
    ggplot2::geom_rect(fill = "grey80", colour = "white") +
    ggplot2::geom_linerange(ggplot2::aes(
      x = .data$lower + (.data$upper - .data$lower) / 2, ymin = .data$conf_low, ymax = .data$conf_high
    )) +
    ggplot2::labs(title = title, x = x, y = y, caption = paste(c(others, caption), collapse = "; "))
}

# Returns what a column is called, with its unit.
title_column <- function(column, texts) {
  unit <- if (!is.null(texts$unit)) sprintf("(%s)", texts$unit)
  paste(c(as_one_text(texts$label, column), unit), collapse = " ")
}

draw_table <- function(release) {
  columns <- unlist(release$statistic$columns)
  cells <- tibble::as_tibble(release)
  tile_plot(
    cells[!is.na(cells$row), ], name_answer(release, release$statistic), columns[2], columns[1], "rows",
    describe_radius(release)
  )
}

# Returns a grid of the cells, each in its `row` and `column`.
tile_plot <- function(cells, title, x, y, legend, caption, is_count = TRUE) {
  cells$row <- factor(shorten_numbers(cells$row), rev(unique(shorten_numbers(cells$row))))
  cells$column <- factor(shorten_numbers(cells$column), unique(shorten_numbers(cells$column)))
  ggplot2::ggplot(cells, ggplot2::aes(.data$column, .data$row, fill = .data$value)) +
    ggplot2::geom_tile() +
    ggplot2::geom_text(ggplot2::aes(label = format_numbers(cells, is_count)$value)) +
    ggplot2::scale_fill_gradient(low = "white", high = "steelblue", name = legend) +
    ggplot2::labs(title = title, x = x, y = y, caption = caption)
}

describe_radius <- function(release) {
  sprintf("each \u00b1 %s (%s)", format_error(release$accuracy$radius, TRUE), format_level(release$accuracy$alpha))
}

describe_error_bars <- function(answer) sprintf("error bars: %s intervals", format_level(alpha_of(answer)))
