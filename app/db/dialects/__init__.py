"""Code that differs between SQLite and Postgres: connections, durability, errors, upserts."""
