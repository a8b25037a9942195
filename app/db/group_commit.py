"""Write transactions that are committed together: a commit costs about as much, however much it makes durable."""

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
    """What became of a group: `error` where it was not committed, or nobody knows."""

    error: Exception | None = None


class _GroupedSession(WriteSession):
    """A transaction of a group. Its `commit()` makes it a part of what the group commits."""

    __slots__ = ("wanted",)

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.wanted = False

    def commit(self) -> None:
        """End the session; durable it is when the group's commit has returned."""
        self.wanted = True
        self.end()


class CommitGroup:
    """The transactions of one thread, which follow each other so closely that they are made durable at once.

    Each is undone by itself if it fails. Whoever sets the thread to work must show nobody what came of a transaction
    before `commit` has returned and its outcome is without an error.

    Args:
        writing: begins the database's one write transaction.
        follows: whether another transaction may follow at once; else this one is committed without delay.
        told: called when what follows will take long: whoever waits for the outcome should be told now.
    """

    def __init__(
        self,
        writing: Callable[[], AbstractContextManager[Connection]],
        follows: Callable[[], bool],
        told: Callable[[], None],
    ) -> None:
        self._writing, self._follows, self._told = writing, follows, told
        self._open = ExitStack()
        self._connection: Connection | None = None
        self._outcome = GroupOutcome()
        self._afterwards: list[Callable[[], None]] = []
        self.taken: GroupOutcome | None = None
        """Of the last group that a transaction of this thread wrote to, or was refused by; unset by whoever asks."""

    def transact(self, work: Callable[[WriteSession], T]) -> T:
        """As `Database.transact`, but for when the commit happens."""
        if self._connection is None:
            self._told()  # to begin may take as long as another process writes
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
            if self._connection is not None:  # a refusal too: it saw what is not committed yet
                self.taken = self._outcome
        if not (part.wanted and self._follows()):
            self.commit()
            if part.wanted and self._outcome.error is not None:
                raise self._outcome.error
        return result

    def commit(self) -> None:
        """Make durable what is not yet. It raises nothing: the outcome says whether it succeeded."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        afterwards, self._afterwards = self._afterwards, []
        try:
            with translate_errors(), self._open.pop_all():
                WriteSession(connection).commit()
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may be told what came of it
            self._outcome.error = error
            return
        for each in afterwards:
            each()

    def when_durable(self, then: Callable[[], None]) -> None:
        """Do something once the group is committed; never, if it is not."""
        if self._connection is None:
            then()
        else:
            self._afterwards.append(partial(copy_context().run, then))

    def pause(self) -> None:
        """What follows takes long: commit now, and have everybody told."""
        self.commit()
        self._told()

    def _undo(self, error: BaseException) -> None:
        """Undo one part; where SQLite has undone everything, as on a full disk, the group has failed."""
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
