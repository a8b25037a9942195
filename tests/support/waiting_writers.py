"""Sees who waits for a transaction, so that a test lets the other one go on only then."""

from sqlalchemy import text

from app.db.database import Database
from app.db.dialects.sqlite import Sqlite

_LOCKED_OUT = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def has_waiting_writer(database: Database) -> bool:
    """Whether a transaction waits for another one to end: on SQLite one of this process, on Postgres any."""
    if isinstance(database._home, Sqlite):
        return bool(database._home._write_lock._waiting)
    with database.read() as session:
        return bool(session.connection.execute(text(_LOCKED_OUT)).scalar_one())
