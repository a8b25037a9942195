"""A verification that starts from the latest verified entry finds what was done after it, and starts nowhere else."""

from dataclasses import replace

import pytest
from ledger_world import KEYRING, SEAL, World
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError

from app.db.clock import now
from app.db.tables import accounts as account_table
from app.db.tables import allowances as allowance_table
from app.db.tables import entries as entry_table
from app.db.tables import releases as release_table
from app.db.tables import verifications
from app.ledger import allowances
from app.ledger.chain.audit_log import Actor
from app.ledger.chain.keyring import Keyring
from app.ledger.verification import latest_verification
from app.ledger.verification.results import Problem, Verification
from app.services import verification_records

LEDGER = "datasets/penguins"
BY = Actor("service")


def verify(world: World, *, incremental: bool, keyring: Keyring = KEYRING) -> Verification:
    with world.database.read() as session:
        return verification_records.verify(session, keyring, world.dataset.id, LEDGER, incremental=incremental)


def store(world: World, found: Verification) -> None:
    with world.database.write() as transaction:
        latest_verification.store_latest(transaction, SEAL, LEDGER, BY, found)
        transaction.commit()


def tamper(world: World, *statements: object) -> None:
    with world.database.write() as transaction:
        if transaction.dialect == "sqlite":
            transaction.connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        for statement in statements:
            assert transaction.connection.execute(statement).rowcount != 0  # type: ignore[call-overload]
        transaction.commit()


@pytest.fixture
def verified(world: World) -> int:
    """Three debits and a windowed allowance that were verified, then two debits; the number of the verified entry."""
    world.release(1, "one")
    with world.database.write() as transaction:
        allowances.grant_allowance(transaction, SEAL, world.dataset.id, world.analyst, 10**8, now(), 30)
        transaction.commit()
    world.release(2, "two")
    store(world, verify(world, incremental=False))
    last = world.account().last_seq
    world.release(3, "three")
    world.release(4, "four")
    return last


def test_it_checks_only_later_entries_and_agrees_with_a_full_one(world: World, verified: int) -> None:
    found, full = verify(world, incremental=True), verify(world, incremental=False)
    assert found == full == Verification(verified + 2, world.account().head, ())
    assert (found.first_checked, full.first_checked) == (verified + 1, 1)
    assert found.state is not None and full.state is not None  # noqa: PT018
    assert replace(found.state, full_at="") == replace(full.state, full_at="")
    store(world, found)
    again = verify(world, incremental=True)
    assert (again.valid, again.first_checked, again.entries) == (True, verified + 3, verified + 2)
    assert again.state is not None and again.state.full_at == found.state.full_at  # noqa: PT018


def test_it_finds_changes_of_later_entries_and_of_every_sum(world: World, verified: int) -> None:
    later = entry_table.c.seq == verified + 1
    release = select(entry_table.c.release_id).where(later).scalar_subquery()
    for statement in (
        update(entry_table).where(later).values(epsilon_nano=1),
        update(release_table).where(release_table.c.id == release).values(gamma="1/3"),
        update(release_table).where(release_table.c.id == release).values(response=b"{}"),
        update(account_table).values(spent_nano=0),
        update(allowance_table).values(spent_nano=0),
        update(allowance_table).values(limit_nano=10**9),
    ):
        with world.database.write() as transaction:
            transaction.connection.execute(statement)
            found = verification_records.verify(transaction, KEYRING, world.dataset.id, LEDGER, incremental=True)
        assert not found.valid
        assert found.first_checked == 1, "a problem is looked for in the whole ledger"
    assert verify(world, incremental=True).valid


def test_a_changed_earlier_entry_cannot_change_a_sum_and_a_full_verification_finds_it(
    world: World, verified: int
) -> None:
    tamper(world, update(entry_table).where(entry_table.c.seq == verified - 1).values(epsilon_nano=0))
    assert verify(world, incremental=True).valid
    assert not verify(world, incremental=False).valid
    spent = world.account().spent_nano - 1
    tamper(world, update(account_table).values(spent_nano=spent), update(entry_table).values(spent_nano=0))
    assert not verify(world, incremental=True).valid


def test_a_ledger_without_the_verified_entry_is_invalid(world: World, verified: int) -> None:
    """Even where everything was put back consistently, with the account's own earlier seal."""
    earlier = world.account()
    with world.database.read() as session:
        account, allowance = (dict(session.row(select(table))._asdict()) for table in (account_table, allowance_table))
    world.release(5)
    store(world, verify(world, incremental=False))
    last = entry_table.c.seq > earlier.last_seq
    tamper(
        world,
        delete(release_table).where(release_table.c.id.in_(select(entry_table.c.release_id).where(last))),
        delete(entry_table).where(last),
        update(allowance_table).values(allowance),
        update(account_table).values(account),
    )
    for incremental in (True, False):
        found = verify(world, incremental=incremental)
        assert [problem.what for problem in found.problems] == [
            "is not the one that was verified before: the ledger was reset"
        ]
        store(world, found)  # and it is still known afterwards


@pytest.mark.parametrize("column", ["state", "problems", "entries", "at"])
def test_nobody_without_the_secret_chooses_where_it_starts(world: World, verified: int, column: str) -> None:
    with world.database.read() as session:
        row = session.row(select(verifications))
    state = (row.state or "").replace(f"[{verified},", f"[{verified + 2},")
    values = {"state": state, "problems": 1, "entries": 1, "at": "2026-01-01T00:00:00.000000Z"}
    tamper(world, update(verifications).values({column: values[column]}))
    found = verify(world, incremental=True)
    assert (found.valid, found.first_checked) == (True, 1)


def test_after_a_problem_everything_is_checked(world: World, verified: int) -> None:
    found = verify(world, incremental=True)
    store(world, replace(found, problems=(Problem(None, "was found"),)))
    assert verify(world, incremental=True).first_checked == 1


def test_another_secret_starts_from_the_first_entry(world: World, verified: int) -> None:
    found = verify(world, incremental=True, keyring=Keyring(["another secret, which sealed nothing here"]))
    assert (found.valid, found.first_checked) == (False, 1)


@pytest.mark.parametrize("number", [-5, 0, 2**63 - 1, 1.5, "abc", b"\0"], ids=repr)
@pytest.mark.parametrize("incremental", [False, True])
def test_an_inserted_entry_of_any_number_is_found(world: World, number: object, *, incremental: bool) -> None:
    """SQLite stores any value; and no number may end the verification with an error."""
    world.release(1, "one")
    store(world, verify(world, incremental=False))
    columns = [column.name for column in entry_table.columns]
    copied = ", ".join(":number" if name == "seq" else name for name in columns)
    insert = text(f"INSERT INTO entries ({', '.join(columns)}) SELECT {copied} FROM entries WHERE seq = 2")  # noqa: S608 - ours
    with world.database.write() as transaction:
        is_sqlite = transaction.dialect == "sqlite"
        if not is_sqlite and number != 2**63 - 1:
            with pytest.raises(DBAPIError):
                transaction.connection.execute(insert, {"number": number})
            return
        if is_sqlite:
            transaction.connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        transaction.connection.execute(insert, {"number": number})
        if is_sqlite:
            transaction.connection.exec_driver_sql("PRAGMA ignore_check_constraints = OFF")
        transaction.commit()
    found = verify(world, incremental=incremental)
    # What stands before the latest verified entry changes no sum, and is found by a full verification.
    assert found.valid is (incremental and isinstance(number, int | float) and number < 2)
    assert all(problem.seq is None or isinstance(problem.seq, int) for problem in found.problems)
