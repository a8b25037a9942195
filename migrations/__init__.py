"""The database migrations: one module for each revision in `versions`, run by `app.db.schema_migration`."""
