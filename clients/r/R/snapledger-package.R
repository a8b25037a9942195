#' Differentially private statistics from a Snapledger service
#'
#' Connect with [sl_connect()], choose a dataset with [sl_dataset()], see what a
#' statistic would cost with [sl_plan()], and release it with [sl_release()].
#' [sl_batch()] releases many at once, and [sl_budget()] says what is left.
#' [sl_publish()] publishes an answer, and [sl_figure()] reads one that is published.
#' Owners register tables with [sl_register()].
#'
#' All answers print with their error bars. [tibble::as_tibble()] has their
#' numbers as a table, [stats::confint()] their intervals, and
#' `ggplot2::autoplot()` draws them. An answer is a list of what the service
#' sent, so `release$accuracy$radius` and `release$privacy$epsilon` are there
#' too. Each \eqn{\epsilon}{epsilon} of an answer is an exact decimal, as text.
#'
#' @keywords internal
#' @importFrom rlang .data
#' @importFrom stats coef confint
#' @importFrom tibble as_tibble
"_PACKAGE"

#' @export
tibble::as_tibble
