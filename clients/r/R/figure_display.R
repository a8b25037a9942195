# Shows figures: as a tibble, as text and as a plot.

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_figure <- function(x, ...) {
  rows <- rlang::`%||%`(x$rows, list())
  numbers <- place_values(rows)
  tibble::tibble(
    measure = texts_of(rows, "measure"),
    columns = texts_of(rows, "columns"),
    group = texts_of(rows, "group"),
    label = texts_of(rows, "label"),
    lower = as_edges(lapply(rows, function(row) row$lower_edge)),
    upper = as_edges(lapply(rows, function(row) row$upper_edge)),
    value = numbers$value,
    conf_low = numbers$conf_low,
    conf_high = numbers$conf_high,
    alpha = numbers_of(rows, "alpha"),
    unit = if (inherits(numbers$value, c("Date", "POSIXct"))) {
      rep("", length(rows)) # a date has none
    } else {
      vapply(rows, function(row) as_one_text(row$unit, ""), "")
    },
    epsilon = numbers_of(rows, "epsilon"),
    released_at = times_of(rows, "released_at"),
    conditions = vapply(rows, function(row) as_one_text(row$conditions, ""), "")
  )
}

# Returns numbers or, if all edges are dates or times, those. In a mixture, edges of dates have only their label.
as_edges <- function(edges) {
  known <- compact(edges)
  is_text <- vapply(known, is.character, NA)
  if (any(is_text) && !all(is_text)) edges <- lapply(edges, function(edge) if (is.character(edge)) NA else edge)
  as_values(edges)
}

# Returns the values and the ends of their intervals, as dates or times if all values are.
place_values <- function(rows) {
  value <- numbers_of(rows, "value")
  ends <- list(numbers_of(rows, "interval_lower"), numbers_of(rows, "interval_upper"))
  dates <- texts_of(rows, "value_as_date")
  is_dated <- length(rows) > 0 && !all(is.na(dates)) && all(is.na(value) == is.na(dates))
  if (!is_dated) {
    return(list(value = value, conf_low = ends[[1]], conf_high = ends[[2]]))
  }
  times <- as_values(as.list(dates))
  to_times <- if (inherits(times, "Date")) as_day else make_clock(value, times)
  list(value = times, conf_low = to_times(floor(ends[[1]])), conf_high = to_times(ceiling(ends[[2]])))
}

as_day <- function(days) as.Date(days, origin = "1970-01-01")

# Returns a function that returns the times of numbers. The service counts them in whole units since 1970, and does
# not say in which; the unit follows from a value that is known in both forms.
make_clock <- function(value, times) {
  known <- which(!is.na(value) & value != 0)[1]
  units <- c(1, 60, 3600, 86400)
  seconds <- units[which.min(abs(log(as.numeric(times[known]) / value[known]) - log(units)))]
  function(numbers) as.POSIXct(numbers * seconds, "UTC", origin = "1970-01-01")
}

#' @export
format.snapledger_figure <- function(x, ...) {
  head <- sprintf("%s: figure %s of %s, version %d", x$title, x$figure, x$dataset, x$version)
  publisher <- if (is.null(x$published_by)) "" else paste(" by", as_one_text(x$published_by, "?"))
  published <- sprintf("published%s at %s", publisher, as_one_text(x$published_at, "?"))
  if (is.null(x$rows)) {
    return(c(head, x$note, published))
  }
  numbers <- tibble::as_tibble(x)
  level <- paste(unique(vapply(numbers$alpha, format_level, "")), collapse = ", ")
  c(
    head, format_rows(title_rows(numbers), is_counted(numbers)), x$note, tell_conditions(numbers),
    sprintf("%s; intervals: %s", published, level)
  )
}

# Returns the conditions of all numbers in a line, or NULL if there are none, or they are not the same.
tell_conditions <- function(numbers) {
  found <- unique(numbers$conditions)
  if (length(found) == 1 && nzchar(found)) sprintf("conditions: %s", found)
}

# Returns labels that end with the conditions, if these are not the same for all numbers.
add_conditions <- function(labels, conditions) {
  if (length(unique(conditions)) < 2) {
    return(labels)
  }
  ifelse(nzchar(conditions), paste(labels, conditions, sep = ": "), labels)
}

is_counted <- function(numbers) numbers$measure %in% COUNTS

# Returns numbers with labels that name the measure and the group where there are several.
title_rows <- function(numbers) {
  measures <- paste(gsub("_", " ", numbers$measure, fixed = TRUE), numbers$columns)
  label <- ifelse(is.na(numbers$group), numbers$label, paste(numbers$group, numbers$label, sep = ", "))
  same <- label == numbers$measure
  label[same] <- trimws(measures[same])
  if (length(unique(measures)) > 1) label[!same] <- paste(trimws(measures[!same]), label[!same], sep = ": ")
  numbers$label <- add_conditions(label, numbers$conditions)
  numbers
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.snapledger_figure <- function(object, ...) {
  numbers <- tibble::as_tibble(object)
  if (nrow(numbers) == 0) refuse("This figure has no numbers: read it with `sl_figure()`.")
  levels <- unique(vapply(numbers$alpha, format_level, ""))
  bars <- sprintf("error bars: %s intervals", paste(levels, collapse = ", "))
  caption <- c(object$note, tell_conditions(numbers), bars)
  is_one <- length(unique(paste(numbers$measure, numbers$columns, numbers$conditions))) == 1
  has_groups <- !all(is.na(numbers$group))
  if (is_one && has_groups) {
    return(draw_cells(numbers, object$title, paste(caption[-length(caption)], collapse = "; ")))
  }
  if (is_one && !all(is.na(numbers$lower) | is.na(numbers$upper))) {
    return(bar_plot(numbers, object$title, numbers$columns[1], figure_axis(numbers), caption, is_counted(numbers)[1]))
  }
  draw_measures(numbers, object$title, caption)
}

figure_axis <- function(numbers) append_unit(gsub("_", " ", numbers$measure[1], fixed = TRUE), numbers$unit[1])

draw_cells <- function(numbers, title, caption) {
  cells <- numbers[!is.na(numbers$group), ]
  cells$row <- cells$group
  cells$column <- cells$label
  columns <- strsplit(cells$columns[1], ", ", fixed = TRUE)[[1]]
  tile_plot(
    cells, title, rlang::`%||%`(columns[2][!is.na(columns[2])], ""), columns[1], figure_axis(cells), caption,
    is_counted(cells)[1]
  )
}

MAX_PANEL <- 80 # characters of a line

# Returns points, with a panel for each measure under the same conditions.
draw_measures <- function(numbers, title, caption) {
  panels <- trimws(paste(gsub("_", " ", numbers$measure, fixed = TRUE), numbers$columns))
  panels <- ifelse(nzchar(numbers$unit), sprintf("%s (%s)", panels, numbers$unit), panels)
  panels <- vapply(add_conditions(panels, numbers$conditions), function(panel) {
    paste(strwrap(panel, MAX_PANEL), collapse = "\n")
  }, "")
  numbers$panel <- factor(panels, unique(panels))
  numbers$label[numbers$label == numbers$measure] <- "" # the panel has the name
  has_groups <- !is.na(numbers$group)
  numbers$label[has_groups] <- paste(numbers$group[has_groups], numbers$label[has_groups], sep = ", ")
  point_plot(numbers) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 1, scales = "free") +
    ggplot2::labs(x = NULL, y = NULL, title = title, caption = paste(caption, collapse = "; "))
}
