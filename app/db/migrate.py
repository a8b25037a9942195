"""Bringing the schema up to date, from any directory and by several processes at once."""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from app.db.engine import Database

SCRIPTS = Path(__file__).resolve().parents[2] / "migrations"  # beside `app`, in a checkout and in a wheel


def migrate(database: Database, revision: str = "head") -> None:
    """Run the migrations that are missing, all or none of them. Whoever comes second finds nothing left to do.

    Raises:
        UnavailableError: the database is away, or another process migrates for too long.
    """
    with database.migrating() as connection:
        command.upgrade(_config(connection), revision)


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


@cache
def _heads() -> set[str]:
    return set(ScriptDirectory(str(SCRIPTS)).get_heads())


def _config(connection: Connection) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
