"""A release's stored answer for others than its payer: all of it but what was left of the payer's allowance.

What is left has few digits, so nothing that others get may depend on it: no hash and no size of the stored answer.
"""

import re
from collections.abc import Iterator

from app.errors import DamagedAnswerError
from app.ledger.answers.answer_storage import Body

TAIL_BYTES = 512
"""The budget is among the last bytes of an answer; after it come only two short members."""

_BUDGET = re.compile(
    rb'("budget":\{"charged":"[0-9.]+","dataset_remaining":"[0-9.]+","allowance_remaining":)(?:"[0-9.]+"|null)'
)


class RedactedBody(Body):
    """The answer whose `allowance_remaining` is null. Its `size` is that of the stored answer, so it is not exact."""

    has_exact_size = False

    def __init__(self, stored: Body) -> None:
        self._stored = stored

    @property
    def size(self) -> int:
        """The number of bytes of the stored answer, which is at least that of the redacted one less four."""
        return self._stored.size

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` to before `end` in pieces.

        Raises:
            DamagedAnswerError: the stored answer has no budget.
        """
        position = 0
        for piece in _redact(self._stored.pieces()):
            within = piece[max(start - position, 0) : None if end is None else max(end - position, 0)]
            position += len(piece)
            if within:
                yield within


def _redact(pieces: Iterator[bytes]) -> Iterator[bytes]:
    tail = b""
    for piece in pieces:
        tail += piece
        if len(tail) > TAIL_BYTES:
            yield tail[:-TAIL_BYTES]
            tail = tail[-TAIL_BYTES:]
    *_, last = [None, *_BUDGET.finditer(tail)]
    if last is None:
        raise DamagedAnswerError
    yield tail[: last.end(1)] + b"null" + tail[last.end() :]
