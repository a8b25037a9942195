"""Runs alembic's migrations on the connection, and in the transaction, that `app.db.schema_migration` passes."""

from alembic import context

from app.db.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transaction_per_migration=False,
    render_as_batch=True,  # SQLite can change a table only by rebuilding it
    compare_type=True,
)
context.run_migrations()
