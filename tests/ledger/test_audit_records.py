"""The audit log: written by one at a time, and what the stored principals are compared with."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ledger_world import KEYRING, SEAL, World, recorded
from service_world import becomes
from sqlalchemy import delete, insert, update
from waiting_writers import has_waiting_writer

from app.db.clock import now
from app.db.database import Database
from app.db.repositories import principals
from app.db.tables import principals as principal_table
from app.ledger.chain import audit_log
from app.ledger.chain.audit_log import Actor, Record
from app.ledger.verification import audit_log_verification

OF_ANALYST = principal_table.c.name == "analyst"
NOT_AS_RECORDED = "the principal {} differs from what the records say"


def problems(database: Database) -> list[str]:
    with database.read() as session:
        return [problem.what for problem in audit_log_verification.verify_audit_log(session, KEYRING).problems]


def change(database: Database, statement: Any) -> None:
    """Change a row behind the service's back."""
    with database.write() as transaction:
        assert transaction.connection.execute(statement).rowcount != 0
        transaction.commit()


@pytest.fixture
def gone(world: World) -> str:
    """A principal that is disabled, with its record."""
    with world.database.write() as transaction:
        made = recorded(transaction, "gone", "analyst", b"g" * 32)
        principals.disable_principal(transaction, made.id, now())
        audit_log.append_record(transaction, SEAL, Actor("service"), "principal.disable", "principals/gone", {}, None)
        transaction.commit()
    assert problems(world.database) == []
    return "gone"


def test_a_disabled_principal_that_is_put_back_in_force_is_found(world: World, gone: str) -> None:
    change(world.database, update(principal_table).where(principal_table.c.name == gone).values(disabled_at=None))
    assert problems(world.database) == [NOT_AS_RECORDED.format(gone)]


@pytest.mark.parametrize(
    "changed",
    [
        {"role": "admin"},
        {"key_hash": b"m" * 32},
        {"key_hash": None},
        {"key_expires_at": "2126-01-01T00:00:00.000000Z"},
        {"disabled_at": "2026-01-01T00:00:00.000000Z"},
        {"issuer": "https://provider.example", "subject": "mallory"},
    ],
    ids=" and ".join,
)
def test_a_principal_that_is_changed_without_a_record_is_found(world: World, changed: dict[str, Any]) -> None:
    change(world.database, update(principal_table).where(OF_ANALYST).values(changed))
    assert problems(world.database) == [NOT_AS_RECORDED.format("analyst")]


def test_a_principal_that_is_made_or_renamed_without_a_record_is_found(world: World) -> None:
    mallory = {"name": "mallory", "role": "admin", "key_hash": b"m" * 32, "created_at": now()}
    change(world.database, insert(principal_table).values(mallory))
    assert problems(world.database) == ["the principal mallory was created without a record"]
    change(world.database, delete(principal_table).where(principal_table.c.name == "mallory"))
    change(world.database, update(principal_table).where(OF_ANALYST).values(name="mallory"))
    assert problems(world.database) == [
        "the principal mallory was created without a record",
        "the principal analyst is missing",
    ]


def test_records_of_acts_at_the_same_time_follow_each_other(world: World) -> None:
    """Who comes second waits for the first one's commit, and then seals what that has written."""
    database = world.database

    def act(name: str) -> Record:
        with database.write() as transaction:
            record = audit_log.append_record(transaction, SEAL, Actor("service"), "test", name, {}, None)
            transaction.commit()
            return record

    with ThreadPoolExecutor(1) as pool:
        with database.write() as transaction:
            first = audit_log.append_record(transaction, SEAL, Actor("service"), "test", "first", {}, None)
            second = pool.submit(act, "second")
            assert becomes(lambda: has_waiting_writer(database))
            transaction.commit()
        assert (second.result().seq, second.result().previous_hash) == (first.seq + 1, first.hash)
        assert second.result().at >= first.at
    assert problems(database) == []


def test_a_record_of_what_was_rolled_back_is_none(world: World) -> None:
    with world.database.write() as transaction:
        undone = audit_log.append_record(transaction, SEAL, Actor("service"), "test", "undone", {}, None)
    with world.database.write() as transaction:
        done = audit_log.append_record(transaction, SEAL, Actor("service"), "test", "done", {}, None)
        transaction.commit()
    assert (done.seq, done.previous_hash) == (undone.seq, undone.previous_hash)
    assert problems(world.database) == []
