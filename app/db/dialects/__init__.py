"""What is special to SQLite and to Postgres: connections, durability, errors, upserts."""
