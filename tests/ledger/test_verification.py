"""Whatever is changed in the tables behind the service's back is found, and the first bad entry named."""

from collections.abc import Callable

import pytest
from ledger_world import KEYRING, LIMIT_NANO, SEAL, World, new_dataset
from sqlalchemy import delete, insert, select, text, update

from app.db.clock import days_after, now
from app.db.session import Session, WriteSession
from app.db.tables import accounts as account_table
from app.db.tables import allowances as allowance_table
from app.db.tables import entries as entry_table
from app.db.tables import releases as release_table
from app.ledger import accounts, allowances
from app.ledger.chain.keyring import Keyring
from app.ledger.verification import entry_checks, ledger_verification, results
from app.ledger.verification.results import Verification

FIRST_DEBIT, DEBITS = 3, 5
LAST = FIRST_DEBIT + DEBITS - 1
OTHER_TIME = "2026-01-01T00:00:00.000000Z"


def verified(world: World, keyring: Keyring = KEYRING) -> Verification:
    with world.database.read() as session:
        return ledger_verification.verify_ledger(session, keyring, world.dataset.id)


@pytest.fixture
def ledger(world: World) -> World:
    """Entries 1 (open), 2 (allow) and five debits from 3 on."""
    for cost_nano in range(1, DEBITS + 1):
        world.release(cost_nano, f"key {cost_nano}")
    found = verified(world)
    assert (found.valid, found.entries, found.head) == (True, LAST, world.account().head)
    return world


def tamper(world: World, *statements: object) -> None:
    with world.database.write() as transaction:
        if transaction.dialect == "sqlite":
            transaction.connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        for statement in statements:
            assert transaction.connection.execute(statement).rowcount != 0  # type: ignore[call-overload]
        transaction.commit()


def numbered(seq: int) -> tuple[object, ...]:
    return (entry_table.c.seq == seq,)


def change(seq: int, /, **values: object) -> object:
    return update(entry_table).where(*numbered(seq)).values(**values)


def release_at(world: World, seq: int) -> str:
    release_id = world.entries()[seq - 1].release_id
    assert release_id is not None
    return release_id


def first_problem(world: World) -> tuple[int | None, str]:
    found = verified(world)
    assert not found.valid
    return found.problems[0].seq, found.problems[0].what


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("epsilon_nano", 1),
        ("principal", "owner"),
        ("at", OTHER_TIME),
        ("spent_nano", 5),
        ("reason", "said later"),
        ("window_days", 3),
        ("secret_id", "0" * 16),
        ("answer_hash", b"x" * 32),
        ("hash", b"x" * 32),
        ("hash", None),
        ("previous_hash", None),
    ],
)
def test_a_changed_entry_is_named(ledger: World, column: str, value: object) -> None:
    tamper(ledger, change(FIRST_DEBIT + 1, **{column: value}))
    assert first_problem(ledger)[0] == FIRST_DEBIT + 1


def test_an_amount_that_is_changed_wherever_it_stands_is_named(ledger: World) -> None:
    """The debit of 2, its release, and every sum after it."""
    later = entry_table.c.seq > FIRST_DEBIT
    tamper(
        ledger,
        change(FIRST_DEBIT + 1, epsilon_nano=1),
        update(entry_table).where(later).values(spent_nano=entry_table.c.spent_nano - 1),
        update(release_table).where(release_table.c.id == release_at(ledger, FIRST_DEBIT + 1)).values(epsilon_nano=1),
        update(account_table).values(spent_nano=account_table.c.spent_nano - 1),
        update(allowance_table).values(spent_nano=allowance_table.c.spent_nano - 1),
    )
    found = verified(ledger)
    assert [problem.seq for problem in found.problems] == [*range(FIRST_DEBIT + 1, LAST + 1), None]
    assert "account's seal" in found.problems[-1].what
    assert "sealed" in found.problems[0].what


def test_a_deleted_entry_is_missed(ledger: World) -> None:
    release_id = release_at(ledger, FIRST_DEBIT + 1)
    tamper(ledger, delete(entry_table).where(*numbered(FIRST_DEBIT + 1)))
    found = verified(ledger)
    assert found.problems[0].seq == FIRST_DEBIT + 2
    assert "missing" in found.problems[0].what
    assert found.problems[-1].what == f"the release {release_id} has no debit"


def test_an_inserted_entry_is_named(ledger: World) -> None:
    """Behind the third, with all later numbers one higher, and hashes that link."""
    with ledger.database.read() as session:
        columns = [column for column in entry_table.c if column.key != "seq"]
        row = session.row(select(*columns).where(*numbered(2)))
    forged = {column.key: value for column, value in zip(columns, row, strict=True)}
    forged |= {"spent_nano": 1, "previous_hash": ledger.entries()[FIRST_DEBIT - 1].hash}
    moved = [change(seq, seq=seq + 1) for seq in range(LAST, FIRST_DEBIT, -1)]
    tamper(
        ledger,
        *moved,
        insert(entry_table).values(seq=FIRST_DEBIT + 1, **forged),
        update(account_table).values(last_seq=account_table.c.last_seq + 1),
    )
    assert first_problem(ledger)[0] == FIRST_DEBIT + 1


def test_an_entry_appended_without_the_secret_is_named(ledger: World) -> None:
    other = Keyring(["another secret of those who can write"]).seal
    with ledger.database.write() as transaction:
        accounts.write_off_spending(transaction, other, ledger.dataset.id, 1, "owner", "forged", now())
        transaction.commit()
    assert first_problem(ledger) == (LAST + 1, "was sealed with a secret that is not configured here")


def test_two_swapped_entries_are_named(ledger: World) -> None:
    one, two = FIRST_DEBIT + 1, FIRST_DEBIT + 2
    tamper(ledger, change(one, seq=99), change(two, seq=one), change(99, seq=two))
    assert first_problem(ledger)[0] == one


def test_an_entry_far_behind_the_others_is_named(ledger: World) -> None:
    """However wide the gap, that is the next look."""
    tamper(ledger, change(LAST, seq=10**17))
    found = verified(ledger)
    assert (found.problems[0].seq, found.entries) == (10**17, LAST)


def test_a_cut_tail_is_missed(ledger: World) -> None:
    tamper(ledger, delete(entry_table).where(*numbered(LAST)))
    assert first_problem(ledger) == (None, f"the last entry is {LAST - 1}, but the account says {LAST}")


def test_a_cut_tail_with_its_account_leaves_a_release_without_a_debit(ledger: World) -> None:
    release_id, before = release_at(ledger, LAST), ledger.entries()[-2]
    paid = DEBITS
    tamper(
        ledger,
        delete(entry_table).where(*numbered(LAST)),
        update(account_table).values(
            last_seq=before.seq, head=before.hash, spent_nano=account_table.c.spent_nano - paid
        ),
        update(allowance_table).values(spent_nano=allowance_table.c.spent_nano - paid),
    )
    assert first_problem(ledger) == (None, f"the release {release_id} has no debit")


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (update(account_table).values(spent_nano=0), "the account's spending is not the sum of the entries"),
        (update(account_table).values(limit_nano=10**12), "the account's limit is not the one of the last entry"),
        (update(account_table).values(head=b"x" * 32), "the account's head is not the hash of the last entry"),
        (update(account_table).values(head=None), "the account's head is not the hash of the last entry"),
        (update(account_table).values(last_seq=1), f"the last entry is {LAST}, but the account says 1"),
        (update(allowance_table).values(spent_nano=0), "the allowance of analyst differs from what the entries say"),
        (
            update(allowance_table).values(limit_nano=10**12),
            "the allowance of analyst differs from what the entries say",
        ),
        (update(allowance_table).values(revoked=True), "the allowance of analyst differs from what the entries say"),
        (update(allowance_table).values(window_days=1), "the allowance of analyst differs from what the entries say"),
    ],
)
def test_columns_that_are_turned_back_are_found(ledger: World, statement: object, what: str) -> None:
    tamper(ledger, statement)
    assert first_problem(ledger) == (None, what)


def test_a_deleted_allowance_is_missed(ledger: World) -> None:
    tamper(ledger, delete(allowance_table))
    assert verified(ledger).problems[-1].what == "the allowance of analyst differs from what the entries say"


def test_a_missing_account_is_told(ledger: World) -> None:
    with ledger.database.write() as transaction:
        without = new_dataset(transaction, "without", ledger.owner)
        transaction.commit()
    with ledger.database.read() as session:
        found = ledger_verification.verify_ledger(session, KEYRING, without.id)
    assert (found.entries, [problem.what for problem in found.problems]) == (0, ["the dataset's account is missing"])


def test_a_release_without_a_debit_is_named(ledger: World) -> None:
    ledger.store("0190b0a0-0000-7000-8000-000000000000")
    assert first_problem(ledger) == (None, "the release 0190b0a0-0000-7000-8000-000000000000 has no debit")


def test_a_debit_whose_release_is_gone_is_named(ledger: World) -> None:
    of_last = release_table.c.id == release_at(ledger, LAST)
    with ledger.database.write() as transaction:
        connection = transaction.connection
        if transaction.dialect == "postgresql":  # the administrator of a database may drop its rules
            for table in ("entries", "idempotency", "reuse_candidates"):
                connection.execute(text(f"ALTER TABLE {table} DROP CONSTRAINT fk_{table}_release_id"))
        else:  # as for any connection that does not ask for them
            connection.connection.rollback()
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        connection.execute(delete(release_table).where(of_last))
        transaction.commit()
    assert first_problem(ledger) == (LAST, "is the debit of a release that is not stored")


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"response": b"{}"}, "stored response was changed"),
        ({"epsilon_nano": 1}, "differ"),
        ({"created_at": OTHER_TIME}, "differ"),
    ],
)
def test_a_changed_release_is_named_by_its_debit(ledger: World, values: dict[str, object], what: str) -> None:
    tamper(ledger, update(release_table).where(release_table.c.id == release_at(ledger, LAST)).values(**values))
    found = first_problem(ledger)
    assert found[0] == LAST
    assert what in found[1]


def test_a_release_of_somebody_else_is_named_by_its_debit(ledger: World) -> None:
    of_last = release_table.c.id == release_at(ledger, LAST)
    tamper(ledger, update(release_table).where(of_last).values(principal_id=ledger.owner.id))
    assert first_problem(ledger)[0] == LAST


def test_a_release_of_another_dataset_is_named_by_its_debit(ledger: World) -> None:
    with ledger.database.write() as transaction:
        other = new_dataset(transaction, "another", ledger.owner)
        accounts.open_account(transaction, SEAL, other, 1, "owner", now())
        transaction.commit()
    of_last = release_table.c.id == release_at(ledger, LAST)
    tamper(ledger, update(release_table).where(of_last).values(dataset_id=other.id))
    assert first_problem(ledger)[0] == LAST


def test_a_chain_is_bound_to_its_dataset_s_name(ledger: World) -> None:
    with ledger.database.write() as transaction:
        transaction.connection.execute(text("UPDATE datasets SET name = 'renamed'"))
        transaction.commit()
    assert first_problem(ledger) == (1, "was changed after it was sealed: its hash differs")


def test_entries_of_earlier_secrets_are_checked_with_them(ledger: World) -> None:
    new = "the secret after the one before it"
    both = Keyring([new, "the secret of the ledger of these tests"])
    with ledger.database.write() as transaction:
        accounts.write_off_spending(transaction, both.seal, ledger.dataset.id, 1, "owner", "a restore", now())
        transaction.commit()
    assert verified(ledger, both).valid
    assert verified(ledger, Keyring([new])).problems[0].seq == 1
    assert verified(ledger, KEYRING).problems[0].seq == LAST + 1


def test_no_more_problems_are_told_than_help(ledger: World) -> None:
    for _ in range(results.MAX_PROBLEMS):
        ledger.release(1)
    tamper(ledger, update(entry_table).values(principal="nobody"))
    found = verified(ledger)
    assert len(found.problems) == results.MAX_PROBLEMS
    assert found.problems[0].seq == 1


def test_more_entries_than_a_page(ledger: World, monkeypatch: pytest.MonkeyPatch) -> None:
    total = entry_checks.PAGE + 3
    with ledger.database.write() as transaction:
        for _ in range(total - LAST):
            accounts.write_off_spending(transaction, SEAL, ledger.dataset.id, 1, "owner", "many", now())
        transaction.commit()
    assert (verified(ledger).valid, verified(ledger).entries) == (True, total)
    tamper(ledger, change(entry_checks.PAGE + 1, epsilon_nano=2))
    assert first_problem(ledger)[0] == entry_checks.PAGE + 1


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_each_key_is_read_once_without_statistics(ledger: World) -> None:
    """Such as after a restore, when Postgres would read and sort all later keys for each page of them."""
    keys = 3_000  # as in the statements
    tamper(
        ledger,
        text(
            "INSERT INTO releases SELECT lpad(number::text, 36, '0'), dataset_id, principal_id, statistic,"
            " epsilon_nano, gamma, grid_refinement, created_at, response, seal"
            " FROM (SELECT * FROM releases LIMIT 1) AS one, generate_series(1, 3000) AS number"
        ),
        text(
            "INSERT INTO idempotency SELECT principal_id, key || number, fingerprint, lpad(number::text, 36, '0'),"
            " status, created_at, body, seal"
            " FROM (SELECT * FROM idempotency LIMIT 1) AS one, generate_series(1, 3000) AS number"
        ),
    )
    read = text("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'idempotency'")
    with ledger.database.read() as session:
        before = session.connection.execute(read).scalar_one()
        assert not ledger_verification.verify_ledger(session, KEYRING, ledger.dataset.id).valid
        assert keys <= session.connection.execute(read).scalar_one() - before < 1.2 * keys


def test_everything_that_may_happen_leaves_a_valid_ledger(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that pass, change, end and begin; a revoked and renewed allowance; adjustments, a write-off, a close."""
    today = ["2026-01-01T00:00:00.000000Z"]
    monkeypatch.setattr(Session, "time", lambda _: today[0])

    def done(*steps: Callable[[WriteSession], object]) -> None:
        for step in steps:
            with world.database.write() as transaction:
                step(transaction)
                transaction.commit()
            assert verified(world) == Verification(len(world.entries()), world.account().head, ())

    def grant(limit_nano: int, days: int | None) -> Callable[[WriteSession], object]:
        return lambda transaction: allowances.grant_allowance(
            transaction, SEAL, world.dataset.id, world.analyst, limit_nano, now(), days
        )

    def release(cost_nano: int) -> Callable[[WriteSession], object]:
        return lambda transaction: world.release_of(transaction, cost_nano)

    dataset_id = world.dataset.id
    done(release(5), grant(10, 7), release(5))
    today[0] = days_after(today[0], 20)
    done(grant(10, 7), release(10))
    today[0] = days_after(today[0], 7)
    done(release(3), grant(10, 3), release(7))
    today[0] = days_after(today[0], 4)
    done(grant(LIMIT_NANO, None), release(30), grant(LIMIT_NANO, 1), release(2))
    done(
        lambda transaction: allowances.revoke_allowance(transaction, SEAL, dataset_id, world.analyst, now()),
        lambda transaction: accounts.adjust_limit(
            transaction, SEAL, dataset_id, 1000, "owner", 'Größe "\\\n\x7f', now()
        ),
        lambda transaction: accounts.write_off_spending(
            transaction, SEAL, dataset_id, 100, "owner", "a restore", now()
        ),
    )
    today[0] = days_after(today[0], 1)
    done(grant(5, 1), release(5))
    world.close()
    assert verified(world).valid
    tamper(world, update(allowance_table).values(window_started_at=days_after(today[0], 1)))
    assert first_problem(world)[0] is None
