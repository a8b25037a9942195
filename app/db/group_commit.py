"""Commits several write transactions together, because a commit costs about the same for one as for many."""

from collections.abc import Callable
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from app.db.compiled_statements import execute_text
from app.db.dialects.error_translation import translate_errors
from app.db.dialects.postgres import Postgres
from app.db.dialects.sqlite import Sqlite
from app.db.session import WriteSession
from app.errors import UnavailableError

T = TypeVar("T")


@dataclass(slots=True)
class GroupOutcome:
    """The outcome of a group: `error` is set if the commit failed or its result is unknown."""

    error: Exception | None = None


class _GroupedSession(WriteSession):
    """A transaction of a group. Its `commit()` adds it to the group's commit."""

    __slots__ = ("wanted",)

    def __init__(self, connection: Connection, *, combines: bool) -> None:
        super().__init__(connection, combines=combines)
        self.wanted = False

    def commit(self) -> None:
        """End the session. The transaction is durable when the group's commit has returned."""
        self.wanted = True
        self.end()


class CommitGroup:
    """Successive transactions of one thread that are committed together.

    A transaction that fails is rolled back alone. The caller must not show the result of a transaction to anybody
    before `commit` has returned and its outcome has no error.

    Args:
        home: the database.
        follows: returns whether another transaction may follow at once. If not, this one is committed immediately.
        deliver: called before something slow, so that the caller can send the results that are ready.
    """

    def __init__(self, home: Sqlite | Postgres, follows: Callable[[], bool], deliver: Callable[[], None]) -> None:
        self._home, self._follows, self._deliver = home, follows, deliver
        self._open = ExitStack()
        self._connection: Connection | None = None
        self._may_stay_open = False
        self._locked: set[int] = set()  # the datasets whose accounts the group's transactions have locked
        self._outcome = GroupOutcome()
        self._afterwards: list[Callable[[], None]] = []
        self.taken: GroupOutcome | None = None
        """The outcome of the last group that ran a transaction, even a rejected one. Its reader resets it to None."""

    def transact(self, work: Callable[[WriteSession], T], dataset_id: int) -> T:
        """Do the same as one attempt of `Database.transact`, except that the commit may happen later."""
        try:
            connection = self._begin_part(dataset_id)
            part = _GroupedSession(connection, combines=self._home.combines_changes)
            try:
                result = work(part)
            finally:
                part.end()
            part.require_changes()
            if part.wanted:
                self._locked.add(dataset_id)
            else:
                self._run("ROLLBACK TO part")  # which gives up the lock of the account
        except BaseException as error:
            self._undo(error)
            self.commit()
            raise
        if not (part.wanted and self._follows() and self._stay_open()):
            self.commit()
            if part.wanted and self._outcome.error is not None:
                raise self._outcome.error
        return result

    def _begin_part(self, dataset_id: int) -> Connection:
        """Begin a transaction of the group, or of a new group if another transaction holds the account's lock."""
        if self._connection is not None:
            if self._home.begin_part(self._connection, dataset_id, locked=dataset_id in self._locked):
                self.taken = self._outcome
                return self._connection
            self.commit()  # whoever waits for an account holds no other one, so there is no deadlock
        self._deliver()  # beginning may wait for another transaction
        self._outcome, self._may_stay_open = GroupOutcome(), False
        self._locked.clear()
        self._connection = self._open.enter_context(self._home.writing(dataset_id))
        self.taken = self._outcome  # also for a rejection: it may have read uncommitted data
        return self._connection

    def _stay_open(self) -> bool:
        """Return whether the group may stay open, with its connection, while the thread reads with another one."""
        if not self._may_stay_open and self._home.spare_sessions.acquire(blocking=False):
            self._open.callback(self._home.spare_sessions.release)
            self._may_stay_open = True
        return self._may_stay_open

    def commit(self) -> None:
        """Commit the group. This raises nothing: the outcome says whether it succeeded."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        afterwards, self._afterwards = self._afterwards, []
        try:
            with translate_errors(), self._open.pop_all():
                WriteSession(connection).commit()
        except Exception as error:  # noqa: BLE001 - after any error the results must not be shown
            self._outcome.error = error
            return
        for each in afterwards:
            each()

    def when_durable(self, then: Callable[[], None]) -> None:
        """Call `then` when the group is committed; never if the commit fails."""
        if self._connection is None:
            then()
        else:
            self._afterwards.append(partial(copy_context().run, then))

    def pause(self) -> None:
        """Commit now and call `deliver`, because something slow follows."""
        self.commit()
        self._deliver()

    def _undo(self, error: BaseException) -> None:
        """Roll back one transaction. If the database has rolled back everything, the whole group fails."""
        if self._connection is None:  # it could not begin
            return
        try:
            self._run("ROLLBACK TO part")
        except SQLAlchemyError:
            self.taken = None  # this transaction has an error of its own
            self._connection, self._afterwards = None, []
            self._open.pop_all().close()
            self._outcome.error = UnavailableError("the database is busy or does not answer")
            self._outcome.error.__cause__ = error

    def _run(self, text: str) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the type checker
        execute_text(connection, text)
