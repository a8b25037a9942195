"""Whoever can write to the database and has not the secret changes any column of any row: it is found, or harmless."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from service_world import serving
from sqlalchemy import Column, Connection, Table, select, update
from sqlalchemy.exc import IntegrityError
from tampering import change, fill, keyring_of, rows_of, unconstrained

from app.db import tables
from app.db.database import Database
from app.db.session import Session
from app.db.tables import metadata
from app.errors import NotFoundError
from app.ledger.chain import checkpoints
from app.ledger.chain.keyring import Keyring
from app.ledger.verification import audit_log_verification, ledger_verification
from app.services.operations import full_verification

HARMLESS = {
    ("principals", "id"): "where nothing refers to the principal: a reference to another one is found",
    ("principals", "created_at"): "it is shown, and nothing follows from it; the record of the act has its own time",
    ("accounts", "stored_bytes"): "it limits how much is stored, and nothing follows from it for anybody's privacy",
    ("allowances", "stored_bytes"): "as that of accounts",
    ("principals", "disabled_at"): "whether there is one is compared; from when is only shown",
    **{
        ("verifications", column): "it is shown beside its seal's columns; a row that does not match its seal is not"
        for column in ("ledger", "at", "via", "actor", "entries", "problems", "seal")
    },
    ("verifications", "state"): "where it does not match its seal, a verification starts from the first entry",
    **{
        ("figure_outbox", column): "it says what to copy; every ten minutes the copy is compared as a whole"
        for column in ("figure_id", "change", "written")
    },
    **{("collection_outbox", column): "as that of figures" for column in ("name", "change", "written")},
    ("relocations", "id"): "a move that goes on compares it, and refuses another",
    ("relocations", "state"): "in either state no service starts on the database",
    ("relocations", "other"): "it is told to whoever starts a service on the wrong database, which does not start",
    ("relocations", "at"): "as `other`",
}
"""What verification does not find, and why that helps nobody."""


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_change_of_any_column_is_found(tmp_path: Path, database_url: str) -> None:
    """Of one row of each table; the slow test changes every row, and some on Postgres."""
    _assert_changes_are_found(tmp_path, database_url, most=1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_change_of_any_column_of_any_row_is_found(tmp_path: Path, database_url: str) -> None:
    """On Postgres of three rows of each table: what is found in a row does not depend on where it is stored."""
    most = 1_000 if database_url.startswith("sqlite") else 3
    _assert_changes_are_found(tmp_path, database_url, most=most)


def _assert_changes_are_found(folder: Path, database_url: str, most: int) -> None:
    with serving(folder, database_url) as service:
        fill(service)
        keyring = keyring_of(service)
    database = Database(database_url)
    with unconstrained(database) as connection:
        session = Session(connection)
        assert full_verification.verify_ledgers(session, keyring, None, None).valid
        tried, search = set(), _Search(session, keyring)
        for table, column, row in _changes(connection, most):
            if not _is_free(connection, table, column, row):
                tried.add((table.name, column.key))
                assert search.finds() or (table.name, column.key) in HARMLESS, (table.name, column.key, row)
    assert tried | HARMLESS.keys() == {
        (table.name, column.key) for table in metadata.sorted_tables for column in table.c
    }
    database.close()


class _Search:
    """Verifies all ledgers until something is found, first the one where the last change was found."""

    def __init__(self, session: Session, keyring: Keyring) -> None:
        self._session, self._keyring = session, keyring
        self._likely: str | None = None

    def finds(self) -> bool:
        """Whether verification finds anything."""
        if self._likely is not None and not self._is_valid(self._likely):
            return True
        for name in (checkpoints.ACTS, *ledger_verification.list_dataset_names(self._session)):
            if not self._is_valid(name):
                self._likely = name
                return True
        return False

    def _is_valid(self, name: str) -> bool:
        if name == checkpoints.ACTS:
            return audit_log_verification.verify_audit_log(self._session, self._keyring).valid
        try:
            return full_verification.verify_dataset(self._session, self._keyring, name).valid
        except NotFoundError:  # the change gave it another name
            return True


@pytest.mark.slow
def test_a_value_of_any_type_ends_no_verification(tmp_path: Path) -> None:
    """SQLite stores a text in a column of numbers or bytes."""
    url = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, url) as service:
        fill(service)
        keyring = keyring_of(service)
    database = Database(url)
    with unconstrained(database) as connection:
        session = Session(connection)
        for table in set(metadata.sorted_tables) - {tables.relocations}:  # no ledger has to do with it
            for column in table.c:
                for value in ("'abc'", "x'00ff'", "1.5", "9223372036854775807"):
                    part = connection.begin_nested()
                    with suppress(IntegrityError):
                        assert connection.exec_driver_sql(_change_last(table, column, value)).rowcount == 1
                        full_verification.verify_ledgers(session, keyring, None, None)
                    part.rollback()
    database.close()


def _change_last(table: Table, column: Column[Any], value: str) -> str:
    keys = ", ".join(each.name for each in table.primary_key)
    last = f"(SELECT {keys} FROM {table.name} ORDER BY 1 DESC LIMIT 1)"  # noqa: S608 - all of it is our own text
    return f"UPDATE {table.name} SET {column.name} = {value} WHERE ({keys}) = {last}"  # noqa: S608 - as above


def _changes(connection: Connection, most: int) -> Iterator[tuple[Table, Column[Any], dict[str, Any]]]:
    """Each column of each of the last rows of each table, changed until the next one is asked for."""
    for table in metadata.sorted_tables:
        rows = rows_of(connection, table)
        assert rows, table.name
        for column in table.c:
            changed = 0
            for row in reversed(rows):
                part = connection.begin_nested()
                with suppress(IntegrityError):  # it would be another row's, which must be unique
                    assert connection.execute(change(table, column, row, rows)).rowcount == 1
                    changed += 1
                    yield table, column, row
                part.rollback()
                if changed == most:
                    break


def _is_free(connection: Connection, table: Table, column: Column[Any], row: dict[str, Any]) -> bool:
    """Whether the change is one that no reference tells of: the number of a principal that has none."""
    if (table.name, column.key) != ("principals", "id"):
        return False
    columns = [each for other in metadata.sorted_tables for each in other.c if each.references(table.c.id)]
    return all(connection.execute(select(each).where(each == row["id"])).first() is None for each in columns)


@pytest.mark.slow
def test_the_command_and_the_interface_tell_the_same(tmp_path: Path, database_url: str) -> None:
    with serving(tmp_path, database_url) as service:
        table = fill(service)
        database = Database(database_url)
        settings = {"DATABASE_URL": database_url, "DATA_DIR": str(service.data)}

        def told() -> tuple[bool, bool]:
            """Whether everything is valid by the command, and the dataset by the interface."""
            answer = table.owner.get(f"{table.path}/ledger/verification").json()
            return run("ledger", "verify", **settings).status == 0, answer["valid"]

        assert told() == (True, True)
        for column, other in (
            (tables.datasets.c.rows_per_unit, 1),
            (tables.releases.c.gamma, "1/7"),
            (tables.reuse_candidates.c.score, 0.0),
            (tables.idempotency.c.created_at, "2026-01-01T00:00:00.000000Z"),
        ):
            rows = _rewrite(database, column, {}, other)
            assert told() == (False, False), column
            _rewrite(database, column, rows, None)
            assert told() == (True, True), column
        database.close()


def _rewrite(database: Database, column: Column[Any], kept: dict[Any, Any], value: object) -> dict[Any, Any]:
    """Give all rows one value of a column, or each what was kept; what they had."""
    table, keys = column.table, list(column.table.primary_key)
    with database.write() as transaction:
        rows = {tuple(row[:-1]): row[-1] for row in transaction.connection.execute(select(*keys, column))}
        for key in rows:
            where = [each == part for each, part in zip(keys, key, strict=True)]
            transaction.connection.execute(update(table).where(*where).values({column: kept.get(key, value)}))
        transaction.commit()
    return rows
