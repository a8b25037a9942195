"""What runs requests: the worker pool, the HTTP protocol and its limits, and waiting for the database at the start."""
