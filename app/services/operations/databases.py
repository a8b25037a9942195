"""The ledger's database as the settings describe it, opened to be written to."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.config import Settings
from app.db.dialects import durability
from app.db.engine import Database


def open_database(settings: Settings, url: str | None = None) -> Database:
    """The database of the settings, or another one, on a server that keeps what it has acknowledged.

    Raises:
        UnavailableError: it is away.
        ValueError: the URL is wrong, or a crash of the server could lose acknowledged debits.
    """
    database = Database(url or settings.database_url, synchronous_commit=settings.synchronous_commit)
    try:
        with database.read() as session:
            durability.require_durable(session)
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def opened_database(settings: Settings, url: str | None = None) -> Iterator[Database]:
    """As `open_database`, closed at the end of the block."""
    database = open_database(settings, url)
    try:
        yield database
    finally:
        database.close()
