# The tests of a service need one that `make test-r` starts, with the penguins on
# it: SNAPLEDGER_URL, SNAPLEDGER_KEY of an analyst and SNAPLEDGER_OWNER_KEY.

skip_without_service <- function() {
  skip_if(Sys.getenv("SNAPLEDGER_OWNER_KEY") == "", "no service is running")
}

penguins <- function(...) sl_dataset(sl_connect(...), "penguins")

owned_penguins <- function() penguins(key = Sys.getenv("SNAPLEDGER_OWNER_KEY"))

# Answers calls with functions of the request, one after the other, and returns what was sent.
local_answers <- function(..., env = parent.frame()) {
  answers <- list(...)
  sent <- new.env()
  sent$requests <- list()
  rlang::local_options(httr2_mock = function(request) {
    sent$requests <- c(sent$requests, list(request))
    answers[[min(length(sent$requests), length(answers))]](request)
  }, .frame = env)
  sent
}

answer <- function(status, body = "{}", headers = list()) {
  function(request) {
    httr2::response(
      status_code = status, headers = c(list(`Content-Type` = "application/json"), headers), body = charToRaw(body)
    )
  }
}

lost <- function(request) rlang::abort("Connection reset", class = c("httr2_failed", "httr2_failure"))

away <- function(retries = 3) sl_connect("http://127.0.0.1:9", key = "secret-key", retries = retries, backoff = 0)

of_away <- function(...) sl_dataset(away(...), "penguins")

header_of <- function(request, name) request$headers[[name]]

# A release as the service sends it.
RELEASE <- '{"id": "r1", "dataset": "penguins", "statistic": {"kind": "mean", "column": "body_mass_g"},
  "value": 4209.1, "value_in_range": 4209.1, "value_exact": "4209.1", "unit": "g", "columns": {}, "reused": false,
  "accuracy": {"alpha": 0.05, "radius": 115.2, "tight_radius": 115.2, "interval": [4093.9, 4324.3]},
  "privacy": {"epsilon": "0.1"}, "treatment": {}, "summary": "",
  "budget": {"charged": "0.1", "dataset_remaining": "9.9", "allowance_remaining": "0.123456789"}}'

# Returns RELEASE with other members; those of its accuracy are added.
make_release <- function(..., accuracy = list()) {
  document <- jsonlite::parse_json(RELEASE)
  given <- list(...)
  document[names(given)] <- given
  document$accuracy[names(accuracy)] <- accuracy
  snapledger:::as_release(document, "GET /")
}
