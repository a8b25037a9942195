"""Bringing the schema up to date, from any directory and by several processes at once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from app.db.engine import Database
from app.db.session import WriteSession

SCRIPTS = Path(__file__).resolve().parents[2] / "migrations"  # beside `app`, in a checkout and in a wheel


def migrate(
    database: Database, revision: str = "head", then: Callable[[WriteSession, str, str], None] | None = None
) -> None:
    """Run the migrations that are missing, all or none of them. Whoever comes second finds nothing left to do.

    Args:
        database: to be migrated.
        revision: up to which.
        then: is called in the same transaction with the revisions before and after, where there was a schema before.

    Raises:
        UnavailableError: the database is away, or another process migrates for too long.
    """
    with database.migrating() as connection:
        before = _revision(connection)
        command.upgrade(_config(connection), revision)
        after = _revision(connection)
        if then is not None and before and after and before != after:
            then(WriteSession(connection), before, after)


def migrate_down(database: Database, revision: str) -> None:
    """Undo migrations down to a revision; `base` is an empty database."""
    with database.migrating() as connection:
        command.downgrade(_config(connection), revision)


def is_current(database: Database) -> bool:
    """Whether the schema is the one that this code was written for.

    Raises:
        UnavailableError: the database is busy or away.
    """
    with database.read() as session:
        return set(MigrationContext.configure(session.connection).get_current_heads()) == _heads()


def _revision(connection: Connection) -> str:
    """Which one the schema is of; empty where there is none."""
    return ",".join(sorted(MigrationContext.configure(connection).get_current_heads()))


@cache
def _heads() -> set[str]:
    return set(ScriptDirectory(str(SCRIPTS)).get_heads())


def _config(connection: Connection) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
