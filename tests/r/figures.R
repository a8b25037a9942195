# Prints the numbers of releases by their ids, and those of derived statistics, with all digits.
library(snapledger)

EPSILON <- "1.5"

write_numbers <- function(answer) {
  table <- as_tibble(answer)[c("label", "value", "conf_low", "conf_high")]
  table[-1] <- lapply(table[-1], format, digits = 17)
  table
}

penguins <- sl_connect() |> sl_dataset("penguins")
bins <- list(NULL, 3)
batch <- sl_batch(penguins,
  sl_mean("body_mass_g"), sl_variance("bill_length_mm"), sl_covariance("body_mass_g", "bill_length_mm"),
  sl_histogram("body_mass_g", bins = 7), sl_table("species", "body_mass_g", bins = bins),
  sl_sum("bill_length_mm", group_by = "species"), sl_count(where = species == "Adelie" & bill_length_mm > 38.2),
  epsilon = 0.7, reuse = FALSE
)
releases <- lapply(batch$items, write_numbers)
names(releases) <- vapply(batch$items, function(release) release$id, "")

derived <- lapply(
  list(
    sl_sd("body_mass_g"), sl_regression(body_mass_g ~ bill_length_mm), sl_mean("body_mass_g", group_by = "species"),
    sl_quantile("bill_length_mm", bins = 50), sl_cumulative("body_mass_g", bins = 7)
  ),
  function(statistic) {
    answer <- sl_release(penguins, statistic, epsilon = EPSILON)
    list(derived = answer$derived, epsilon = EPSILON, numbers = write_numbers(answer))
  }
)
cat(jsonlite::toJSON(list(releases = releases, derived = derived), digits = NA, auto_unbox = TRUE))
