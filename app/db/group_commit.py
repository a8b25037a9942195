"""Commits several write transactions together, because a commit costs about the same for one as for many."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from app.db.compiled_statements import execute_text
from app.db.dialects.error_translation import translate_errors
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

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
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
        writing: begins the database's only write transaction.
        follows: returns whether another transaction may follow at once. If not, this one is committed immediately.
        deliver: called before something slow, so that the caller can send the results that are ready.
    """

    def __init__(
        self,
        writing: Callable[[], AbstractContextManager[Connection]],
        follows: Callable[[], bool],
        deliver: Callable[[], None],
    ) -> None:
        self._writing, self._follows, self._deliver = writing, follows, deliver
        self._open = ExitStack()
        self._connection: Connection | None = None
        self._outcome = GroupOutcome()
        self._afterwards: list[Callable[[], None]] = []
        self.taken: GroupOutcome | None = None
        """The outcome of the last group that ran a transaction, even a rejected one. Its reader resets it to None."""

    def transact(self, work: Callable[[WriteSession], T]) -> T:
        """Do the same as `Database.transact`, except that the commit may happen later."""
        if self._connection is None:
            self._deliver()  # beginning may wait for another process's write
            self._outcome = GroupOutcome()
            self._connection = self._open.enter_context(self._writing())
        part = _GroupedSession(self._connection)
        try:
            self._run("SAVEPOINT part")
            result = work(part)
            if not part.wanted:
                self._run("ROLLBACK TO part")
            self._run("RELEASE part")
        except BaseException as error:
            self._undo(error)
            raise
        finally:
            part.end()
            if self._connection is not None:  # also after a rejection: it read uncommitted data
                self.taken = self._outcome
        if not (part.wanted and self._follows()):
            self.commit()
            if part.wanted and self._outcome.error is not None:
                raise self._outcome.error
        return result

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
        """Roll back one transaction. If SQLite has rolled back everything, as on a full disk, the whole group fails."""
        try:
            self._run("ROLLBACK TO part")
            self._run("RELEASE part")
        except SQLAlchemyError:
            self._connection, self._afterwards = None, []
            self._open.pop_all().close()
            self._outcome.error = UnavailableError("the database is busy or does not answer")
            self._outcome.error.__cause__ = error

    def _run(self, text: str) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the type checker
        execute_text(connection, text)
