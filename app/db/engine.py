"""The database of the service: SQLite or Postgres behind the same two kinds of session."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, make_url
from sqlalchemy.exc import ArgumentError

from app import traces
from app.db.compiled_statements import Query
from app.db.connection_limits import Limits
from app.db.dialects.durability import SynchronousCommit
from app.db.dialects.error_translation import translate_errors
from app.db.dialects.postgres import Postgres
from app.db.dialects.sqlite import Sqlite
from app.db.group_commit import CommitGroup
from app.db.session import ReadSession, Session, WriteSession
from app.errors import TransactionAbortedError

__all__ = ["Database", "ReadSession", "Session", "WriteSession"]

MOST_ATTEMPTS = 5

S = TypeVar("S", bound=Session)
T = TypeVar("T")


class Database:
    """One database, shared by all threads of a process. Nothing is connected before the first session.

    Args:
        as_it_is: for readers alone, who must not change anything: no file is made and no journal switched.

        synchronous_commit: when a commit on Postgres returns (`app.db.dialects.durability`).

    Raises:
        ValueError: the URL is neither `sqlite:///path` (the directory is made) nor `postgresql://…`, or names a SQLite
            database in memory. The text does not repeat the URL, in which there may be a password.
    """

    def __init__(
        self,
        url: str,
        limits: Limits | None = None,
        *,
        as_it_is: bool = False,
        synchronous_commit: SynchronousCommit = "on",
    ) -> None:
        self._home = _open_home(url, limits or Limits(), synchronous_commit, as_it_is=as_it_is)
        self._as_it_is = as_it_is
        self._thread = threading.local()
        self.dialect = self._home.dialect

    @contextmanager
    def read(self) -> Iterator[ReadSession]:
        """A snapshot to read from.

        Raises:
            UnavailableError: the database is busy or away.
        """
        with traces.span("database read"), translate_errors(), self._home.reading() as connection:
            yield from _ending_session(ReadSession(connection))

    @contextmanager
    def ask(self) -> Iterator[ReadSession]:
        """A session without a transaction: each statement sees what is committed when it runs.

        Raises:
            UnavailableError: the database is busy or away.
        """
        with traces.span("database read"), translate_errors(), self._home.reading(begun=False) as connection:
            yield from _ending_session(ReadSession(connection))

    @contextmanager
    def write(self) -> Iterator[WriteSession]:
        """A transaction that is rolled back unless its `commit()` has returned.

        Raises:
            UnavailableError: the database is busy or away. If `commit()` raised it, the outcome is unknown.
        """
        self._require_changes()
        self.pause()
        with traces.span("database write"), translate_errors(), self._home.writing() as connection:
            yield from _ending_session(WriteSession(connection))

    def row(self, query: Query, **parameters: object) -> Any:  # noqa: ANN401 - as `Session.row`
        """The first row that a query finds, or None, by a statement of its own: for what is committed and stays.

        Raises:
            UnavailableError: the database is busy or away.
        """
        with self.ask() as session:
            return session.row(query, **parameters)

    def transact(self, work: Callable[[WriteSession], T]) -> T:
        """Do work in a transaction that it commits itself, and again if the database undid all of it.

        Postgres does so to one of two transactions in a deadlock. Nothing else is run again: where the outcome of a
        commit is unknown, a second debit could be one too many. On a thread with a group the commit may come later.

        Raises:
            UnavailableError: as `write`; a transaction that was undone every time too.
        """
        if (group := self._group) is not None:
            with traces.span("database write"), translate_errors():
                return group.transact(work)
        for _ in range(MOST_ATTEMPTS - 1):
            try:
                with self.write() as transaction:
                    return work(transaction)
            except TransactionAbortedError:
                continue
        with self.write() as transaction:
            return work(transaction)

    def group(self, follows: Callable[[], bool], told: Callable[[], None]) -> CommitGroup | None:
        """Let the transactions of this thread be committed together; None on Postgres, which waits for others anyway.

        From then on `transact` returns before its commit if another may follow at once. Nobody may be shown what came
        of it before the group's `commit` has returned. On both, `told` is called before what may take long.
        """
        self._thread.told = told
        if self.dialect == "sqlite":
            self._thread.group = CommitGroup(self._home.writing, follows, told)
        return self._group

    @property
    def _group(self) -> CommitGroup | None:
        """The group that this thread's transactions join, if they do."""
        return getattr(self._thread, "group", None)

    def when_durable(self, then: Callable[[], None]) -> None:
        """Do something once what this thread's last transaction wrote is durable; never, if it is not."""
        if (group := self._group) is not None:
            group.when_durable(then)
        else:
            then()

    def pause(self) -> None:
        """What this thread does next takes long: nobody else's commit must wait for it."""
        if (group := self._group) is not None:
            group.pause()
        elif (told := getattr(self._thread, "told", None)) is not None:
            told()

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """The transaction of a migration, the only one of its kind at a time; committed at the end.

        Raises:
            UnavailableError: the database is away, or somebody else migrates for longer than the limit.
        """
        self._require_changes()
        with translate_errors(), self._home.migrating() as connection:
            yield connection

    def _require_changes(self) -> None:
        if self._as_it_is:
            raise AssertionError("this database was opened for reading only")

    def close(self) -> None:
        """Close the connections that no session holds."""
        self._home.close()


def _ending_session(session: S) -> Iterator[S]:
    try:
        yield session
    finally:
        session.end()


def _open_home(url: str, limits: Limits, synchronous_commit: SynchronousCommit, *, as_it_is: bool) -> Sqlite | Postgres:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise ValueError("the database URL is malformed") from None
    match parsed.drivername:
        case "sqlite":
            return Sqlite(parsed, limits, as_it_is=as_it_is)
        case "postgres" | "postgresql" | "postgresql+psycopg":
            return Postgres(parsed, limits, synchronous_commit)
    raise ValueError("the database URL must start with sqlite:/// or postgresql://")
