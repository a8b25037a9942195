#' Figures
#'
#' A figure is a published answer under a name. Reading one costs nothing.
#' `sl_figures()` lists those that you may see, of a dataset or of all;
#' `sl_figure()` reads one with its numbers, and `sl_figure_versions()` lists its
#' versions.
#'
#' A version never changes: a script that reads one by its number has the same
#' numbers for good.
#'
#' @param of A dataset of [sl_dataset()], or a connection of [sl_connect()].
#' @param search Only figures with this text in their name or title.
#' @param dataset A dataset of [sl_dataset()].
#' @param name The name of a figure.
#' @param version The number of an earlier version. By default, the latest one.
#' @returns `sl_figures()` and `sl_figure_versions()`: a tibble with a row for each.
#'   `sl_figure()`: a figure. [tibble::as_tibble()] has its numbers, with intervals,
#'   units and dates, and `plot()` draws it.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' sl_figures(sl_connect())
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' mass <- sl_release(penguins, sl_histogram("body_mass_g", bins = 5), accuracy = 30)
#' sl_publish(penguins, "body-mass", "Body mass", mass)
#' figure <- sl_figure(penguins, "body-mass")
#' figure
#' tibble::as_tibble(figure)
#' sl_figure_versions(penguins, "body-mass")$version
sl_figures <- function(of, search = NULL) {
  is_dataset <- inherits(of, "snapledger_dataset")
  path <- if (is_dataset) dataset_path(of, "figures") else make_path("figures")
  query <- if (!is.null(search)) paste0("&search=", encode_query(search))
  found <- list_items(if (is_dataset) of$connection else of, path, "figures", query = query)
  tibble::add_column(tabulate_versions(found), audience = texts_of(found, "audience"))
}

#' @rdname sl_figures
#' @export
sl_figure <- function(dataset, name, version = NULL) {
  path <- dataset_path(dataset, "figures", name)
  if (!is.null(version)) path <- sprintf("%s/versions/%d", path, as.integer(check_number(version, "version", 1)))
  as_figure(get_answer(dataset$connection, path), c("rows", FIGURE_MEMBERS), paste("GET", path))
}

#' @rdname sl_figures
#' @export
sl_figure_versions <- function(dataset, name) {
  path <- dataset_path(dataset, "figures", name, "versions")
  tabulate_versions(list_items(dataset$connection, path, "versions"))
}

FIGURE_MEMBERS <- c("dataset", "figure", "version", "title")

as_figure <- function(document, members, what) {
  as_answer(document, c("snapledger_figure", "snapledger_answer"), members, what)
}

tabulate_versions <- function(found) {
  tibble::tibble(
    dataset = texts_of(found, "dataset"),
    figure = texts_of(found, "figure"),
    version = as.integer(numbers_of(found, "version")),
    title = texts_of(found, "title"),
    note = texts_of(found, "note"),
    published_by = texts_of(found, "published_by"),
    published_at = times_of(found, "published_at")
  )
}

#' Publish an answer as a figure
#'
#' Publishing costs nothing: a figure shows answers that were paid before. The
#' owner of the dataset and its analysts publish; an analyst changes only what it
#' published itself. The same answer again changes nothing, another one is a new
#' version. A derived statistic is derived again, from the most accurate releases until
#' then.
#'
#' @inheritParams sl_figures
#' @param name The figure's name, such as `"body-mass"`.
#' @param title What it shows.
#' @param answer A release, a batch or a derived statistic of this dataset; a list of
#'   [sl_releases()]; or the ids of releases.
#' @param statistic Beside one release: the statistic that you asked for, if an earlier
#'   release of another one answered it, such as a sum for a mean. The figure then shows
#'   this one.
#' @param note What readers should know.
#' @param public Whether everybody who reaches the service may read it, without a
#'   key. For owners.
#' @param if_match An answer of [sl_figure()] or its `etag`: only this version is
#'   replaced or withdrawn. If there is another one since, the call fails with the class
#'   `snapledger_precondition_failed`.
#' @param only_new Whether to publish it only if there is no such figure. Otherwise the
#'   call fails with the class `snapledger_already_exists`.
#' @returns `sl_publish()`: the figure, without its numbers. `sl_withdraw()`, which
#'   withdraws it in all its versions: nothing.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_URL"))
#' penguins <- sl_dataset(sl_connect(), "penguins")
#' mass <- sl_release(penguins, sl_mean("body_mass_g"), accuracy = 50)
#' sl_publish(penguins, "mean-mass", "Mean body mass", mass, note = "2007 to 2009.")
#' total <- sl_release(penguins, sl_sum("body_mass_g"), epsilon = 0.5)
#' sl_publish(penguins, "mean-mass", "Mean body mass", total, statistic = sl_mean("body_mass_g"))
#' sl_withdraw(penguins, "mean-mass", if_match = sl_figure(penguins, "mean-mass"))
sl_publish <- function(dataset, name, title, answer, note = NULL, public = FALSE, statistic = NULL, if_match = NULL,
                       only_new = FALSE) {
  path <- dataset_path(dataset, "figures", name)
  body <- c(list(title = title), compact(list(note = note)), figure_source(answer, !is.null(statistic)))
  if (!is.null(statistic)) {
    if (is_derived(check_statistic(statistic)) || is.null(body[["release"]])) {
      refuse("`statistic` goes with one release, and is not derived.")
    }
    body$statistic <- statistic
  }
  if (check_flag(public, "public")) body <- c(body, list(audience = "public", confirm_public = TRUE))
  document <- send(dataset$connection, "PUT", path, body, condition = condition_of(if_match, only_new))
  as_figure(document, FIGURE_MEMBERS, paste("PUT", path))
}

#' @rdname sl_publish
#' @export
sl_withdraw <- function(dataset, name, if_match = NULL) {
  path <- dataset_path(dataset, "figures", name)
  send(dataset$connection, "DELETE", path, repeatable = FALSE, condition = condition_of(if_match))
  invisible(NULL)
}

# Returns the members of a publication that say where its numbers come from.
figure_source <- function(answer, as_released) {
  if (is.list(answer) && is_rehearsal(answer)) refuse("A rehearsal has made-up data: publish a release.")
  if (inherits(answer, "snapledger_derived")) {
    return(list(derived = attr(answer, "request")))
  }
  releases <- releases_of(answer)
  ids <- if (is.character(answer)) answer else if (!is.null(releases)) texts_of(releases, "id")
  if (length(ids) == 0 || anyNA(ids)) {
    refuse("`answer` must be a release, a batch, a derived statistic, or the ids of releases.")
  }
  if (!as_released && any_reused(releases)) {
    list(answers = lapply(releases, answering_release))
  } else if (length(ids) == 1) {
    list(release = ids)
  } else {
    list(releases = as.list(ids))
  }
}

any_reused <- function(releases) any(vapply(releases, function(each) isTRUE(each$reused), NA))

# Returns the releases of an answer in a list; nothing for ids.
releases_of <- function(answer) {
  if (inherits(answer, "snapledger_release")) {
    list(answer)
  } else if (inherits(answer, "snapledger_batch")) {
    unname(answer$items)
  } else if (inherits(answer, "snapledger_releases")) {
    unname(unclass(answer))
  }
}

# Returns a release, and what was asked if an earlier release answered.
answering_release <- function(release) {
  asked <- if (isTRUE(release$reused)) list(statistic = release$statistic, alpha = release$accuracy$alpha)
  c(list(release = release$id), asked)
}

#' Who sees a dataset's figures
#'
#' A viewer sees the figures of a dataset and nothing else of it. For owners;
#' auditors may list them. Everybody who sees the dataset sees its figures anyway.
#'
#' @inheritParams sl_figures
#' @param principal The name of a person or a program that has a key.
#' @returns `sl_viewers()`: a tibble with a row for each viewer. The others: nothing.
#' @export
#' @examplesIf nzchar(Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' owner <- sl_connect(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))
#' penguins <- sl_dataset(owner, "penguins")
#' sl_grant_viewer(penguins, "ada")
#' sl_viewers(penguins)
#' sl_revoke_viewer(penguins, "ada")
sl_viewers <- function(dataset) {
  tabulate_viewers(list_items(dataset$connection, dataset_path(dataset, "viewers"), "viewers"))
}

tabulate_viewers <- function(found) {
  tibble::tibble(
    principal = texts_of(found, "name"),
    display_name = texts_of(found, "display_name"),
    granted_at = times_of(found, "granted_at")
  )
}

#' @rdname sl_viewers
#' @export
sl_grant_viewer <- function(dataset, principal) {
  send(dataset$connection, "PUT", dataset_path(dataset, "viewers", principal))
  invisible(NULL)
}

#' @rdname sl_viewers
#' @export
sl_revoke_viewer <- function(dataset, principal) {
  send(dataset$connection, "DELETE", dataset_path(dataset, "viewers", principal), repeatable = FALSE)
  invisible(NULL)
}
