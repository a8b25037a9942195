"""Migrates the schema. It works from any directory, and several processes may do it at once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from app.db.database import Database
from app.db.session import WriteSession

SCRIPTS = Path(__file__).resolve().parents[2] / "migrations"  # next to `app`, in a checkout and in a wheel


def migrate(
    database: Database, revision: str = "head", then: Callable[[WriteSession, str, str], None] | None = None
) -> None:
    """Run all missing migrations in one transaction. A second process waits and then finds nothing to do.

    Args:
        database: the database to migrate.
        revision: the revision to migrate to.
        then: called in the same transaction with the revisions before and after, if an existing schema changed.

    Raises:
        UnavailableError: the database does not answer, or another process's migration takes too long.
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
        UnavailableError: the database is busy or does not answer.
    """
    with database.read() as session:
        return set(MigrationContext.configure(session.connection).get_current_heads()) == _heads()


def _revision(connection: Connection) -> str:
    """The revision of the schema; empty if there is no schema."""
    return ",".join(sorted(MigrationContext.configure(connection).get_current_heads()))


@cache
def _heads() -> set[str]:
    return set(ScriptDirectory(str(SCRIPTS)).get_heads())


def _config(connection: Connection) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
