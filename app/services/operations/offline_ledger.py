"""Opens the ledger for the operator's commands. The service may be running at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.config import Settings
from app.db.database import Database
from app.db.repositories import relocation_state
from app.db.schema_migration import is_current
from app.db.session import ReadSession
from app.services.operations import databases


@contextmanager
def open_ledger_snapshot(settings: Settings) -> Iterator[ReadSession]:
    """Open a snapshot of the ledger without migrating, creating or changing anything.

    Raises:
        UnavailableError: the database is busy or does not answer.
        ValueError: the file does not exist, or its schema is missing or of another version.
    """
    with _open(Database(settings.database_url, as_it_is=True)) as database, database.read() as session:
        yield session


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """Open the database for writing without migrating it.

    Raises:
        As `open_ledger_snapshot`; also ValueError if the database is the retired source or the unfinished target of a
            move, or if a crash of its server could lose acknowledged commits.
    """
    with open_ledger_snapshot(settings) as session:  # does not create a missing ledger
        relocation_state.require_not_relocated(session)
    with databases.use_database(settings) as opened:
        _require_current(opened)
        yield opened


@contextmanager
def _open(database: Database) -> Iterator[Database]:
    try:
        _require_current(database)
        yield database
    finally:
        database.close()


def _require_current(database: Database) -> None:
    if not is_current(database):
        raise ValueError("the database schema is out of date: run `snapledger migrate`")
