#' Collections of figures
#'
#' A collection is several figures, perhaps of several datasets, in an order: the
#' service shows them on one board. `sl_collections()` lists those that you may see,
#' and `sl_collection()` reads one with those of its figures that you may open.
#'
#' Owners make collections of figures of their own datasets, and admins of all.
#' `sl_put_collection()` makes one or changes it, and the same again changes nothing.
#' `sl_delete_collection()` deletes it; its figures stay published.
#'
#' @param connection A connection of [sl_connect()].
#' @param search Only collections with this text in their name or title.
#' @param name The name of a collection, such as `"penguins-2009"`.
#' @param title What it shows.
#' @param figures The names of datasets and figures in their order, such as
#'   `"penguins/body-mass"`.
#' @param note What readers should know.
#' @param public Whether everybody who reaches the service may see it, without a key,
#'   with its public figures.
#' @param if_match An answer of `sl_collection()` or its `etag`: the collection is
#'   changed or deleted only if it and its figures are still as they were read. Otherwise
#'   the call fails with the class `snapledger_precondition_failed`.
#' @param only_new Whether to make it only if there is no such collection. Otherwise the
#'   call fails with the class `snapledger_already_exists`.
#' @returns `sl_collections()`: a tibble with a row for each. `sl_collection()` and
#'   `sl_put_collection()`: a collection. [tibble::as_tibble()] has a row for each
#'   figure; a withdrawn one has no title. `sl_delete_collection()`: nothing.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' penguins <- sl_dataset(owner, "penguins")
#' counts <- sl_releases(penguins, n_max = 1)
#' if (length(counts) > 0) {
#'   sl_publish(penguins, "first", "The first release", counts)
#'   sl_put_collection(owner, "board", "Penguins", "penguins/first")
#'   tibble::as_tibble(sl_collection(owner, "board"))
#'   sl_delete_collection(owner, "board")
#' }
#' sl_collections(owner)$name
sl_collections <- function(connection, search = NULL) {
  query <- if (!is.null(search)) paste0("&search=", encode_query(search))
  found <- list_items(connection, make_path("collections"), "collections", query = query)
  tibble::tibble(
    name = texts_of(found, "name"),
    title = texts_of(found, "title"),
    note = texts_of(found, "note"),
    audience = texts_of(found, "audience"),
    owner = texts_of(found, "owner"),
    changed_at = times_of(found, "changed_at")
  )
}

#' @rdname sl_collections
#' @export
sl_collection <- function(connection, name) {
  path <- make_path("collections", name)
  as_collection(get_answer(connection, path), paste("GET", path))
}

#' @rdname sl_collections
#' @export
sl_put_collection <- function(connection, name, title, figures, note = NULL, public = FALSE, if_match = NULL,
                              only_new = FALSE) {
  body <- c(list(title = title), compact(list(note = note)), list(figures = lapply(figures, name_figure)))
  if (check_flag(public, "public")) body <- c(body, list(audience = "public", confirm_public = TRUE))
  path <- make_path("collections", name)
  document <- send(connection, "PUT", path, body, condition = condition_of(if_match, only_new))
  as_collection(document, paste("PUT", path))
}

#' @rdname sl_collections
#' @export
sl_delete_collection <- function(connection, name, if_match = NULL) {
  path <- make_path("collections", name)
  send(connection, "DELETE", path, repeatable = FALSE, condition = condition_of(if_match))
  invisible(NULL)
}

as_collection <- function(document, what) {
  members <- c("name", "title", "audience", "figures")
  as_answer(document, c("snapledger_collection", "snapledger_answer"), members, what)
}

name_figure <- function(text) {
  names <- strsplit(as_one_text(text, ""), "/", fixed = TRUE)[[1]]
  if (length(names) != 2 || !all(nzchar(names))) {
    refuse("A figure is named by its dataset and its name, such as \"penguins/body-mass\".")
  }
  list(dataset = names[1], figure = names[2])
}

#' @rdname answers_as_tibbles
#' @export
as_tibble.snapledger_collection <- function(x, ...) {
  tibble::tibble(
    dataset = texts_of(x$figures, "dataset"),
    figure = texts_of(x$figures, "figure"),
    version = as.integer(numbers_of(x$figures, "version")),
    title = texts_of(x$figures, "title"),
    published_at = times_of(x$figures, "published_at"),
    withdrawn = flags_of(x$figures, "withdrawn")
  )
}

#' @export
format.snapledger_collection <- function(x, ...) {
  figures <- tibble::as_tibble(x)
  shown <- ifelse(figures$withdrawn, "a withdrawn figure", sprintf("%s (%s/%s, version %d)",
    figures$title, figures$dataset, figures$figure, figures$version
  ))
  seen_by <- if (identical(x$audience, "public")) "everybody" else "its viewers"
  head <- sprintf("%s: collection %s, for %s", x$title, x$name, seen_by)
  c(head, x$note, shorten(sprintf("  %s", shown)))
}

#' Who sees a collection
#'
#' A viewer of a collection sees the figures that are in it now, and nothing else of
#' their datasets. For its owner; auditors may list them.
#'
#' @inheritParams sl_collections
#' @param principal The name of a person or a program that has a key.
#' @returns `sl_collection_viewers()`: a tibble with a row for each viewer. The
#'   others: nothing.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' for (name in sl_collections(owner)$name) print(sl_collection_viewers(owner, name))
sl_collection_viewers <- function(connection, name) {
  tabulate_viewers(list_items(connection, make_path("collections", name, "viewers"), "viewers"))
}

#' @rdname sl_collection_viewers
#' @export
sl_grant_collection <- function(connection, name, principal) {
  send(connection, "PUT", make_path("collections", name, "viewers", principal))
  invisible(NULL)
}

#' @rdname sl_collection_viewers
#' @export
sl_revoke_collection <- function(connection, name, principal) {
  send(connection, "DELETE", make_path("collections", name, "viewers", principal), repeatable = FALSE)
  invisible(NULL)
}
