"""Threads that answer calls: one at work, more where calls wait for a network, and another whenever they are held up.

A pool hands each call to a thread that sleeps. Most of a call's time then goes into changing threads: they take turns
at the interpreter's lock, which is let go at every statement. Here the thread that has answered a call takes the next
that waits, and tells the event loop of several answers at once. What their transactions wrote on SQLite is made durable
together, and nobody is told before that. Where nobody makes progress for some milliseconds, as in a scan or at another
process's lock, one is replaced, and rests when it is done.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from app.db.engine import Database
from app.db.group_commit import GroupOutcome

_PATIENCE_SECONDS: Final = 0.005
_MOST_TOGETHER: Final = 16
_MOST_UNTOLD: Final = 4
"""Answers that may wait for each other where their transactions are not committed together."""

_IDLE, _BUSY = 0.45, 0.7
"""How much of a processor the process uses where another worker would help, and where one less would."""

_QUICK: Final = "snapledger_quick"

F = TypeVar("F", bound=Callable[..., Any])


def mark_quick(call: F) -> F:
    """Mark a call that takes about a millisecond, or says before what takes long (`Database.pause`).

    Answers before it may wait for it.
    """
    setattr(call, _QUICK, True)
    return call


@dataclass(slots=True, eq=False)
class _Call:
    """A call, and who waits for its answer."""

    work: Callable[[], Any]
    quick: bool
    context: Context
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None
    outcome: GroupOutcome | None = None  # of what it wrote

    def answer(self) -> None:
        """Find the answer, which nobody is told yet."""
        try:
            self.result = self.context.run(self.work)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the caller's
            self.error = error

    def tell(self) -> None:
        """Tell it, on the event loop."""
        if self.future.cancelled():
            return
        undone = None if self.outcome is None else self.outcome.error
        error = undone or self.error
        if error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(error)


@dataclass(frozen=True, slots=True)
class _LoadSample:
    """What was seen at a moment: how many calls had been taken, and how long the processors had worked for us."""

    taken: int
    at: float = field(default_factory=time.monotonic)
    worked: float = field(default_factory=time.process_time)

    def busy_since(self, before: "_LoadSample") -> float:
        """The processors used, on average, since an earlier look."""
        return (self.worked - before.worked) / max(self.at - before.at, 1e-9)


def _deliver_answers(calls: Sequence[_Call]) -> None:
    for call in calls:
        call.tell()


class WorkerPool:
    """Answers calls in the order in which they came, in threads that are made when they are needed, and kept.

    Args:
        database: makes durable what the calls write.
        most: how many threads there may be. Calls beyond wait.
        at_once: how many of them take calls, at most.
    """

    def __init__(self, database: Database, most: int, at_once: int = 1) -> None:
        self.database = database
        self._most = most
        self._most_at_once = at_once
        self._at_once = 1
        self._made = 0
        self._waiting: deque[_Call] = deque()
        self._mutex = threading.Lock()
        self._at_work: deque[_Worker] = deque()  # who take calls, and answer
        self._resting: list[_Worker] = []
        self._taken = 0
        self._watched = False

    async def run(self, call: Callable[..., Any], /, **arguments: object) -> Any:  # noqa: ANN401 - what the call returns
        """What the call returns, or raises, in a thread, with the context variables of whoever awaits it."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        work, is_quick = partial(call, **arguments), getattr(call, _QUICK, False)
        with self._mutex:
            self._waiting.append(_Call(work, is_quick, copy_context(), loop, future))
            if len(self._at_work) < self._at_once:
                self._appoint()
        if not self._watched:
            self._watched = True
            loop.call_later(_PATIENCE_SECONDS, self._watch, loop, _LoadSample(self._taken))
        return await future

    def _watch(self, loop: asyncio.AbstractEventLoop, before: "_LoadSample") -> None:
        """On the event loop, as long as there is something to do: see to it that it goes on."""
        with self._mutex:
            look = _LoadSample(self._taken)
            if self._waiting:
                self._see_to_it(look, before)
            self._watched = bool(self._at_work)
        if self._watched:
            loop.call_later(_PATIENCE_SECONDS, self._watch, loop, look)

    def _see_to_it(self, look: "_LoadSample", before: "_LoadSample") -> None:
        """Calls wait: have the workers at it that can be used."""
        busy = look.busy_since(before)
        if look.taken == before.taken:
            self._appoint()
        elif busy < _IDLE and self._at_once < self._most_at_once:
            self._at_once += 1
            self._appoint()
        elif busy > _BUSY and self._at_once > 1:
            self._at_once -= 1
            if len(self._at_work) > self._at_once:
                self._at_work.popleft()

    def _appoint(self) -> None:
        """Let another worker take calls, if there may be another; where enough do, in the place of one of them."""
        if self._resting:
            worker = self._resting.pop()
            worker.called.release()
        elif self._made < self._most:
            self._made += 1
            worker = _Worker(self)
            threading.Thread(target=worker.work, name="crew", daemon=True).start()
        else:
            return
        if len(self._at_work) == self._at_once:
            self._at_work.popleft()
        self._at_work.append(worker)

    def take(self, worker: "_Worker") -> _Call | None:
        """The next call, if this worker is to take it."""
        with self._mutex:
            if not self._waiting or not self._may_work(worker):
                return None
            self._taken += 1
            return self._waiting.popleft()

    def follows(self, worker: "_Worker") -> bool:
        """Whether this worker will take a quick call at once."""
        with self._mutex:
            return bool(self._waiting) and self._waiting[0].quick and worker in self._at_work

    def rest(self, worker: "_Worker") -> bool:
        """Whether the worker may rest, until it is called."""
        with self._mutex:
            if self._may_work(worker):
                if self._waiting:
                    return False
                self._at_work.remove(worker)
            self._resting.append(worker)
            return True

    def _may_work(self, worker: "_Worker") -> bool:
        """Whether it takes calls: if not, it begins to where there are too few."""
        if worker not in self._at_work:
            if len(self._at_work) == self._at_once:
                return False
            self._at_work.append(worker)
        return True


class _Worker:
    """A thread of the crew. `called` is held but for the moment in which it is called from its rest."""

    def __init__(self, crew: WorkerPool) -> None:
        self.called = threading.Lock()
        self._crew = crew
        self._answered: list[_Call] = []

    def work(self) -> None:
        """Answer calls for ever."""
        self.called.acquire()
        group = self._crew.database.group(self._follows, self._tell)
        most = _MOST_UNTOLD if group is None else _MOST_TOGETHER
        while True:
            call = self._crew.take(self)
            if self._answered and (call is None or not call.quick or len(self._answered) == most):
                if group is not None:
                    group.commit()
                self._tell()
            if call is not None:
                call.answer()
                if group is not None:
                    call.outcome, group.taken = group.taken, None
                self._answered.append(call)
                del call  # with what it holds, which may be large
            elif self._crew.rest(self):
                self.called.acquire()

    def _follows(self) -> bool:
        return len(self._answered) + 1 < _MOST_TOGETHER and self._crew.follows(self)

    def _tell(self) -> None:
        answered, self._answered = self._answered, []
        if answered:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                answered[0].loop.call_soon_threadsafe(partial(_deliver_answers, answered))
