"""A transaction that Postgres undid for another's sake is run again; one whose outcome is unknown never is."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import bindparam, update
from sqlalchemy.exc import OperationalError

from app.db import tables
from app.db.database import MAX_ATTEMPTS, Database, WriteSession
from app.db.dialects.error_translation import translate_errors
from app.db.repositories import principals
from app.errors import TransactionAbortedError, UnavailableError

on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
AT = "2026-01-01T00:00:00.000000Z"


def fill(database: Database) -> None:
    with database.write() as transaction:
        for name in ("a", "b"):
            principals.insert_principal(transaction, name, "analyst", name.encode() * 32, AT)
        transaction.commit()


_TOUCH = update(tables.principals).where(tables.principals.c.name == bindparam("called")).values(role="owner")


def _touch(transaction: WriteSession, name: str) -> None:
    assert transaction.change(_TOUCH, called=name) == 1


@on_postgres
def test_both_sides_of_a_deadlock_are_done(database: Database) -> None:
    fill(database)
    both_hold_one, one_is_done = threading.Barrier(2), threading.Event()
    runs = []

    def lock(first: str, second: str) -> None:
        def work(transaction: WriteSession) -> None:
            runs.append(first)
            if runs.count(first) > 1:  # or it could take its row before the other wakes, and they would meet again
                assert one_is_done.wait(60)
            _touch(transaction, first)
            if runs.count(first) == 1:
                both_hold_one.wait(60)
            _touch(transaction, second)
            transaction.commit()

        database.transact(work, 1)
        one_is_done.set()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(lock, "a", "b"), pool.submit(lock, "b", "a")]:
            done.result()
    assert len(runs) == 3


def aborted(state: type[psycopg.Error]) -> OperationalError:
    return OperationalError("COMMIT", {}, state("undone"))


@pytest.mark.parametrize("state", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
def test_a_transaction_is_not_run_again_for_ever(database: Database, state: type[psycopg.Error]) -> None:
    runs = []

    def work(transaction: WriteSession) -> None:
        runs.append(transaction)
        raise aborted(state)

    with pytest.raises(TransactionAbortedError):
        database.transact(work, 1)
    assert len(runs) == MAX_ATTEMPTS


@pytest.mark.parametrize(
    "failure",
    [
        OperationalError("COMMIT", {}, psycopg.errors.StatementCompletionUnknown("unknown")),
        OperationalError("COMMIT", {}, psycopg.errors.AdminShutdown("going away")),
        OperationalError("COMMIT", {}, psycopg.OperationalError("the connection is lost")),
        OperationalError("SELECT", {}, psycopg.errors.LockNotAvailable("locked")),
    ],
)
def test_what_is_not_certainly_undone_is_not_run_again(database: Database, failure: OperationalError) -> None:
    runs = []

    def work(transaction: WriteSession) -> None:
        runs.append(transaction)
        raise failure

    with pytest.raises(UnavailableError) as raised:
        database.transact(work, 1)
    assert not isinstance(raised.value, TransactionAbortedError)
    assert len(runs) == 1


def test_work_that_is_done_is_done_once(database: Database) -> None:
    def work(transaction: WriteSession) -> str:
        principals.insert_principal(transaction, "ada", "analyst", b"a" * 32, AT)
        transaction.commit()
        return "done"

    assert database.transact(work, 1) == "done"
    with database.read() as session:
        assert principals.find_by_name(session, "ada") is not None
    with pytest.raises(UnavailableError), translate_errors():
        raise OperationalError("", {}, psycopg.OperationalError("away"))
