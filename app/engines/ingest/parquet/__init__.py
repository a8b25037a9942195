"""Parquet files from any writer: their footers and pages are checked before Arrow reads them."""
