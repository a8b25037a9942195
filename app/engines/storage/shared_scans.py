"""Lets calls that need a scan of the same table at the same time share statements."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.dp.table.sums import Answer, Needs
from app.engines.errors import EngineFailure

Group: TypeAlias = Callable[[Iterable[Needs]], list[tuple[Needs, ...]]]
Scan: TypeAlias = Callable[[Sequence[Needs]], Sequence[Answer]]


@dataclass
class _Pending:
    """A need that waits for its answer."""

    answer: Answer | None = None
    error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        return self.answer is not None or self.error is not None


class SharedScans:
    """Computes needs of tables, in rounds: one at a time for each table.

    A call that finds no round of its table starts one. Needs that arrive during a round wait, and one of their calls
    starts the next round, which answers all that wait, with as few statements as possible. So a call waits for at most
    one round of others, and every answer comes from a statement that began after the call did.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, dict[Needs, _Pending]] = {}
        self._in_round: set[str] = set()

    def compute(self, table: str, needs: Iterable[Needs], group: Group, scan: Scan) -> Iterator[tuple[Needs, Answer]]:
        """Yield the answers to needs; those of a statement that failed come last, as its error.

        Args:
            table: which table the needs are about.
            needs: what to compute.
            group: groups needs by the statement that answers them.
            scan: runs one statement over the table.

        Raises:
            What `scan` raises, in this call or in the one whose round it was.
        """
        asked = list(needs)
        if not asked:
            return
        with self._changed:
            waiting = self._waiting.setdefault(table, {})
            mine = {each: waiting.setdefault(each, _Pending()) for each in asked}
        while self._must_start_round(table, mine.values()):
            self._run_round(table, group, scan)
        errors = []
        for each, pending in mine.items():
            if pending.answer is None:
                errors.append(pending.error)
            else:
                yield each, pending.answer
        for error in errors:
            assert error is not None  # noqa: S101 - it is done
            raise error

    def _must_start_round(self, table: str, mine: Iterable[_Pending]) -> bool:
        """Wait until all is done, and return False; or until this call must start the next round, and return True."""
        with self._changed:
            while not all(pending.is_done for pending in mine):
                if table not in self._in_round:
                    self._in_round.add(table)
                    return True
                self._changed.wait()
        return False

    def _run_round(self, table: str, group: Group, scan: Scan) -> None:
        """Answer everything that waits for a scan of the table."""
        with self._changed:
            left = self._waiting.pop(table, {})
        try:
            for together in group(left):
                self._answer(together, left, scan)
        finally:
            with self._changed:
                for pending in left.values():
                    if not pending.is_done:
                        pending.error = EngineFailure()
                self._in_round.discard(table)
                self._changed.notify_all()

    def _answer(self, together: Sequence[Needs], pending: dict[Needs, _Pending], scan: Scan) -> None:
        """Run one statement, and tell the calls that wait for it."""
        try:
            answers = scan(together)
        except Exception as error:  # noqa: BLE001 - for each call that waits
            with self._changed:
                for each in together:
                    pending[each].error = error
                self._changed.notify_all()
            return
        with self._changed:
            for each, answer in zip(together, answers, strict=True):
                pending[each].answer = answer
            self._changed.notify_all()
