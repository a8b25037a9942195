"""The demonstration: a tour of the service on a public data set."""
