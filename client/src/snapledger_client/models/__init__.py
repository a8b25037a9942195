"""The answers of the service, typed. How they are displayed is in `display`, which nothing here imports."""
