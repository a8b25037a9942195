"""Commits several write transactions together, because a commit costs about the same for one as for many."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from app.db.deferred_changes import DeferredChanges, RowsTakenError
from app.db.dialects.error_translation import translate_errors
from app.db.dialects.postgres import Postgres
from app.db.dialects.sqlite import Sqlite
from app.db.grouped_session import GroupedSession, GroupLostError
from app.db.session import WriteSession
from app.errors import TransactionAbortedError, UnavailableError

T = TypeVar("T")


@dataclass(slots=True)
class GroupOutcome:
    """The outcome of a group.

    Attributes:
        error: set if the commit failed or its result is unknown.
        repeat: whether each transaction can be repeated alone: nothing was committed, and one of them may be at fault.
    """

    error: Exception | None = None
    repeat: bool = False


class CommitGroup:
    """Successive transactions of one thread that are committed together.

    Their rows are held back, and written in one statement before the commit. A transaction that fails is rolled back
    alone. The caller must not show the result of a transaction to anybody before `commit` has returned and its outcome
    has no error. If the outcome is to repeat, the caller repeats each transaction of the group, in `alone`.

    Args:
        home: the database.
        follows: returns whether another transaction may follow at once. If not, this one is committed immediately.
        deliver: called before something slow, so that the caller can send the results that are ready.
    """

    def __init__(self, home: Sqlite | Postgres, follows: Callable[[], bool], deliver: Callable[[], None]) -> None:
        self._home, self._follows, self._deliver = home, follows, deliver
        self._open = ExitStack()
        self._session: WriteSession | None = None  # whose commit is that of the group
        self._rows = DeferredChanges()
        self._may_stay_open = False
        self._alone = False
        self._parts = 0
        self._locked: set[int] = set()  # the datasets whose accounts the group's transactions have locked
        self._outcome = GroupOutcome()
        self._afterwards: list[Callable[[], None]] = []
        self.taken: GroupOutcome | None = None
        """The outcome of the last group that ran a transaction, even a rejected one. Its reader resets it to None."""

    def transact(self, work: Callable[[WriteSession], T], dataset_id: int) -> T:
        """Do the same as one attempt of `Database.transact`, except that the commit may happen later."""
        try:
            return self._transact(work, dataset_id)
        except RowsTakenError:
            if self._outcome.repeat and self._parts > 1:
                raise
        with self.alone():  # there was no other transaction in the group
            return self._transact(work, dataset_id)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Commit each transaction at once, and let it learn at once which keys are taken."""
        before, self._alone = self._alone, True
        try:
            yield
        finally:
            self._alone = before

    def _transact(self, work: Callable[[WriteSession], T], dataset_id: int) -> T:
        part: GroupedSession | None = None
        wanted = False
        try:
            part = self._begin_part(dataset_id)
            try:
                result = work(part)
            finally:
                part.end()
            part.require_changes()
            if wanted := part.wanted:
                self._locked.add(dataset_id)
                part.keep()
            else:
                part.undo()  # which gives up the lock of the account
        except BaseException as error:
            self._undo(part, error)
            self.commit()
            raise
        if not (wanted and not self._alone and self._follows() and self._stay_open()):
            self.commit()
            if wanted and self._outcome.error is not None:
                raise self._outcome.error
        return result

    def _begin_part(self, dataset_id: int) -> GroupedSession:
        """Begin a transaction of the group, or of a new group if another transaction holds the account's lock."""
        has_savepoint = True
        if self._session is not None:
            has_savepoint = dataset_id not in self._locked
            if has_savepoint and not self._home.begin_part(self._session.connection, dataset_id):
                self.commit()  # whoever waits for an account holds no other one, so there is no deadlock
        if self._session is None:
            self._begin(dataset_id)
        assert self._session is not None  # noqa: S101 - for the type checker
        self._parts += 1
        self.taken = self._outcome  # also for a rejection: it may have read uncommitted data
        return GroupedSession(
            self._session, self._rows, dataset_id, has_savepoint=has_savepoint, learns_at_once=self._alone
        )

    def _begin(self, dataset_id: int) -> None:
        """Begin a group with the first part of it."""
        self._deliver()  # beginning may wait for another transaction
        self._outcome, self._may_stay_open, self._parts = GroupOutcome(), False, 0
        self._locked.clear()
        self._rows = DeferredChanges()
        self._session = WriteSession(self._open.enter_context(self._home.writing(dataset_id)))

    def _stay_open(self) -> bool:
        """Return whether the group may stay open, with its connection, while the thread reads with another one."""
        if not self._may_stay_open and self._home.spare_sessions.acquire(blocking=False):
            self._open.callback(self._home.spare_sessions.release)
            self._may_stay_open = True
        return self._may_stay_open

    def commit(self) -> None:
        """Commit the group. This raises nothing: the outcome says whether it succeeded."""
        session, self._session = self._session, None
        if session is None:
            return
        afterwards, self._afterwards = self._afterwards, []
        is_written = False
        try:
            with translate_errors(), self._open.pop_all():
                self._rows.write(session.connection, session.cursor)
                is_written = True
                session.commit()
        except Exception as error:  # noqa: BLE001 - after any error the results must not be shown
            self._fail(error, repeat=not is_written)
            return
        for each in afterwards:
            each()

    def _fail(self, error: Exception, *, repeat: bool) -> None:
        """Set the outcome of a group that was not committed, or of which that is unknown."""
        self._outcome.error = error
        passes = isinstance(error, UnavailableError) and not isinstance(error, TransactionAbortedError)
        self._outcome.repeat = repeat and not self._alone and not passes

    def when_durable(self, then: Callable[[], None]) -> None:
        """Call `then` when the group is committed; never if the commit fails."""
        if self._session is None:
            then()
        else:
            self._afterwards.append(partial(copy_context().run, then))

    def pause(self) -> None:
        """Commit now and call `deliver`, because something slow follows."""
        self.commit()
        self._deliver()

    def _undo(self, part: GroupedSession | None, error: BaseException) -> None:
        """Roll back one transaction. If that undoes the others, the whole group fails."""
        if self._session is None:  # it could not begin
            return
        cause: BaseException | None = error
        try:
            if part is not None:
                part.undo()
                if self._home.is_intact(self._session.connection):
                    return
                cause = None
        except GroupLostError as lost:
            cause = lost.cause
        self._session, self._afterwards = None, []
        self._open.pop_all().close()
        if isinstance(cause, Exception):
            self._fail(cause, repeat=True)
        else:  # the database has rolled back everything
            self.taken = None  # this transaction has an error of its own
            self._outcome.error = UnavailableError("the database is busy or does not answer")
            self._outcome.error.__cause__ = error
