"""Large answers are stored small, and come out to the byte; whatever was changed in the database is not shown."""

import random
import tracemalloc
from collections.abc import Iterator
from hashlib import sha256

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st
from ledger_world import World

from app.db.database import Database
from app.errors import DamagedAnswerError
from app.ledger.answers import idempotency, releases
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Opening, of_content, open_body, store
from app.ledger.answers.reused_answers import Copy, Intervals, ReusedOpening, Text, open_answer

LARGE = b'{"value":[%b],"last":null}' % b",".join(b"%d" % (7 * i % 1009) for i in range(200_000))


@pytest.mark.parametrize("size", [0, 1, MAX_PLAIN_BYTES, MAX_PLAIN_BYTES + 1, 10 * MAX_PLAIN_BYTES])
@pytest.mark.parametrize("ending", [b"", b"the end"])
def test_what_is_stored_comes_out_to_the_byte(size: int, ending: bytes) -> None:
    plain = random.Random(size).randbytes(size).hex().encode()[:size]
    answer = Opening(iter([plain[:10], plain[10:1000], plain[1000:]])).complete(ending)
    body = open_body(of_content(answer.content), len(answer.content))
    assert body.content() == plain + ending
    assert (answer.size, answer.sha256) == (len(plain + ending), sha256(plain + ending).digest())
    assert body.sha256() == answer.sha256
    assert (answer.plain is None) == (size > MAX_PLAIN_BYTES)


@given(st.integers(0, len(LARGE) + 5), st.integers(0, len(LARGE) + 5))
def test_a_part_of_a_body_is_that_part(start: int, end: int) -> None:
    for content in (LARGE, store(LARGE).content):
        assert b"".join(open_body(of_content(content), len(content)).pieces(start, end)) == LARGE[start:end]


def test_an_answer_may_be_completed_again() -> None:
    opening = Opening([LARGE])
    first, second = opening.complete(b"1"), opening.complete(b"22")
    assert open_body(of_content(first.content), len(first.content)).content() == LARGE + b"1"
    assert open_body(of_content(second.content), len(second.content)).content() == LARGE + b"22"
    assert len(first.content) < len(LARGE) / 5


def test_a_large_answer_is_never_held_as_a_whole() -> None:
    def pieces() -> Iterator[bytes]:
        for i in range(1_000):
            yield b"%d," % i * 5_000

    tracemalloc.start()
    opening = Opening(pieces())
    assert tracemalloc.get_traced_memory()[1] < 2**21
    answer = opening.complete(b"")
    assert sum(map(len, open_body(of_content(answer.content), len(answer.content)).pieces())) == answer.size > 2**24
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


@pytest.mark.parametrize("place", [1, 8, 9, 40, 41, 60, -1])
def test_a_changed_byte_is_found(place: int) -> None:
    content = bytearray(store(LARGE).content)
    content[place] ^= 0x40
    with pytest.raises(DamagedAnswerError):
        open_body(of_content(bytes(content)), len(content)).require_sound()


@pytest.mark.parametrize(
    "content", [b"\x01", b"\x01" + bytes(7) + b"\x01" + bytes(32), b"\x02" + bytes(60), store(LARGE).content[:-3]]
)
def test_what_was_not_written_here_is_refused(content: bytes) -> None:
    with pytest.raises(DamagedAnswerError):
        open_body(of_content(content), len(content)).content()
    release = open_body(of_content(LARGE), len(LARGE))
    with pytest.raises(DamagedAnswerError):
        idempotency.open_stored(of_content(content), len(content), lambda: release).content()


def test_a_reuse_is_stored_by_what_differs() -> None:
    value = LARGE.index(b"["), LARGE.index(b"]") + 1
    segments = [Copy(0, value[1]), Text(b',"interval":'), Intervals(*value, mpq(1, 3), 0.0, 1000.0)]
    release = open_body(of_content(LARGE), len(LARGE))
    answer = ReusedOpening(release, segments).complete(b"}")
    made = open_answer(answer, lambda: release).content()
    assert made.startswith(LARGE[: value[1]] + b',"interval":[[0.0,0.33333333333333337],[6.666666666666666,7.3')
    assert made.endswith(b"]]}")
    assert made.count(b"[") == 200_002
    assert (answer.size, answer.sha256) == (len(made), sha256(made).digest())
    assert len(answer.content) < 500
    changed = bytearray(answer.content)
    changed[changed.index(b"1/3")] = ord("2")
    with pytest.raises(DamagedAnswerError):
        idempotency.open_stored(of_content(bytes(changed)), len(changed), lambda: release).require_sound()


def test_large_answers_are_read_in_slices_from_either_database(world: World, database: Database) -> None:
    plain = random.Random(1).randbytes(2_000_000).hex().encode()
    answer = store(plain)
    world.store("r", response=answer.content)
    world.store("s", response=plain)
    world.store("t", response=b"{}")
    with database.read() as session:
        listed = releases.page_of_releases(session, None, 10)
        assert [(each.id, each.content) for each in listed] == [("r", None), ("s", None), ("t", b"{}")]
        assert [each.body(session).content() for each in listed] == [plain, plain, b"{}"]
    bodies = [releases.response_body(database, name) for name in ("r", "s", "t")]
    assert [body.content() for body in bodies] == [plain, plain, b"{}"]
    assert [body.size for body in bodies] == [len(plain), len(plain), 2]
