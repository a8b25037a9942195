"""The storage format of a large answer that reuses an earlier release: only the differences from that release.

The format is a list of segments in the order of the answer: bytes copied from the release's answer, bytes that only
this answer has, and the intervals around the release's values. The intervals are recomputed from the exact reach
(radius + resolution). The SHA-256 of the whole answer is stored too: if the rendered bytes differ, the answer counts as
damaged.
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
    """UTF-8 bytes that only this answer has."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Copy:
    """The bytes of the release's answer from `start` to before `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Intervals:
    """The intervals around the numbers of an array in the release's answer, from byte `start` to before `end`.

    Each interval is the number ± `reach`, clamped to the range from `lowest` to `highest`.
    """

    start: int
    end: int
    reach: mpq
    lowest: float
    highest: float


Segment: TypeAlias = Text | Copy | Intervals


def render(release: Body, segments: Sequence[Segment]) -> Iterator[bytes]:
    """Yield the bytes that the segments describe, in pieces."""
    for segment in segments:
        match segment:
            case Text(content):
                yield content
            case Copy(start, end):
                yield from release.pieces(start, end)
            case Intervals(start, end, reach, lowest, highest):
                yield from interval_pieces(release.pieces(start, end), reach, lowest, highest)


class ReusedOpening:
    """The first part of an answer that reuses a release, without the ending that only its transaction knows."""

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
        """How many bytes will be stored, without the ending."""
        return len(self._plain) if self._size <= MAX_PLAIN_BYTES else len(_encode(self._segments))

    def complete(self, ending: bytes) -> StoredAnswer:
        """Return the answer with this ending. It may be called again with another ending."""
        size, digest = self._size + len(ending), self._hash.copy()
        digest.update(ending)
        sha256 = digest.digest()
        if self._size <= MAX_PLAIN_BYTES:
            return StoredAnswer(self._plain + ending, size, sha256)
        content = header(REUSED, size, sha256) + _encode((*self._segments, Text(ending)))
        return StoredAnswer(content, size, sha256)


def _encode(segments: Sequence[Segment]) -> bytes:
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


def _decode(text: bytes) -> tuple[Segment, ...]:
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
    """The body of an answer that reuses a release.

    Raises:
        DamagedAnswerError: the stored segments are damaged.
    """

    def __init__(self, head: bytes, text: bytes, open_release: Callable[[], Body]) -> None:
        super().__init__(head)
        self._open_release = open_release
        try:
            self._segments = _decode(text)
        except (ValueError, ZeroDivisionError) as error:
            raise DamagedAnswerError from error

    def _all_pieces(self) -> Iterator[bytes]:
        return render(self._open_release(), self._segments)


def open_answer(answer: StoredAnswer, open_release: Callable[[], Body]) -> Body:
    """Open an answer that was just rendered. If it is a reuse, `open_release` opens the body of its release."""
    return open_stored(of_content(answer.content), len(answer.content), open_release)


def open_stored(read: Read, stored_bytes: int, open_release: Callable[[], Body]) -> Body:
    """Open a stored answer that may be a reuse. If it is, `open_release` opens the body of its release."""
    return open_body(read, stored_bytes, lambda head, text: ReusedBody(head, text, open_release))
