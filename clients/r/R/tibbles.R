#' Numbers of answers as tibbles
#'
#' @param x An answer: a release, a derived statistic, a batch, a figure, a collection,
#'   a plan, a budget, the facts of a dataset, or a list of releases.
#' @param ... Not used.
#' @returns Of releases, derived statistics and batches, a tibble with a row for
#'   each number:
#'   * `label`: the statistic, the bin, the group, the probability or the edge
#'   * `lower`, `upper`: the ends of the bin, `NA` for what is no interval
#'   * `value`: the released number, limited to the statistic's range
#'   * `conf_low`, `conf_high`: its interval, `NA` where nothing is known
#'   * `unit`: the unit, `""` if none is declared
#'
#'   Values of a column of dates are dates or, of a timestamp, times as the clocks
#'   of its zone show them. A two-way table has `row` and `column`, too. A batch
#'   or a list of releases has `item` (its name or number) and `statistic`, too;
#'   there, means of dates are numbers of days or other units since 1970, and
#'   bins of dates have only their label.
#'
#'   A rehearsal has `rehearsed`, which is `TRUE`.
#'
#'   Of a figure, a row for each number in the same way, with `measure` (such as
#'   `mean`), the `columns` of the table that it is about, `group` (the group, or in
#'   a two-way table the first column's bin), `alpha`, the `epsilon` and the time of
#'   the release (`released_at`), and `conditions`: in words, its filter and the rules
#'   for missing values and values outside the bounds. Of a collection, a row for each
#'   figure.
#'
#'   Of a plan, its `epsilon` and `radius`, or those of each point of its curve;
#'   of a derived statistic's or a batch's plan, a row for each release. Of a
#'   budget, a row for each account: the dataset's, yours, and those of `principal`,
#'   if you may see them. Of facts, a row for each column.
#' @name answers_as_tibbles
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' species <- sl_release(penguins, sl_histogram("species"), accuracy = 20)
#' tibble::as_tibble(species)
NULL

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_estimate <- function(x, ...) {
  dates <- x$accuracy$interval_as_date
  interval <- if (is.null(dates)) x$accuracy$interval else dates
  value <- if (is.null(dates)) x$value_in_range else x$value_as_date
  unit <- if (is.null(dates)) unit_of(x) else ""
  mark_rehearsal(tabulate_numbers(describe_statistic(x$statistic), value, interval[1], interval[2], unit = unit), x)
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_histogram <- function(x, ...) {
  numbers <- tabulate_numbers(
    labels_of(x), x$value_in_range, pick(x$accuracy$interval, 1), pick(x$accuracy$interval, 2), bins_of(x), unit_of(x)
  )
  numbers <- mark_rehearsal(numbers, x)
  if (is.null(x$axes)) {
    return(numbers)
  }
  rows <- axis_labels(x$axes[[1]])
  columns <- axis_labels(x$axes[[2]])
  cells <- seq_len(length(rows) * length(columns))
  tibble::add_column(numbers,
    row = c(rep(rows, each = length(columns)), rep(NA, nrow(numbers) - length(cells))),
    column = c(rep(columns, length(rows)), rep(NA, nrow(numbers) - length(cells))),
    .after = "label"
  )
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_derived <- function(x, ...) {
  is_one <- length(x$estimates) == 1
  numbers <- bind_rows(Map(function(estimate, name) {
    is_list <- is.list(estimate$value)
    dates <- !is.null(estimate$interval_as_date)
    value <- if (dates) estimate$value_as_date else estimate$value
    interval <- if (dates) estimate$interval_as_date else estimate$interval
    labels <- if (is_list) derived_labels(x) else if (is_one) describe_statistic(x$derived) else name
    tabulate_numbers(
      labels, if (is_list) value else list(value), if (is_list) pick(interval, 1) else interval[1],
      if (is_list) pick(interval, 2) else interval[2], if (is_list) x$bins,
      if (dates) "" else as_one_text(x$units[[name]], "")
    )
  }, x$estimates, names(x$estimates)))
  mark_rehearsal(numbers, x)
}

# Returns the tibble with a column that says so, if the answer is a rehearsal.
mark_rehearsal <- function(numbers, answer) {
  if (is_rehearsal(answer)) tibble::add_column(numbers, rehearsed = TRUE) else numbers
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_batch <- function(x, ...) tabulate_releases(x$items)

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_releases <- function(x, ...) tabulate_releases(unclass(x))

tabulate_releases <- function(releases) {
  names <- name_items(releases)
  bind_rows(lapply(seq_along(releases), function(at) {
    release <- releases[[at]]
    release$accuracy$interval_as_date <- NULL # one column holds the values of all
    numbers <- tibble::as_tibble(release)
    numbers <- numbers[setdiff(names(numbers), c("row", "column"))]
    for (end in c("lower", "upper")) {
      if (!is.numeric(numbers[[end]])) numbers[[end]] <- rep(NA_real_, nrow(numbers))
    }
    tibble::add_column(numbers,
      item = names[at], statistic = describe_statistic(release$statistic), .before = 1
    )
  }))
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_plan <- function(x, ...) {
  points <- x$curve
  if (is.null(points)) {
    points <- list(list(
      epsilon = x$privacy$epsilon, radius = x$accuracy$radius, tight_radius = x$accuracy$tight_radius,
      reused = x$reused, affordable = x$budget$affordable
    ))
  }
  tibble::tibble(
    epsilon = numbers_of(points, "epsilon"),
    radius = numbers_of(points, "radius"),
    tight_radius = numbers_of(points, "tight_radius"),
    cliff = flags_of(points, "cliff"),
    reused = flags_of(points, "reused"),
    affordable = flags_of(points, "affordable")
  )
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_derived_plan <- function(x, ...) {
  tibble::add_column(tabulate_planned(x$components), role = texts_of(x$components, "role"), .before = 1)
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_batch_plan <- function(x, ...) {
  names <- names(x$items)
  tibble::add_column(tabulate_planned(x$items), item = name_items(x$items), .before = 1)
}

# Returns the name of each item, or its number.
name_items <- function(items) {
  numbers <- as.character(seq_along(items))
  if (is.null(names(items))) numbers else ifelse(nzchar(names(items)), names(items), numbers)
}

tabulate_planned <- function(planned) {
  accuracy <- lapply(planned, function(each) rlang::`%||%`(each$reused_accuracy, each$accuracy))
  tibble::tibble(
    statistic = vapply(planned, function(each) describe_statistic(each$statistic), ""),
    radius = unname(numbers_of(accuracy, "radius")),
    charged = unname(numbers_of(planned, "charged")),
    reused = unname(flags_of(planned, "reused"))
  )
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_budget <- function(x, ...) {
  accounts <- c(list(x), if (!is.null(x$allowance)) list(x$allowance), x$allowances)
  tibble::tibble(
    account = c("dataset", rep("allowance", length(accounts) - 1)),
    principal = texts_of(accounts, "principal"),
    limit = numbers_of(accounts, "epsilon_limit"),
    spent = numbers_of(accounts, "epsilon_spent"),
    remaining = numbers_of(accounts, "epsilon_remaining"),
    renewed_at = as_time(vapply(accounts, function(each) as_one_text(each$window$ends_at, NA_character_), ""))
  )
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_facts <- function(x, ...) {
  columns <- x$columns
  bounds <- lapply(columns, function(each) each$bounds)
  tibble::tibble(
    column = names(columns),
    kind = unname(texts_of(columns, "kind")),
    lower = unname(vapply(bounds, function(each) as_text(each[1][[1]]), "")),
    upper = unname(vapply(bounds, function(each) as_text(each[2][[1]]), "")),
    categories = unname(lapply(columns, function(each) as.character(unlist(each$categories)))),
    nullable = unname(flags_of(columns, "nullable")),
    unit = unname(texts_of(columns, "unit")),
    label = unname(texts_of(columns, "label")),
    description = unname(texts_of(columns, "description"))
  )
}

as_text <- function(value) {
  if (is.null(value)) {
    return(NA_character_)
  }
  if (is.character(value)) value else decimal_text(value)
}

flags_of <- function(items, name) {
  vapply(items, function(each) if (rlang::is_bool(each[[name]])) each[[name]] else NA, NA)
}

# Returns the tibble of numbers; values and ends may be lists with NULL for what is unknown.
tabulate_numbers <- function(label, value, conf_low, conf_high, bins = NULL, unit = "") {
  bins <- rlang::`%||%`(bins, rep(list(NULL), length(label)))
  tibble::tibble(
    label = as.character(label),
    lower = as_values(lapply(bins, function(bin) bin$lower)),
    upper = as_values(lapply(bins, function(bin) bin$upper)),
    value = as_values(value),
    conf_low = as_values(conf_low),
    conf_high = as_values(conf_high),
    unit = unit
  )
}

# Returns numbers, or dates or times if the values are text.
as_values <- function(values) {
  values <- lapply(values, function(value) if (is.null(value)) NA else value)
  if (!any(vapply(values, is.character, NA))) {
    return(as.numeric(unlist(values)))
  }
  texts <- as.character(unlist(values))
  if (all(is.na(texts) | nchar(texts) == 10)) as.Date(texts) else as_clock_time(texts)
}

# Returns times as the clocks of their zone show them, labelled UTC.
as_clock_time <- function(texts) {
  texts <- sub("([+-]\\d{2}:?\\d{2}|Z)$", "", texts)
  as.POSIXct(texts, "UTC", tryFormats = c("%Y-%m-%dT%H:%M:%OS", "%Y-%m-%dT%H:%M", "%Y-%m-%d"))
}

pick <- function(pairs, at) lapply(pairs, function(pair) pair[[at]])

bind_rows <- function(tables) if (length(tables) == 0) tibble::tibble() else do.call(rbind, unname(tables))

unit_of <- function(answer) as_one_text(answer$unit, "")

labels_of <- function(release) {
  if (is.null(release$axes)) {
    return(position_labels(release$bins, release$edges, length(release$value)))
  }
  axes <- lapply(release$axes, axis_labels)
  cells <- paste(rep(axes[[1]], each = length(axes[[2]])), rep(axes[[2]], length(axes[[1]])), sep = ", ")
  c(cells, texts_of(as.list(release$bins), "label"))
}

axis_labels <- function(axis) position_labels(axis$bins, axis$edges, length(axis$edges) - 1)

# Returns the label of each position. If there are only edges, positions after the intervals are missing values.
position_labels <- function(bins, edges, count) {
  if (!is.null(bins)) {
    return(texts_of(bins, "label"))
  }
  labels <- label_intervals(edges)
  c(labels, rep("missing", max(0, count - length(labels))))
}

label_intervals <- function(edges) {
  texts <- if (is.numeric(edges[[1]])) write_numbers(unlist(edges)) else vapply(edges, as_text, "")
  closing <- c(rep(")", length(texts) - 2), "]")
  sprintf("[%s, %s%s", texts[-length(texts)], texts[-1], closing)
}

# Returns the interval of each position, or NULL where there is none.
bins_of <- function(release) {
  if (!is.null(release$axes)) {
    return(NULL)
  }
  if (!is.null(release$bins)) {
    return(release$bins)
  }
  edges <- release$edges
  intervals <- Map(function(lower, upper) list(lower = lower, upper = upper), edges[-length(edges)], edges[-1])
  c(intervals, rep(list(NULL), length(release$value) - length(intervals)))
}

# Returns the tibble of an answer with the owner's labels of categories, for people.
title_numbers <- function(answer, statistic) {
  numbers <- tibble::as_tibble(answer)
  if (!is.null(answer$axes)) {
    return(title_cells(numbers, answer))
  }
  titles <- answer$columns[[binned_column(statistic)]]$category_labels
  if (is.null(answer$bins) || length(titles) == 0) {
    return(numbers)
  }
  is_category <- texts_of(answer$bins, "kind") == "category" & numbers$label %in% names(titles)
  numbers$label[is_category] <- unlist(titles[numbers$label[is_category]])
  numbers
}

# Returns the tibble of a two-way table with the owner's labels of categories in the label of each cell.
title_cells <- function(numbers, table) {
  columns <- unlist(table$statistic$columns)
  sides <- Map(function(labels, axis, column) {
    titles <- table$columns[[column]]$category_labels
    categories <- texts_of(axis$bins, "label")[texts_of(axis$bins, "kind") == "category"]
    is_titled <- labels %in% intersect(categories, names(titles))
    labels[is_titled] <- unlist(titles[labels[is_titled]])
    labels
  }, list(numbers$row, numbers$column), table$axes, columns)
  is_cell <- !is.na(numbers$row)
  numbers$label[is_cell] <- paste(sides[[1]], sides[[2]], sep = ", ")[is_cell]
  numbers
}

# Returns the column of the bins or groups of a statistic; an empty text if it has none.
binned_column <- function(statistic) {
  group_by <- statistic$group_by
  column <- rlang::`%||%`(if (is.list(group_by)) group_by$column else group_by, statistic$column)
  as_one_text(column, "")
}

derived_labels <- function(derived) {
  if (!is.null(derived$bins)) {
    return(texts_of(derived$bins, "label"))
  }
  vapply(rlang::`%||%`(derived$edges, derived$derived$probabilities), as_text, "")
}
