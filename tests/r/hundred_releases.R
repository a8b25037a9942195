# Prints the ids of so many new releases.
library(snapledger)

penguins <- sl_connect(backoff = 0.001) |> sl_dataset("penguins")
for (each in seq_len(as.integer(commandArgs(TRUE)[1]))) {
  cat(sl_release(penguins, sl_mean("body_mass_g"), epsilon = 0.1, reuse = FALSE)$id, "\n")
}
