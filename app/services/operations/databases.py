"""Opens the ledger's database for writing, as the settings describe it; asks it whether a file is registered."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.config import Settings
from app.db.database import Database
from app.db.dialects import durability
from app.db.repositories import datasets


def open_database(settings: Settings, url: str | None = None) -> Database:
    """Open the database of the settings or at `url`, and check that its server keeps acknowledged commits.

    Raises:
        UnavailableError: the database does not answer.
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
def use_database(settings: Settings, url: str | None = None) -> Iterator[Database]:
    """Do the same as `open_database`, and close the database at the end of the block."""
    database = open_database(settings, url)
    try:
        yield database
    finally:
        database.close()


def is_registered(database: Database, file_id: str) -> bool:
    """Whether a dataset has this file."""
    with database.read() as session:
        return datasets.has_file(session, file_id)
