"""Allowances that renew: which window a debit counts in, and what stays spent whatever is changed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from ledger_world import LIMIT_NANO, SEAL, World

from app.db.clock import days_after, now
from app.db.database import Database
from app.db.session import Session
from app.errors import BudgetExhaustedError, InvalidRequestError
from app.ledger import accounts, allowances
from app.ledger.windows import Window

START = "2026-01-01T00:00:00.000000Z"


class Clock:
    """The database's clock as the test sets it."""

    def __init__(self) -> None:
        self.time = START

    def pass_days(self, days: int) -> None:
        self.time = days_after(self.time, days)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(Session, "time", lambda _: clock.time)
    return clock


def grant(world: World, limit_nano: int, days: int | None) -> allowances.Allowance:
    with world.database.write() as transaction:
        allowance = allowances.grant_allowance(
            transaction, SEAL, world.dataset.id, world.analyst, limit_nano, "unused", days
        )
        transaction.commit()
    assert world.allowance() == allowance
    return allowance


def revoke(world: World) -> None:
    with world.database.write() as transaction:
        allowances.revoke_allowance(transaction, SEAL, world.dataset.id, world.analyst, "at")
        transaction.commit()


def figures(world: World) -> tuple[int, str]:
    allowance = world.allowance()
    return allowance.spent_nano, allowance.window.started_at


def test_a_window_that_has_passed_is_renewed_and_the_dataset_s_spending_is_not(world: World, clock: Clock) -> None:
    grant(world, 10, 7)
    world.release(10)
    with pytest.raises(BudgetExhaustedError) as refused:
        world.release(1)
    error = refused.value
    assert (error.scope, error.remaining_nano, error.limit_nano) == ("allowance", 0, 10)
    clock.time = "2026-01-07T23:59:59.999999Z"
    assert figures(world) == (10, START)
    with pytest.raises(BudgetExhaustedError):
        world.release(1)
    clock.time = "2026-01-08T00:00:00.000000Z"
    assert figures(world) == (0, clock.time)
    with pytest.raises(BudgetExhaustedError) as refused:
        world.release(11)
    assert refused.value.remaining_nano == 10
    world.release(4)
    assert figures(world) == (4, clock.time)
    world.release(6)
    assert figures(world) == (10, clock.time)
    with pytest.raises(BudgetExhaustedError):
        world.release(1)
    assert world.account().spent_nano == 20


def test_windows_follow_each_other_from_the_first_whenever_they_are_used(world: World, clock: Clock) -> None:
    grant(world, 10, 7)
    clock.pass_days(7 * 5 + 3)
    world.release(10)
    assert figures(world) == (10, days_after(START, 35))
    clock.pass_days(3)
    assert figures(world) == (10, days_after(START, 35))
    clock.pass_days(1)
    assert figures(world) == (0, days_after(START, 42))


def test_a_clock_that_is_turned_back_gives_nothing_back(world: World, clock: Clock) -> None:
    grant(world, 10, 1)
    clock.pass_days(5)
    world.release(10)
    clock.time = "2025-06-01T00:00:00.000000Z"
    assert figures(world) == (10, days_after(START, 5))
    with pytest.raises(BudgetExhaustedError):
        world.release(1)


def test_the_dataset_s_limit_holds_over_all_windows(world: World, clock: Clock) -> None:
    grant(world, LIMIT_NANO, 1)
    for _ in range(4):
        world.release(LIMIT_NANO // 4)
        clock.pass_days(1)
    with pytest.raises(BudgetExhaustedError) as refused:
        world.release(1)
    assert refused.value.scope == "dataset"


@pytest.mark.parametrize("days", [None, 3, 7])
@pytest.mark.parametrize("between", [lambda _: None, revoke])
def test_what_is_spent_in_the_present_window_counts_on(
    world: World, clock: Clock, days: int | None, between: Callable[[World], None]
) -> None:
    grant(world, 10, 7)
    clock.pass_days(7)
    world.release(6)
    clock.pass_days(2)
    between(world)
    with pytest.raises(InvalidRequestError):
        grant(world, 5, days)
    allowance = grant(world, 8, days)
    assert (allowance.spent_nano, allowance.remaining_nano) == (6, 2)
    started = {None: None, 3: clock.time, 7: days_after(START, 7)}[days]
    assert allowance.window == (None if days is None else Window(days, started))
    with pytest.raises(BudgetExhaustedError):
        world.release(3)
    clock.pass_days(4)
    assert world.allowance().spent_nano == {None: 6, 3: 0, 7: 6}[days]


def test_a_window_that_has_passed_is_nothing_to_lower_a_limit_below(world: World, clock: Clock) -> None:
    grant(world, 10, 7)
    world.release(10)
    clock.pass_days(7)
    assert grant(world, 5, None).spent_nano == 0
    assert world.allowance().remaining_nano == 5


def test_a_first_window_begins_with_what_was_spent_without_one(world: World, clock: Clock) -> None:
    world.release(6)
    assert grant(world, 10, 30).spent_nano == 6
    clock.pass_days(30)
    assert figures(world) == (0, clock.time)


def test_the_grant_is_on_record_with_its_window_and_by_the_database_s_clock(world: World, clock: Clock) -> None:
    grant(world, 10, 7)
    grant(world, 10, None)
    windowed, plain = world.entries()[-2:]
    assert (windowed.kind, windowed.window_days, windowed.at) == ("allow", 7, START)
    grant(world, 10, None)
    later = world.entries()[-1]
    assert (plain.kind, plain.window_days, plain.at) == (
        "allow",
        None,
        START,
    )  # which window ended decided what is spent
    assert (later.window_days, later.at) == (None, "unused")


def test_every_list_shows_the_present_window(world: World, clock: Clock) -> None:
    grant(world, 10, 7)
    world.release(10)
    clock.pass_days(8)
    with world.database.read() as session:
        (listed,) = allowances.list_allowances(session, world.dataset.id)
        ((_, own),) = allowances.list_allowances_of_principal(session, world.analyst.id)
    assert listed == own == world.allowance()
    assert (own.spent_nano, own.window.started_at, own.window.ends_at) == (
        0,
        days_after(START, 7),
        days_after(START, 14),
    )


def test_the_database_s_clock_is_the_world_s(database: Database) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    with database.read() as session:
        read = session.time()
        assert session.time() is read
    assert len(read) == len(now())
    assert before <= datetime.fromisoformat(read) <= datetime.now(UTC)


def test_a_transaction_that_waited_for_its_lock_reads_the_clock_after_it(world: World) -> None:
    """A debit counts in the window in which it commits, not in the one in which it was asked for."""
    with world.database.write() as transaction:
        accounts.lock_account(transaction, world.dataset.id)
        locked = now()
        assert transaction.time() >= locked[:23]  # SQLite knows milliseconds


def test_without_a_window_no_clock_is_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "time", lambda _: pytest.fail("the clock was read"))
    world.release(1)
    assert world.allowance().spent_nano == 1
