#' Register a table
#'
#' For owners. `sl_register()` uploads a table and declares what everybody with
#' access may know of it. `sl_draft()` makes a draft of the declaration, which the
#' service does not keep.
#'
#' A draft has values of the table, such as the smallest one of a column, so it is for
#' you alone. Bounds and categories must come from what is known without the data.
#' `sl_confirm()` takes the columns that you want to register from a draft, each with
#' the members that you replace; other columns are left out, and will not be stored.
#'
#' @param connection A connection of [sl_connect()].
#' @param table A data frame, or the path of a CSV, Parquet or Excel file. Of a data
#'   frame, factors are sent as text, and times with their offset from UTC.
#' @param name The name of the new dataset.
#' @param columns The declaration of each column, as a named list, or a draft of
#'   `sl_confirm()`.
#' @param epsilon_limit The \eqn{\epsilon}{epsilon} that may be spent on the dataset in
#'   its whole life.
#' @param ... Of `sl_confirm()`: for each column, a list of the members that you know
#'   without the data; an empty one confirms those of the draft. Of `sl_register()`:
#'   other members of the registration, such as `unit_column`, `succeeds` or
#'   `null_values`.
#' @param rows_per_unit How many rows a person or another protected unit has at most.
#' @param description What the data is.
#' @param draft A draft of `sl_draft()`.
#' @param format What a file may not show, such as `list(encoding = "cp1252")`.
#' @param has_header Whether a line of the file has the names of the columns.
#' @returns `sl_draft()` and `sl_confirm()`: a draft; `draft$metadata$columns` has the
#'   columns, and `draft$left_out` says why others are not in it. `sl_register()`: the
#'   facts of the dataset, as [sl_describe()], and what its owner learns once of how
#'   they fit the values, in `report`.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' people <- data.frame(age = c(31, 64), sex = c("f", "m"), shoe_size = c(38, 44))
#' draft <- sl_draft(owner, people)
#' draft
#' confirmed <- sl_confirm(draft, age = list(bounds = c(0, 120)), sex = list(categories = c("f", "m", "x")))
#' name <- paste0("people-", as.integer(Sys.time()))
#' sl_register(owner, name, people, confirmed, epsilon_limit = 5)
#' sl_delete_dataset(sl_dataset(owner, name))
sl_register <- function(connection, name, table, columns, epsilon_limit, ..., rows_per_unit = 1, description = NULL) {
  drafted <- if (inherits(columns, "snapledger_draft")) columns$metadata
  metadata <- list(
    name = name, epsilon_limit = decimal_text(epsilon_limit, "`epsilon_limit`"),
    rows_per_unit = as.integer(check_number(rows_per_unit, "rows_per_unit", 1)),
    columns = as_declarations(if (is.null(drafted)) columns else drafted$columns)
  )
  metadata <- c(metadata, compact(list(description = description)), lapply(list(...), as_lists))
  # Of a data frame, only an empty field is a missing value: the text "NA" is a value.
  if (is.data.frame(table) && is.null(metadata$null_values)) metadata$null_values <- ""
  metadata$null_values <- if (!is.null(metadata$null_values)) as.list(metadata$null_values)
  metadata <- c(metadata, drafted[setdiff(names(drafted), names(metadata))])
  document <- upload(connection, make_path("dataset-uploads"), metadata, table, repeatable = FALSE)
  as_answer(document, "snapledger_facts", c("name", "n", "columns"), "The registration")
}

#' @rdname sl_register
#' @export
sl_draft <- function(connection, table, format = NULL, has_header = TRUE) {
  known <- c(list(has_header = check_flag(has_header, "has_header")), compact(list(format = as_lists(format))))
  document <- upload(connection, make_path("draft-uploads"), known, table)
  as_answer(document, "snapledger_draft", c("metadata", "left_out"), "The draft")
}

#' @rdname sl_register
#' @export
sl_confirm <- function(draft, ...) {
  if (!inherits(draft, "snapledger_draft")) refuse("`draft` must be a draft of `sl_draft()`.")
  known <- list(...)
  if (length(known) == 0 || is.null(names(known)) || !all(nzchar(names(known)))) {
    refuse("Name the columns that you confirm: `sl_confirm(draft, age = list(bounds = c(0, 120)))`.")
  }
  missing <- setdiff(names(known), names(draft$metadata$columns))
  if (length(missing) > 0) refuse("The draft has no column `%s`.", missing[1])
  draft$metadata$columns <- Map(function(members, column) {
    if (!is.list(members) || length(members) > length(names(members))) {
      refuse("Give the members of a column as a list: `age = list(bounds = c(0, 120))`.")
    }
    column[names(members)] <- members
    column[setdiff(names(column), "unconfirmed")]
  }, known, draft$metadata$columns[names(known)])
  draft
}

#' @export
format.snapledger_draft <- function(x, ...) {
  columns <- x$metadata$columns
  unconfirmed <- vapply(columns, function(column) paste(unlist(column$unconfirmed), collapse = " and "), "")
  open <- unconfirmed[nzchar(unconfirmed)]
  c(
    sprintf("<snapledger draft> %d columns", length(columns)),
    if (length(open) > 0) {
      c("Values of the table, to confirm by what is known without it (see `sl_confirm()`):",
        shorten(sprintf("  %s: %s", names(open), open)))
    },
    vapply(x$left_out, function(each) {
      sprintf("left out: %s: %s", as_one_text(each$column, ""), as_one_text(each$reason, ""))
    }, "")
  )
}

#' @export
print.snapledger_draft <- function(x, ...) {
  cat(wrap_sentences(format(x)), sep = "\n")
  invisible(x)
}

# Returns declarations of columns with lists where JSON has lists, also for one value.
as_declarations <- function(columns) {
  if (is.null(columns)) {
    return(NULL)
  }
  is_named <- is.list(columns) && !is.null(names(columns)) && all(nzchar(names(columns)))
  if (!is_named || !all(vapply(columns, is.list, NA))) {
    refuse("`columns` must have a list for each column: `list(age = list(kind = \"integer\", bounds = c(0, 120)))`.")
  }
  lapply(columns, function(column) {
    if (!is.null(column$bounds)) column$bounds <- value_texts(as_sequence(column$bounds), "a bound")
    if (!is.null(column$null_value)) column$null_value <- as_json_value(column$null_value)
    members <- intersect(names(column), c("categories", "true_values", "false_values", "unconfirmed"))
    column[members] <- lapply(column[members], function(texts) as.list(as.character(unlist(texts))))
    if (!is.null(column$category_labels)) column$category_labels <- as.list(column$category_labels)
    column
  })
}

as_sequence <- function(values) if (inherits(values, "POSIXlt")) as.POSIXct(values) else values

as_json_value <- function(value) if (is.logical(value)) value else value_text(value)

# Returns vectors of several values as lists, and vectors with names as objects.
as_lists <- function(value) {
  if (is.list(value)) {
    return(lapply(value, as_lists))
  }
  if (length(value) > 1 || !is.null(names(value))) as.list(value) else value
}

# Sends a table with its metadata; a data frame by way of a temporary file.
upload <- function(connection, path, metadata, table, repeatable = TRUE) {
  check_connection(connection)
  if (is.data.frame(table)) {
    file <- tempfile(fileext = ".csv")
    on.exit(unlink(file))
    write_table(table, file)
  } else {
    is_path <- is.character(table) && length(table) == 1 && !is.na(table)
    if (!is_path) refuse("`table` must be a data frame or the path of a file.")
    if (!file.exists(table) || dir.exists(table)) refuse("There is no file `%s`.", table)
    file <- table
  }
  send(connection, "POST", path, metadata, repeatable = repeatable, table = curl::form_file(file))
}

# Writes a data frame as CSV in UTF-8, with dates and times in ISO 8601 and numbers as the decimals that R prints.
write_table <- function(table, file) {
  is_flat <- vapply(table, function(column) is.atomic(column) && is.null(dim(column)), NA)
  if (!all(is_flat)) refuse("`table` has a column that is no vector: `%s`.", names(table)[!is_flat][1])
  if (ncol(table) == 0 || nrow(table) == 0) refuse("`table` has no values.")
  written <- as.data.frame(lapply(table, write_column), stringsAsFactors = FALSE)
  names(written) <- names(table)
  is_text <- which(vapply(table, function(column) is.character(column) || is.factor(column), NA))
  connection <- file(file, "w", encoding = "UTF-8")
  on.exit(close(connection))
  header <- paste0("\"", gsub("\"", "\"\"", enc2utf8(names(table)), fixed = TRUE), "\"", collapse = ",")
  writeLines(header, connection)
  utils::write.table(written, connection,
    sep = ",", quote = is_text, qmethod = "double", na = "", row.names = FALSE, col.names = FALSE
  )
}

write_column <- function(column) {
  texts <- if (inherits(column, "Date")) {
    format(column, "%Y-%m-%d")
  } else if (inherits(column, "POSIXt")) {
    sub("(\\d{2})(\\d{2})$", "\\1:\\2", format(column, "%Y-%m-%dT%H:%M:%OS6%z"))
  } else if (is.logical(column)) {
    tolower(as.character(column))
  } else if (is.numeric(column) && !is.object(column)) {
    write_numbers(column)
  } else {
    enc2utf8(as.character(column))
  }
  texts[is.na(column)] <- NA
  texts
}
