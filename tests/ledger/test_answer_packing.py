"""Small answers are packed in the database, and come out to the byte."""

import zlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_world import FINGERPRINT, KEYRING, SEAL, World
from sqlalchemy import select

from app.db.schema_migration import migrate, migrate_down
from app.db.tables import idempotency as key_table
from app.db.tables import releases as release_table
from app.errors import DamagedAnswerError
from app.ledger.answers import answer_packing, idempotency, releases
from app.ledger.answers.answer_packing import MAX_PACKED_BYTES, pack, unpack
from app.ledger.answers.answer_storage import (
    PACKED,
    hash_stored,
    of_content,
    open_body,
    pack_content,
    store,
    unpack_content,
)
from app.ledger.answers.idempotency import Claim
from app.ledger.verification import ledger_verification

ANSWER = (
    b'{"id":"01a2292a-d0c7-7abf-a1df-4bbb1df7324e","dataset":"t","statistic":{"kind":"mean","column":"x","bounds":'
    b'[0,1600]},"value":-3581.3953488372094,"accuracy":{"alpha":0.05,"radius":13935.96406304182,"tight_radius":'
    b'13934.883720930233},"privacy":{"epsilon":"0.001","neighbours":"replace_one","rows_per_unit":1,"n":344},'
    b'"budget":{"charged":"0.001","dataset_remaining":"999998.499","allowance_remaining":"999998.499"}}'
)


@given(st.binary(max_size=MAX_PACKED_BYTES))
def test_packed_bytes_come_out_to_the_byte(plain: bytes) -> None:
    assert unpack(pack(plain)) == plain


def test_an_answer_takes_a_third(world: World) -> None:
    packed = pack_content(ANSWER)
    assert packed[:1] == PACKED
    assert len(packed) < len(ANSWER) / 3
    assert unpack_content(packed) == ANSWER
    assert open_body(of_content(packed), len(packed)).content() == ANSWER
    assert hash_stored(packed) == sha256(ANSWER).digest()
    assert pack_content(packed) == packed


def test_what_would_grow_or_is_large_stays_as_it_is() -> None:
    large = store(b"1" * 10**6).content
    for content in (b"", b"?", b"{}", large, bytes(MAX_PACKED_BYTES + 1)):
        assert unpack_content(pack_content(content)) == content
    assert pack_content(large) == large
    assert hash_stored(large) == sha256(b"1" * 10**6).digest()
    assert pack_content(b"?") == b"?"


@pytest.mark.parametrize("damaged", [b"", pack(ANSWER)[:-1], pack(ANSWER) + b"more", b"\xff" * 9, b"\x00"])
def test_damaged_bytes_are_refused(damaged: bytes) -> None:
    with pytest.raises(DamagedAnswerError):
        open_body(of_content(PACKED + damaged), len(damaged) + 1)


def test_a_small_row_never_becomes_a_large_answer() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -12)
    with pytest.raises(DamagedAnswerError):
        unpack(packer.compress(bytes(10**7)) + packer.flush())


def test_the_dictionary_never_changes() -> None:
    """What is stored in a database can only be read with it."""
    known = "00c7c232666e91e6502017486981c78bb14982046f7eb1f10efa658dff970f51"
    assert sha256(answer_packing._DICTIONARY).hexdigest() == known


def test_releases_are_stored_packed(world: World) -> None:
    release_id = world.release(1, "one")
    assert release_id is not None
    with world.database.read() as session:
        stored = session.row(select(release_table.c.response)).response
        plain = releases.response_body(session, release_id).content()
    assert unpack_content(stored) == plain
    assert len(stored) <= len(plain)


def test_a_migration_packs_the_answers_of_earlier_versions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """In batches, of releases and of keys, and without changing what verification finds."""
    for number in range(5):
        world.release(1, f"key {number}")
    with world.database.write() as transaction:
        claimed = Claim(world.analyst.id, "of its own", FINGERPRINT, "at")
        release_id = world.entries()[-1].release_id
        assert release_id is not None
        assert world.claim(transaction, claimed.key, release_id)
        idempotency.replace_answer(transaction, SEAL, claimed, release_id, 200, store(ANSWER))
        transaction.commit()
    before = contents(world)
    migrate_down(world.database, "0006")
    plain = contents(world)
    assert {content[:1] for content in plain} <= {b"{", b"a"}
    assert plain[-1] == ANSWER
    migrate(world.database)
    assert contents(world) == before
    assert before[-1][:1] == PACKED
    with world.database.read() as session:
        assert ledger_verification.verify_ledger(session, KEYRING, world.dataset.id).valid


def contents(world: World) -> list[bytes]:
    with world.database.read() as session:
        rows = session.rows(select(release_table.c.response).order_by(release_table.c.id))
        of_key = session.row(select(key_table.c.body).where(key_table.c.body.is_not(None)))
    return [*(row.response for row in rows), of_key.body]
