"""What is stored of a large answer that an earlier release gives again: only what differs from that release.

It is a list of segments, in the order of the answer: bytes that are copied from the release's answer, bytes of this
answer's own, and the intervals around the release's values, which are computed again from the exact reach (radius +
resolution). The SHA-256 of the whole answer is stored with it: what does not come out to the byte is not shown.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gmpy2 import mpq

from app.errors import DamagedAnswerError
from app.interval_text import interval_pieces
from app.json_text import encode_json
from app.ledger.answers.answer_storage import (
    MAX_PLAIN_BYTES,
    REUSED,
    Body,
    LargeBody,
    Read,
    StoredAnswer,
    header,
    of_content,
    open_body,
)


@dataclass(frozen=True, slots=True)
class Text:
    """Bytes of this answer's own, which are UTF-8."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Copy:
    """The bytes of the release's answer from `start` to before `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Intervals:
    """Each number of the array that is the release's answer from `start` to before `end`, ± `reach`.

    They are cut to the range from `lowest` to `highest`.
    """

    start: int
    end: int
    reach: mpq
    lowest: float
    highest: float


Segment: TypeAlias = Text | Copy | Intervals


def render(release: Body, segments: Sequence[Segment]) -> Iterator[bytes]:
    """The bytes that segments stand for, a piece at a time."""
    for segment in segments:
        match segment:
            case Text(content):
                yield content
            case Copy(start, end):
                yield from release.pieces(start, end)
            case Intervals(start, end, reach, lowest, highest):
                yield from interval_pieces(release.pieces(start, end), reach, lowest, highest)


class ReusedOpening:
    """The beginning of the answer that a release gives again, up to what only its transaction knows."""

    def __init__(self, release: Body, segments: Sequence[Segment]) -> None:
        self._segments = tuple(segments)
        self._hash, self._size = hashlib.sha256(), 0
        plain: list[bytes] = []
        for piece in render(release, segments):
            self._hash.update(piece)
            self._size += len(piece)
            if self._size <= MAX_PLAIN_BYTES:
                plain.append(piece)
            else:
                plain.clear()
        self._plain = b"".join(plain)

    @property
    def stored_bytes(self) -> int:
        """How much of the answer is to be stored, but for its ending."""
        return len(self._plain) if self._size <= MAX_PLAIN_BYTES else len(_encoded(self._segments))

    def complete(self, ending: bytes) -> StoredAnswer:
        """The answer with its ending. It may be called again, with another one."""
        size, digest = self._size + len(ending), self._hash.copy()
        digest.update(ending)
        sha256 = digest.digest()
        if self._size <= MAX_PLAIN_BYTES:
            return StoredAnswer(self._plain + ending, size, sha256)
        content = header(REUSED, size, sha256) + _encoded((*self._segments, Text(ending)))
        return StoredAnswer(content, size, sha256)


def _encoded(segments: Sequence[Segment]) -> bytes:
    described: list[list[object]] = []
    for segment in segments:
        match segment:
            case Text(content):
                described.append(["text", content.decode()])
            case Copy(start, end):
                described.append(["copy", start, end])
            case Intervals(start, end, reach, lowest, highest):
                described.append(["intervals", start, end, str(reach), lowest, highest])
    return encode_json(described)


def _decoded(text: bytes) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    for described in json.loads(text):
        match described:
            case ["text", str(content)]:
                segments.append(Text(content.encode()))
            case ["copy", int(start), int(end)]:
                segments.append(Copy(start, end))
            case ["intervals", int(start), int(end), str(reach), int() | float() as lowest, int() | float() as highest]:
                segments.append(Intervals(start, end, mpq(reach), float(lowest), float(highest)))
            case _:
                raise DamagedAnswerError
    return tuple(segments)


class ReusedBody(LargeBody):
    """The answer that a release gives again.

    Raises:
        DamagedAnswerError: what is stored is not what was written.
    """

    def __init__(self, head: bytes, text: bytes, open_release: Callable[[], Body]) -> None:
        super().__init__(head)
        self._open_release = open_release
        try:
            self._segments = _decoded(text)
        except (ValueError, ZeroDivisionError) as error:
            raise DamagedAnswerError from error

    def _all_pieces(self) -> Iterator[bytes]:
        return render(self._open_release(), self._segments)


def open_answer(answer: StoredAnswer, open_release: Callable[[], Body]) -> Body:
    """The body of an answer that was just made; `open_release` opens that of the release that it may point to."""
    return open_stored(of_content(answer.content), len(answer.content), open_release)


def open_stored(read: Read, stored_bytes: int, open_release: Callable[[], Body]) -> Body:
    """As `open_body`, of what may be a reuse; `open_release` opens the answer of the release that it points to."""
    return open_body(read, stored_bytes, lambda head, text: ReusedBody(head, text, open_release))
