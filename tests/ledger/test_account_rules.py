import pytest
from ledger_world import KEYRING, LIMIT_NANO, SEAL, World, new_dataset
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.db.clock import now
from app.db.repositories import datasets
from app.errors import BudgetExhaustedError, DatasetClosedError, DatasetStaleError, InvalidRequestError, NotFoundError
from app.ledger import accounts, dataset_states
from app.ledger.account import Account

TENTH_NANO = 10**8
NOBODY = 999


def debit(world: World, cost_nano: int) -> Account:
    with world.database.write() as transaction:
        account = world.debit(transaction, cost_nano)
        transaction.commit()
    return account


def adjust(world: World, limit_nano: int) -> Account:
    with world.database.write() as transaction:
        account = accounts.adjust_limit(transaction, SEAL, world.dataset.id, limit_nano, "owner", "a reason", "at")
        transaction.commit()
    return account


def test_a_new_account(world: World) -> None:
    account = world.account()
    assert (account.limit_nano, account.spent_nano, account.remaining_nano) == (LIMIT_NANO, 0, LIMIT_NANO)
    first = world.entries()[0]
    assert (first.seq, first.kind, first.principal, first.epsilon_nano) == (1, "open", "owner", LIMIT_NANO)


def test_a_tenth_three_times_is_exactly_three_tenths(world: World) -> None:
    adjust(world, 3 * TENTH_NANO)
    assert [debit(world, TENTH_NANO).remaining_nano for _ in range(3)] == [2 * TENTH_NANO, TENTH_NANO, 0]
    with pytest.raises(BudgetExhaustedError) as refused:
        debit(world, TENTH_NANO)
    error = refused.value
    assert (error.scope, error.requested_nano, error.remaining_nano, error.limit_nano) == (
        "dataset",
        TENTH_NANO,
        0,
        3 * TENTH_NANO,
    )
    assert world.account().spent_nano == 3 * TENTH_NANO


def test_one_unit_more_than_is_left_is_refused(world: World) -> None:
    debit(world, LIMIT_NANO - 5)
    with pytest.raises(BudgetExhaustedError):
        debit(world, 6)
    assert debit(world, 5).remaining_nano == 0


def test_a_negative_debit_is_a_defect(world: World) -> None:
    with pytest.raises(ValueError, match="not negative"):
        debit(world, -1)


def test_the_largest_limit_can_be_spent_to_the_unit(world: World) -> None:
    most = 10**15
    adjust(world, most)
    assert debit(world, most - 1).remaining_nano == 1
    assert debit(world, 1).remaining_nano == 0


def test_a_limit_may_rise_and_fall_to_what_is_spent(world: World) -> None:
    debit(world, 7)
    assert adjust(world, 7).remaining_nano == 0
    with pytest.raises(InvalidRequestError) as refused:
        adjust(world, 6)
    assert refused.value.problems == (("epsilon_limit", "must not be below what is already spent"),)
    assert adjust(world, 2 * LIMIT_NANO).limit_nano == 2 * LIMIT_NANO
    last = world.entries()[-1]
    assert (last.kind, last.epsilon_nano, last.spent_nano, last.reason) == ("adjust", 2 * LIMIT_NANO, 7, "a reason")
    assert world.account() == Account(
        world.dataset.id, "penguins", 2 * LIMIT_NANO, 7, last.seq, last.hash, *world.account_seal()
    )


def test_a_closed_dataset_bears_no_debit_and_can_still_be_read(world: World) -> None:
    debit(world, 7)
    world.close()
    with pytest.raises(DatasetClosedError):
        debit(world, 1)
    with world.database.write() as transaction, pytest.raises(DatasetClosedError):
        accounts.lock_open_account(transaction, world.dataset.id)
    assert world.account().spent_nano == 7
    assert [entry.kind for entry in world.entries()] == ["open", "allow", "close"]
    assert world.entries()[-1].spent_nano == 7


def mark(world: World, *, stale: bool) -> None:
    with world.database.write() as transaction:
        dataset_states.mark(transaction, KEYRING, world.dataset.id, now(), stale=stale)
        transaction.commit()


def test_a_stale_dataset_bears_no_debit_until_it_is_open_again(world: World) -> None:
    world.release(7)
    mark(world, stale=True)
    with pytest.raises(DatasetStaleError):
        debit(world, 1)
    with pytest.raises(DatasetStaleError):
        debit(world, LIMIT_NANO)  # more than is left: that it is stale comes first
    for call in (
        accounts.lock_open_account,
        lambda transaction, of: accounts.write_off_spending(transaction, SEAL, of, 1, "o", "r", "at"),
    ):
        with world.database.write() as transaction, pytest.raises(DatasetStaleError):
            call(transaction, world.dataset.id)
    assert world.account().spent_nano == 7
    mark(world, stale=False)
    assert debit(world, 1).spent_nano == 8


def test_a_dataset_closes_once(world: World) -> None:
    world.close()
    with pytest.raises(DatasetClosedError):
        world.close()


def test_an_open_dataset_is_locked_open(world: World) -> None:
    with world.database.write() as transaction:
        assert accounts.lock_open_account(transaction, world.dataset.id) == world.account()


def test_where_there_is_no_account(world: World) -> None:
    with world.database.read() as session, pytest.raises(NotFoundError):
        accounts.find_account(session, NOBODY)
    with world.database.write() as transaction:
        for call in (accounts.lock_account, accounts.lock_open_account):
            with pytest.raises(NotFoundError):
                call(transaction, NOBODY)
        with pytest.raises(NotFoundError):
            accounts.debit(transaction, NOBODY, b"facts", 1)
        with pytest.raises(NotFoundError):
            accounts.adjust_limit(transaction, SEAL, NOBODY, 1, "owner", None, "at")


def test_an_account_is_opened_with_its_dataset_or_not_at_all(world: World) -> None:
    with world.database.write() as transaction:
        dataset = new_dataset(transaction, "half-made", world.owner)
        accounts.open_account(transaction, SEAL, dataset, 0, "owner", now())
    with world.database.read() as session:
        assert datasets.find_dataset(session, "half-made") is None
        with pytest.raises(NotFoundError):
            accounts.find_account(session, dataset.id)


FORBIDDEN = (
    "UPDATE accounts SET spent_nano = limit_nano + 1",
    "UPDATE accounts SET spent_nano = -1",
    "UPDATE accounts SET limit_nano = -1",
    "UPDATE accounts SET limit_nano = 1000000000000001",
    "UPDATE allowances SET spent_nano = limit_nano + 1",
    "UPDATE allowances SET spent_nano = -1",
    "UPDATE entries SET kind = 'gift'",
    "UPDATE entries SET kind = 'debit'",
    "UPDATE entries SET seq = 0",
    "UPDATE datasets SET state = 'closed'",
    "UPDATE principals SET role = 'root'",
    "UPDATE principals SET key_hash = substr(key_hash, 1, 31)",
    "DELETE FROM accounts",
)


def test_the_database_itself_refuses_what_must_never_be(world: World) -> None:
    for statement in FORBIDDEN:
        with world.database.write() as transaction, pytest.raises(IntegrityError):
            transaction.connection.execute(text(statement))
