"""The places of Parquet files that the operator has configured: local directories, HTTPS servers and S3 buckets."""
