"""The stored file of a table: typed Parquet with the values, their codes, and the sums of each column beside it."""
