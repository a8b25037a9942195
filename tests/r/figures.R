# Prints the numbers of releases by their ids, with all digits.
library(snapledger)

penguins <- sl_connect() |> sl_dataset("penguins")
bins <- list(NULL, 3)
batch <- sl_batch(penguins,
  sl_mean("body_mass_g"), sl_variance("bill_length_mm"), sl_covariance("body_mass_g", "bill_length_mm"),
  sl_histogram("body_mass_g", bins = 7), sl_table("species", "body_mass_g", bins = bins),
  sl_sum("bill_length_mm", group_by = "species"), sl_count(where = species == "Adelie" & bill_length_mm > 38.2),
  epsilon = 0.7, reuse = FALSE
)
numbers <- lapply(batch$items, function(release) {
  table <- as_tibble(release)[c("label", "value", "conf_low", "conf_high")]
  table[-1] <- lapply(table[-1], format, digits = 17)
  table
})
names(numbers) <- vapply(batch$items, function(release) release$id, "")
cat(jsonlite::toJSON(numbers, digits = NA))
