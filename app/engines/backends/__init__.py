"""The engines that compute exact sums: DuckDB, Postgres and Spark, and the configured connections to them."""
