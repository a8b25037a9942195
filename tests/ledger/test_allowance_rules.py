import pytest
from ledger_world import LIMIT_NANO, SEAL, World, new_dataset

from app.db.clock import now
from app.db.repositories import principals
from app.errors import BudgetExhaustedError, ForbiddenError, InvalidRequestError, NotFoundError
from app.ledger import accounts, allowances


def grant(world: World, limit_nano: int) -> allowances.Allowance:
    with world.database.write() as transaction:
        allowance = allowances.grant_allowance(transaction, SEAL, world.dataset.id, world.analyst, limit_nano, "at")
        transaction.commit()
    return allowance


def revoke(world: World) -> None:
    with world.database.write() as transaction:
        allowances.revoke_allowance(transaction, SEAL, world.dataset.id, world.analyst, "at")
        transaction.commit()


def debit(world: World, cost_nano: int) -> allowances.Allowance:
    with world.database.write() as transaction:
        allowance = allowances.debit(transaction, world.dataset.id, world.analyst.id, cost_nano)
        transaction.commit()
    return allowance


def test_a_tenth_three_times_is_exactly_three_tenths(world: World) -> None:
    grant(world, 3 * 10**8)
    assert [debit(world, 10**8).remaining_nano for _ in range(3)] == [2 * 10**8, 10**8, 0]
    with pytest.raises(BudgetExhaustedError) as refused:
        debit(world, 10**8)
    error = refused.value
    assert (error.scope, error.requested_nano, error.remaining_nano, error.limit_nano) == (
        "allowance",
        10**8,
        0,
        3 * 10**8,
    )


def test_a_debit_answers_the_allowance_after_it(world: World) -> None:
    assert debit(world, 5) == allowances.Allowance(world.analyst.id, "analyst", LIMIT_NANO, 5, revoked=False)
    assert world.allowance() == allowances.Allowance(world.analyst.id, "analyst", LIMIT_NANO, 5, revoked=False)


def test_a_negative_debit_is_a_defect(world: World) -> None:
    with pytest.raises(ValueError, match="not negative"):
        debit(world, -1)


def test_what_the_allowance_refuses_the_dataset_does_not_pay(world: World) -> None:
    grant(world, 5)
    with pytest.raises(BudgetExhaustedError) as refused:
        world.release(6)
    assert refused.value.scope == "allowance"
    assert world.account().spent_nano == 0
    assert [entry.kind for entry in world.entries()] == ["open", "allow", "allow"]


def test_a_revoked_allowance_keeps_its_spending_and_bears_no_debit(world: World) -> None:
    world.release(7)
    revoke(world)
    assert world.allowance() is None
    with pytest.raises(ForbiddenError):
        world.release(1)
    assert world.account().spent_nano == 7
    with world.database.read() as session:
        assert allowances.list_allowances(session, world.dataset.id) == [
            allowances.Allowance(world.analyst.id, "analyst", LIMIT_NANO, 7, revoked=True)
        ]
        assert allowances.list_allowances_of_principal(session, world.analyst.id) == []
    with pytest.raises(NotFoundError):
        revoke(world)
    last = world.entries()[-1]
    assert (last.kind, last.principal, last.epsilon_nano, last.spent_nano) == ("revoke", "analyst", 0, 7)


def test_a_renewed_allowance_goes_on_from_what_it_spent(world: World) -> None:
    world.release(7)
    revoke(world)
    with pytest.raises(InvalidRequestError):
        grant(world, 6)
    assert world.allowance() is None
    assert grant(world, 8).remaining_nano == 1
    world.release(1)
    with pytest.raises(BudgetExhaustedError):
        world.release(1)


def test_a_limit_may_not_fall_below_what_is_spent(world: World) -> None:
    world.release(7)
    with pytest.raises(InvalidRequestError) as refused:
        grant(world, 6)
    assert refused.value.problems[0][0] == "epsilon_limit"
    assert world.allowance() == allowances.Allowance(world.analyst.id, "analyst", LIMIT_NANO, 7, revoked=False)
    assert grant(world, 7).remaining_nano == 0
    last = world.entries()[-1]
    assert (last.kind, last.principal, last.epsilon_nano, last.spent_nano) == ("allow", "analyst", 7, 7)


def test_allowances_together_may_exceed_the_dataset_which_holds(world: World) -> None:
    assert grant(world, 5 * LIMIT_NANO).limit_nano == 5 * LIMIT_NANO
    world.release(LIMIT_NANO)
    with pytest.raises(BudgetExhaustedError) as refused:
        world.release(1)
    assert refused.value.scope == "dataset"


def test_without_an_allowance_there_is_no_debit(world: World) -> None:
    with world.database.write() as transaction, pytest.raises(ForbiddenError):
        allowances.debit(transaction, world.dataset.id, world.owner.id, 1)
    with world.database.write() as transaction, pytest.raises(NotFoundError):
        allowances.grant_allowance(transaction, SEAL, 999, world.owner, 1, "at")


def test_lists_of_allowances(world: World) -> None:
    with world.database.write() as transaction:
        other = new_dataset(transaction, "another", world.owner)
        accounts.open_account(transaction, SEAL, other, LIMIT_NANO, "owner", now())
        beda = principals.insert_principal(transaction, "beda", "analyst", b"b" * 32, now())
        for dataset, principal, limit_nano in ((other, world.analyst, 2), (other, beda, 3), (world.dataset, beda, 4)):
            allowances.grant_allowance(transaction, SEAL, dataset.id, principal, limit_nano, "at")
        transaction.commit()
    with world.database.read() as session:
        of_analyst = allowances.list_allowances_of_principal(session, world.analyst.id)
        of_dataset = allowances.list_allowances(session, world.dataset.id)
    assert [(name, allowance.limit_nano) for name, allowance in of_analyst] == [
        ("penguins", LIMIT_NANO),
        ("another", 2),
    ]
    assert [(allowance.principal, allowance.limit_nano) for allowance in of_dataset] == [
        ("analyst", LIMIT_NANO),
        ("beda", 4),
    ]
