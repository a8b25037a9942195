"""The schema's history: one module a revision in `versions`, run by `app.db.schema_migration`."""
