"""Threads and processes on one ledger: what is promised holds to the unit, not on average."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from ledger_world import FINGERPRINT, LIMIT_NANO, World
from service_world import becomes
from sqlalchemy import update
from waiting_writers import has_waiting_writer

from app.db import tables
from app.db.clock import now
from app.db.connection_limits import Limits
from app.db.database import Database, WriteSession
from app.db.repositories import principals
from app.errors import BudgetExhaustedError, DatasetClosedError, UnavailableError
from app.ledger import accounts, allowances
from app.ledger.answers import releases
from app.ledger.chain import entries

THREADS = 8
COST_NANO = LIMIT_NANO // 100


def drain(debit: Callable[[], None], attempts: int = 160) -> int:
    """How many of the attempts of several threads were paid."""

    def attempt(_: int) -> bool:
        try:
            debit()
        except BudgetExhaustedError:
            return False
        return True

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(attempt, range(attempts)))


def assert_exactly_the_limit_is_spent(world: World, debit: Callable[[], None]) -> None:
    assert drain(debit) == 100
    assert world.account().spent_nano == LIMIT_NANO


def test_one_hundred_debits_of_a_hundredth_fit(world: World) -> None:
    def debit() -> None:
        with world.database.write() as transaction:
            world.debit(transaction, COST_NANO)
            transaction.commit()

    assert_exactly_the_limit_is_spent(world, debit)


def test_one_hundred_debits_of_an_allowance_fit(world: World) -> None:
    def debit() -> None:
        with world.database.write() as transaction:
            allowances.debit(transaction, world.dataset.id, world.analyst.id, COST_NANO)
            transaction.commit()

    assert drain(debit) == 100
    assert world.allowance().remaining_nano == 0


def test_a_balance_that_is_read_and_then_written_is_caught(world: World) -> None:
    """The mutant: two threads that read the same balance both spend it."""
    all_have_read = threading.Barrier(THREADS)
    first = threading.local()

    def read_check_write() -> None:
        with world.database.read() as session:
            account = accounts.find_account(session, world.dataset.id)
        if account.remaining_nano < COST_NANO:
            raise BudgetExhaustedError("dataset", COST_NANO, account.remaining_nano, account.limit_nano)
        if not hasattr(first, "over"):
            first.over = True
            all_have_read.wait(60)
        with world.database.write() as transaction:
            transaction.change(update(tables.accounts).values(spent_nano=account.spent_nano + COST_NANO))
            transaction.commit()

    with pytest.raises(AssertionError):
        assert_exactly_the_limit_is_spent(world, read_check_write)


def test_one_hundred_releases_fit_and_every_one_is_on_record(world: World) -> None:
    assert_exactly_the_limit_is_spent(world, lambda: world.release(COST_NANO))
    debits = [entry for entry in world.entries() if entry.kind == "debit"]
    assert [entry.seq for entry in debits] == list(range(3, 103))
    assert [entry.spent_nano for entry in debits] == [COST_NANO * number for number in range(1, 101)]
    with world.database.read() as session:
        stored = releases.page_of_releases(session, None, 1000)
    assert {release.id for release in stored} == {entry.release_id for entry in debits}
    assert world.allowance().remaining_nano == 0


def _release_in_a_process(work: tuple[str, World, int]) -> int:
    url, world, attempts = work
    database = Database(url)
    here = World(database, world.owner, world.analyst, world.dataset)
    paid = 0
    for _ in range(attempts):
        try:
            here.release(COST_NANO)
        except BudgetExhaustedError:
            continue
        paid += 1
    database.close()
    return paid


@pytest.mark.slow
def test_processes_share_the_limit_too(database_url: str, world: World) -> None:
    elsewhere = (database_url, World(None, world.owner, world.analyst, world.dataset), 50)  # type: ignore[arg-type]
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert sum(pool.map(_release_in_a_process, [elsewhere] * 3, chunksize=1)) == 100
    assert world.account().spent_nano == LIMIT_NANO
    assert world.account().last_seq == len(world.entries()) == 102


def test_of_fifty_twins_one_is_paid_and_all_answer_its_bytes(world: World) -> None:
    start = threading.Barrier(50)

    def twin(_: int) -> tuple[bool, bytes]:
        with world.database.read() as session:
            assert world.answered(session, "key") is None
        start.wait(60)
        won = world.release(COST_NANO, "key") is not None
        with world.database.read() as session:
            stored = world.answered(session, "key")
        assert stored.fingerprint == FINGERPRINT
        return won, stored.body.content()

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(twin, range(50)))
    assert sum(won for won, _ in answers) == 1
    assert len({body for _, body in answers}) == 1
    assert world.account().spent_nano == COST_NANO
    assert len(world.entries()) == 3


def test_a_twin_of_a_release_that_fails_takes_the_key_over(world: World) -> None:
    claimed, second_waits = threading.Event(), threading.Event()

    def first() -> None:
        with world.database.write() as transaction:
            world.release_of(transaction, COST_NANO, "key")
            claimed.set()
            second_waits.wait(60)  # and leaves without a commit

    def second() -> bool:
        claimed.wait(60)
        return world.release(COST_NANO, "key") is not None

    with ThreadPoolExecutor(2) as pool:
        failed, took_over = pool.submit(first), pool.submit(second)
        assert becomes(lambda: has_waiting_writer(world.database))
        second_waits.set()
        failed.result()
        assert took_over.result()
    assert world.account().spent_nano == COST_NANO


def test_nothing_is_debited_after_a_dataset_is_closed(world: World) -> None:
    some_were_paid, closed = threading.Event(), threading.Event()

    def release_until_closed(_: int) -> None:
        while not closed.is_set():
            try:
                world.release(1)
            except DatasetClosedError:
                return
            some_were_paid.set()
        with pytest.raises(DatasetClosedError):
            world.release(1)

    def close() -> None:
        some_were_paid.wait(60)
        world.close()

    def close_and_tell() -> None:
        try:
            close()
        finally:
            closed.set()

    with ThreadPoolExecutor(5) as pool:
        closing = pool.submit(close_and_tell)
        list(pool.map(release_until_closed, range(4)))
        closing.result()
    written = world.entries()
    assert written[-1].kind == "close"
    assert written[-1].spent_nano == world.account().spent_nano == len(written) - 3


@pytest.mark.slow
def test_every_snapshot_adds_up_under_load(world: World) -> None:
    drained = threading.Event()

    def look(_: int) -> int:
        looked = 0
        while not drained.is_set() or looked == 0:
            with world.database.read() as session:
                account = accounts.find_account(session, world.dataset.id)
                written = entries.page_of_entries(session, world.dataset.id, 0, 1000)
                allowance = allowances.find_allowance(session, world.dataset.id, world.analyst.id)
            debits = sum(entry.epsilon_nano for entry in written if entry.kind == "debit")
            assert account.spent_nano == debits == written[-1].spent_nano == allowance.spent_nano
            assert account.last_seq == len(written)
            looked += 1
        return looked

    with ThreadPoolExecutor(2) as pool:
        looking = pool.map(look, range(2))
        try:
            assert drain(lambda: world.release(COST_NANO)) == 100
        finally:
            drained.set()
        assert all(looking)


@pytest.mark.parametrize(
    "lock",
    [
        lambda transaction, world: accounts.lock_account(transaction, world.dataset.id),
        lambda transaction, world: accounts.lock_open_account(transaction, world.dataset.id),
        lambda transaction, _: principals.lock_lasting_admins(transaction),
    ],
)
def test_a_lock_is_held_until_the_transaction_ends(
    database_url: str, world: World, lock: Callable[[WriteSession, World], object]
) -> None:
    impatient = Database(database_url, Limits(queue_seconds=0.1, lock_seconds=0.1))

    def second(database: Database) -> None:
        with database.write() as transaction:
            lock(transaction, world)

    with world.database.write() as transaction:
        principals.insert_principal(transaction, "admin", "admin", b"i" * 32, now())
        transaction.commit()
    with world.database.write() as first:
        lock(first, world)
        with pytest.raises(UnavailableError):
            second(impatient)
    second(world.database)
    impatient.close()


def test_two_admins_cannot_disable_each_other(database: Database) -> None:
    with database.write() as transaction:
        admins = [
            principals.insert_principal(transaction, name, "admin", name.encode() * 32, now()) for name in ("a", "b")
        ]
        transaction.commit()
    start = threading.Barrier(2)

    def disable(admin: principals.Principal) -> bool:
        start.wait(60)
        with database.write() as transaction:
            if len(principals.lock_lasting_admins(transaction)) == 1:
                return False
            principals.disable_principal(transaction, admin.id, now())
            transaction.commit()
            return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(disable, admins)) == [False, True]
