"""The ledger without the service: opened by the operator's commands, beside a service that may be running."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.config import Settings
from app.db.engine import Database
from app.db.repositories import relocation_state
from app.db.schema_migration import is_current
from app.db.session import ReadSession
from app.services.operations import databases


@contextmanager
def open_ledger_snapshot(settings: Settings) -> Iterator[ReadSession]:
    """A snapshot of the ledger as it is; nothing is migrated, made or changed.

    Raises:
        UnavailableError: the database is busy or away.
        ValueError: there is no such file, or it has another version's tables, or none.
    """
    with _open(Database(settings.database_url, as_it_is=True)) as database, database.read() as session:
        yield session


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """The database, to write to; it is not migrated.

    Raises:
        As `ledger`; ValueError too where it is the retired source, or the unfinished target, of a move, or where a
            crash of its server could lose what it acknowledged.
    """
    with open_ledger_snapshot(settings) as session:  # where there is no ledger yet, none is made
        relocation_state.require_not_relocated(session)
    with databases.opened_database(settings) as opened:
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
