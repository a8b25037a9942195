"""The server side of requests: the worker pool, the HTTP protocol with its limits, and the wait for the database."""
