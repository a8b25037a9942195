"""A database that is busy past the timeout, away, or full, until a block ends."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
from faulty_world import Breakable
from psycopg import sql
from sqlalchemy import make_url, text

from app.db.dialects import sqlite_library


@contextmanager
def busy(breakable: Breakable) -> Iterator[None]:
    """Another program holds the lock that every release needs."""
    url = make_url(breakable.database_url)
    if breakable.on_sqlite:
        other = sqlite_library.load_library().connect(url.database, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
        other.close()
        return
    with psycopg.connect(url.render_as_string(hide_password=False)) as other:
        other.execute("SELECT 1 FROM accounts FOR UPDATE")
        yield


@contextmanager
def away(breakable: Breakable) -> Iterator[None]:
    """The server ends all connections and takes no new ones."""
    url = make_url(breakable.database_url)
    administration = url.set(database="postgres").render_as_string(hide_password=False)

    def allow(permitted: str) -> None:
        with psycopg.connect(administration, autocommit=True) as connection:
            statement = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
            connection.execute(statement.format(sql.Identifier(url.database or ""), sql.SQL(permitted)))
            if permitted == "false":
                ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
                connection.execute(ended, [url.database])

    allow("false")
    yield
    allow("true")


@contextmanager
def full(breakable: Breakable) -> Iterator[None]:
    """No page can be added to the file."""

    def limit(pages: str) -> None:
        with breakable.database.write() as transaction:
            if pages == "now":
                pages = transaction.connection.execute(text("PRAGMA page_count")).scalar_one()
            transaction.connection.execute(text(f"PRAGMA max_page_count = {pages}"))

    for number in range(200):  # until a release needs a page
        limit("now")
        if breakable.ask(f"filling {number}").status_code == 503:
            break
        limit("1000000")
    yield
    limit("1000000")


Trouble = Callable[[Breakable], AbstractContextManager[None]]
