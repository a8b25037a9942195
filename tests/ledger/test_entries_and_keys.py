from itertools import pairwise

import pytest
from ledger_world import FINGERPRINT, LIMIT_NANO, SEAL, World, new_dataset
from sqlalchemy.exc import IntegrityError

from app.db.clock import now
from app.ledger import accounts
from app.ledger.answers import idempotency
from app.ledger.answers.answer_storage import store
from app.ledger.answers.idempotency import Claim
from app.ledger.chain import entries


def told(stored: idempotency.ReplayableAnswer) -> tuple[bytes, int, str, bytes]:
    return stored.fingerprint, stored.status, stored.release_id, stored.body.content()


def test_entries_are_numbered_without_a_gap_and_add_up(world: World) -> None:
    for cost_nano in (5, 7, 11):
        world.release(cost_nano)
    written = world.entries()
    assert [entry.seq for entry in written] == [1, 2, 3, 4, 5]
    assert [(entry.kind, entry.principal, entry.epsilon_nano, entry.spent_nano) for entry in written] == [
        ("open", "owner", LIMIT_NANO, 0),
        ("allow", "analyst", LIMIT_NANO, 0),
        ("debit", "analyst", 5, 5),
        ("debit", "analyst", 7, 12),
        ("debit", "analyst", 11, 23),
    ]
    assert all(earlier.at <= later.at for earlier, later in pairwise(written))
    assert [entry.release_id is not None for entry in written] == [False, False, True, True, True]
    assert [entry.previous_hash for entry in written] == [None, *(entry.hash for entry in written[:-1])]
    assert {entry.secret_id for entry in written} == {SEAL.secret_id}
    assert [entry.answer_hash is not None for entry in written] == [False, False, True, True, True]
    assert world.account().head == written[-1].hash
    assert (world.account().last_seq, world.account().spent_nano) == (5, 23)


def test_what_is_appended_is_what_is_read(world: World) -> None:
    with world.database.write() as transaction:
        account = accounts.lock_account(transaction, world.dataset.id)
        at = now()
        after = entries.append_entry(transaction, SEAL, account, "adjust", "owner", 3, at, reason="a survey")
        transaction.commit()
    assert world.account() == after
    sealed = (3, "adjust", "owner", 3, 0, None, None, None, "a survey", at, SEAL.secret_id, account.head)
    assert world.entries()[-1] == entries.Entry(world.dataset.id, *sealed, after.head, None)


def test_a_rolled_back_entry_leaves_no_gap(world: World) -> None:
    with world.database.write() as transaction:
        world.release_of(transaction, 5)
    world.release(5)
    assert [entry.seq for entry in world.entries()] == [1, 2, 3]


def test_each_dataset_has_its_own_numbers(world: World) -> None:
    with world.database.write() as transaction:
        other = new_dataset(transaction, "another", world.owner)
        accounts.open_account(transaction, SEAL, other, 1, "owner", now())
        transaction.commit()
    with world.database.read() as session:
        assert [entry.seq for entry in entries.page_of_entries(session, other.id, 0, 10)] == [1]


def test_pages_of_entries_are_exclusive_and_oldest_first(world: World) -> None:
    for _ in range(5):
        world.release(1)
    with world.database.read() as session:
        pages = [
            [entry.seq for entry in entries.page_of_entries(session, world.dataset.id, after, 3)]
            for after in (0, 3, 6, 7)
        ]
    assert pages == [[1, 2, 3], [4, 5, 6], [7], []]


def test_an_entry_that_does_not_follow_the_last_one_is_a_defect(world: World) -> None:
    read_too_early = world.account()
    world.release(1)
    before = [entry.kind for entry in world.entries()]
    with world.database.write() as transaction, pytest.raises(IntegrityError):
        entries.append_entry(transaction, SEAL, read_too_early, "close", "owner", 0, now())
    with world.database.write() as transaction:
        entries.append_entry(transaction, SEAL, read_too_early._replace(last_seq=7), "close", "owner", 0, now())
        with pytest.raises(AssertionError, match="without its lock"):
            transaction.commit()
    assert [entry.kind for entry in world.entries()] == before


def commit_only_the_debit(world: World) -> None:
    with world.database.write() as transaction:
        account = world.debit(transaction, 1)
        entries.append_entry(transaction, SEAL, account, "debit", "analyst", 1, "at", release_id="no-release")
        transaction.commit()


def commit_only_the_key(world: World) -> None:
    with world.database.write() as transaction:
        assert world.claim(transaction, "k", "no-release")
        transaction.commit()


@pytest.mark.parametrize("half", [commit_only_the_debit, commit_only_the_key])
def test_a_debit_or_a_key_without_its_release_cannot_be_committed(world: World, half: object) -> None:
    with pytest.raises(IntegrityError):
        half(world)  # type: ignore[operator]
    assert (world.account().spent_nano, world.account().last_seq) == (0, 2)
    with world.database.read() as session:
        assert world.answered(session, "k") is None
    world.release(1, "k")  # and the connection is as good as before


def test_a_key_answers_with_its_release(world: World) -> None:
    release_id = world.release(5, "key one")
    with world.database.read() as session:
        stored = world.answered(session, "key one")
        assert world.answered(session, "key two") is None
        assert world.answered(session, "key one", world.owner.id) is None
    assert told(stored) == (FINGERPRINT, 201, release_id, world.row(release_id).response)


def test_a_taken_key_is_not_claimed_again(world: World) -> None:
    first = world.release(5, "key")
    assert world.release(5, "key") is None
    assert world.account().spent_nano == 5
    with world.database.read() as session:
        assert world.answered(session, "key").release_id == first


def test_the_key_of_a_refused_release_stays_usable(world: World) -> None:
    with world.database.write() as transaction:
        assert world.claim(transaction, "key", "r")
    assert world.release(5, "key") is not None


def test_a_reused_release_answers_in_the_words_of_its_own_request(world: World) -> None:
    earlier = world.release(5, "first")
    with world.database.write() as transaction:
        assert world.claim(transaction, "second", "")
        claim = Claim(world.analyst.id, "second", FINGERPRINT, "at")
        idempotency.replace_answer(transaction, SEAL, claim, earlier, 200, store(b"reused"))
        transaction.commit()
    with world.database.read() as session:
        second = world.answered(session, "second")
        first = world.answered(session, "first")
    assert told(second) == (FINGERPRINT, 200, earlier, b"reused")
    assert (first.status, first.body.content()) == (201, world.row(earlier).response)
