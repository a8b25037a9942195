"""A pool of threads that run requests with few thread switches.

An ordinary pool hands each call to a sleeping thread. Most of a call's time then goes into switching threads, because
they compete for the interpreter's lock, which each SQL statement releases. Here a thread that has finished a call takes
the next waiting one, and delivers several results to the event loop at once. It also commits several transactions
together (group commit), and delivers no result before that. If one of them may have spoiled a group, it runs each of
its calls again, alone.

Normally one thread works. The pool adds threads when calls wait for a network. If no call finishes for some
milliseconds, as during a scan or while another process holds a lock, the pool replaces the thread that is held up, and
this one rests when its call ends.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from app.db.database import Database
from app.db.group_commit import CommitGroup, GroupOutcome

_PATIENCE_SECONDS: Final = 0.005
_MAX_TOGETHER: Final = 16
_IDLE, _BUSY = 0.45, 0.7
"""Processor use, in processors, below which the pool adds a worker, and above which it removes one."""

_QUICK: Final = "snapledger_quick"

F = TypeVar("F", bound=Callable[..., Any])


def mark_quick(call: F) -> F:
    """Mark a function that takes about a millisecond, or calls `Database.pause` before anything that takes longer.

    Results that are ready may wait for such a call, to be delivered together with its result.
    """
    setattr(call, _QUICK, True)
    return call


@dataclass(slots=True, eq=False)
class _Call:
    """A call, and the future that waits for its result."""

    work: Callable[[], Any]
    quick: bool
    context: Context
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None
    outcome: GroupOutcome | None = None  # of the group commit with its writes

    def answer(self) -> None:
        """Run the call, and keep its result until `deliver`."""
        self.result = self.error = None
        try:
            self.result = self.context.run(self.work)
        except BaseException as error:  # noqa: BLE001 - the caller gets any error
            self.error = error

    def deliver(self) -> None:
        """Set the future's result; on the event loop."""
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
    """The number of calls taken so far and the processor seconds used so far, at one time."""

    taken: int
    at: float = field(default_factory=time.monotonic)
    worked: float = field(default_factory=time.process_time)

    def busy_since(self, before: "_LoadSample") -> float:
        """Return the average number of processors in use since an earlier sample."""
        return (self.worked - before.worked) / max(self.at - before.at, 1e-9)


def _deliver_answers(calls: Sequence[_Call]) -> None:
    for call in calls:
        call.deliver()


class WorkerPool:
    """Runs calls in the order of arrival, in threads that are created on demand and kept.

    Args:
        database: commits what the calls write.
        most: the maximum number of threads; further calls wait.
        at_once: the maximum number of threads that take new calls.
    """

    def __init__(self, database: Database, most: int, at_once: int = 1) -> None:
        self.database = database
        self._most = most
        self._most_at_once = at_once
        self._at_once = 1
        self._made = 0
        self._waiting: deque[_Call] = deque()
        self._mutex = threading.Lock()
        self._at_work: deque[_Worker] = deque()  # those that take new calls
        self._resting: list[_Worker] = []
        self._taken = 0
        self._watched = False

    async def run(self, call: Callable[..., Any], /, **arguments: object) -> Any:  # noqa: ANN401 - what the call returns
        """Run a call in a thread, with the caller's context variables, and return its result or raise its error."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        work, is_quick = partial(call, **arguments), getattr(call, _QUICK, False)
        with self._mutex:
            self._waiting.append(_Call(work, is_quick, copy_context(), loop, future))
            if len(self._at_work) < self._at_once:
                self._add_worker()
        if not self._watched:
            self._watched = True
            loop.call_later(_PATIENCE_SECONDS, self._watch, loop, _LoadSample(self._taken))
        return await future

    def _watch(self, loop: asyncio.AbstractEventLoop, before: "_LoadSample") -> None:
        """Check periodically, on the event loop, that waiting calls make progress; stop when no worker is busy."""
        with self._mutex:
            look = _LoadSample(self._taken)
            if self._waiting:
                self._adapt_workers(look, before)
            self._watched = bool(self._at_work)
        if self._watched:
            loop.call_later(_PATIENCE_SECONDS, self._watch, loop, look)

    def _adapt_workers(self, look: "_LoadSample", before: "_LoadSample") -> None:
        """Adapt the number of workers while calls wait: add one if none progresses or processors are idle."""
        busy = look.busy_since(before)
        if look.taken == before.taken:
            self._add_worker()
        elif busy < _IDLE and self._at_once < self._most_at_once:
            self._at_once += 1
            self._add_worker()
        elif busy > _BUSY and self._at_once > 1:
            self._at_once -= 1
            if len(self._at_work) > self._at_once:
                self._at_work.popleft()

    def _add_worker(self) -> None:
        """Let another worker take calls, within the maximum; if enough already do, it replaces the oldest."""
        if self._resting:
            worker = self._resting.pop()
            worker.called.release()
        elif self._made < self._most:
            self._made += 1
            worker = _Worker(self)
            threading.Thread(target=worker.work, name="worker", daemon=True).start()
        else:
            return
        if len(self._at_work) == self._at_once:
            self._at_work.popleft()
        self._at_work.append(worker)

    def take(self, worker: "_Worker") -> _Call | None:
        """Return the next call, or None if there is none or this worker may not take calls now."""
        with self._mutex:
            if not self._waiting or not self._may_work(worker):
                return None
            self._taken += 1
            return self._waiting.popleft()

    def follows(self, worker: "_Worker") -> bool:
        """Return whether the next call is a quick one that this worker will take at once."""
        with self._mutex:
            return bool(self._waiting) and self._waiting[0].quick and worker in self._at_work

    def rest(self, worker: "_Worker") -> bool:
        """Let the worker rest until it is called; return False if it must take a call instead."""
        with self._mutex:
            if self._may_work(worker):
                if self._waiting:
                    return False
                self._at_work.remove(worker)
            self._resting.append(worker)
            return True

    def _may_work(self, worker: "_Worker") -> bool:
        """Return whether the worker may take calls; if too few workers do, it becomes one of them."""
        if worker not in self._at_work:
            if len(self._at_work) == self._at_once:
                return False
            self._at_work.append(worker)
        return True


class _Worker:
    """A thread of the pool. The lock `called` is always held; releasing it once wakes the resting thread."""

    def __init__(self, pool: WorkerPool) -> None:
        self.called = threading.Lock()
        self._pool = pool
        self._group: CommitGroup
        self._answered: list[_Call] = []

    def work(self) -> None:
        """Run calls until the process ends."""
        self.called.acquire()
        group = self._group = self._pool.database.group(self._follows, self._deliver)
        while True:
            call = self._pool.take(self)
            if self._answered and (call is None or not call.quick or len(self._answered) == _MAX_TOGETHER):
                group.commit()
                self._deliver()
            if call is not None:
                self._answer(call)
                self._answered.append(call)
                del call  # it may refer to large values
            elif self._pool.rest(self):
                self.called.acquire()

    def _follows(self) -> bool:
        return len(self._answered) + 1 < _MAX_TOGETHER and self._pool.follows(self)

    def _answer(self, call: _Call) -> None:
        call.answer()
        call.outcome, self._group.taken = self._group.taken, None

    def _repeat(self, calls: Iterable[_Call]) -> None:
        """Answer again, each alone, what was undone because of one of them."""
        taken = self._group.taken
        with self._group.alone():
            for call in calls:
                if call.outcome is not None and call.outcome.repeat:
                    self._answer(call)
        self._group.taken = taken

    def _deliver(self) -> None:
        answered, self._answered = self._answered, []
        self._repeat(answered)
        if answered:
            with suppress(RuntimeError):  # the loop is closed, so nothing waits for the results
                answered[0].loop.call_soon_threadsafe(partial(_deliver_answers, answered))
