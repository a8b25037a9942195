"""The service's database: SQLite or Postgres, with the same two kinds of session."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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

MAX_ATTEMPTS = 5

S = TypeVar("S", bound=Session)
T = TypeVar("T")


class Database:
    """One database, shared by all threads of a process. The first session opens the first connection.

    Args:
        url: the database's URL.
        limits: limits on connections and waits; the defaults if None.
        as_it_is: open for reading only: create no file and do not change the journal mode.
        synchronous_commit: when a commit on Postgres returns (`app.db.dialects.durability`).

    Raises:
        ValueError: the URL is neither `sqlite:///path` (the directory is created) nor `postgresql://…`, or names a
            SQLite database in memory. The message does not repeat the URL, which may contain a password.
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
        """Open a session that reads from one snapshot.

        Raises:
            UnavailableError: the database is busy or does not answer.
        """
        with traces.span("database read"), translate_errors(), self._home.reading() as connection:
            yield from _ending_session(ReadSession(connection))

    @contextmanager
    def read_without_transaction(self) -> Iterator[ReadSession]:
        """Open a session without a transaction: each statement sees what is committed when it runs.

        Raises:
            UnavailableError: the database is busy or does not answer.
        """
        with traces.span("database read"), translate_errors():
            connection = self._home.take_reader()  # a context manager more would be a tenth of what a read takes
            try:
                yield from _ending_session(ReadSession(connection))
            finally:
                self._home.return_reader(connection)

    @contextmanager
    def write(self) -> Iterator[WriteSession]:
        """Open a transaction that is rolled back unless its `commit()` has returned.

        Raises:
            UnavailableError: the database is busy or does not answer. If `commit()` raised it, the outcome is unknown.
        """
        self._require_changes()
        self.pause()
        with traces.span("database write"), translate_errors(), self._home.writing() as connection:
            yield from _ending_session(WriteSession(connection))

    def row(self, query: Query, **parameters: object) -> Any:  # noqa: ANN401 - as `Session.row`
        """Return the first row of a query, or None, without a transaction. Use it for rows that do not change.

        Raises:
            UnavailableError: the database is busy or does not answer.
        """
        with self.read_without_transaction() as session:
            return session.row(query, **parameters)

    def transact(self, work: Callable[[WriteSession], T], dataset_id: int) -> T:
        """Run `work` in a transaction that holds the lock of a dataset's account, and that `work` commits.

        It is retried if the database rolled it back: Postgres rolls back one of two transactions in a deadlock. Other
        failures are not retried: if the outcome of a commit is unknown, a retry could debit twice. On a thread with a
        commit group the commit may happen later.

        Raises:
            UnavailableError: as `write`, and if the database rolled back every attempt.
        """
        self._require_changes()
        for _ in range(MAX_ATTEMPTS - 1):
            with suppress(TransactionAbortedError):
                return self._attempt(work, dataset_id)
        return self._attempt(work, dataset_id)

    def _attempt(self, work: Callable[[WriteSession], T], dataset_id: int) -> T:
        with traces.span("database write"), translate_errors():
            return self._group.transact(work, dataset_id)

    def group(self, follows: Callable[[], bool], deliver: Callable[[], None]) -> CommitGroup:
        """Commit the transactions of this thread in groups.

        From then on `transact` may return before its commit if another transaction may follow at once. Do not show its
        result to anybody before the group's `commit` has returned. `deliver` is called before anything that may take
        long.
        """
        self._thread.group = CommitGroup(self._home, follows, deliver)
        return self._group

    @property
    def _group(self) -> CommitGroup:
        """The commit group of this thread; a thread without one commits each transaction at once."""
        found: CommitGroup | None = getattr(self._thread, "group", None)
        return found or self.group(lambda: False, lambda: None)

    def when_durable(self, then: Callable[[], None]) -> None:
        """Call `then` when this thread's last transaction is durable; never if its commit fails."""
        self._group.when_durable(then)

    def pause(self) -> None:
        """Commit this thread's group now. Call this before something slow, so that no commit waits for it."""
        self._group.pause()

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Open a migration's transaction, which is committed at the end. Only one can be open at a time.

        Raises:
            UnavailableError: the database does not answer, or another migration takes longer than the limit.
        """
        self._require_changes()
        with translate_errors(), self._home.migrating() as connection:
            yield connection

    def _require_changes(self) -> None:
        if self._as_it_is:
            raise AssertionError("this database was opened for reading only")

    def close(self) -> None:
        """Close the connections that no session uses."""
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
