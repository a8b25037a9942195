"""Moves the whole ledger to another database, SQLite or Postgres. At no time can both databases be written to.

A transaction cannot span two databases, so the move has three transactions. The command may fail after each of them:

    1. the target is filled, verified and marked as arriving      the source is usable, the target is not
    2. the source is marked as retired and rejects every write    neither is usable
    3. the target's mark is deleted                               the target is usable

Between the first and the second nobody else can write to the source. If the command fails, run it again: after the
first transaction it starts again with an empty target, and after the second it does the third.
"""

from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, delete, make_url
from sqlalchemy.exc import ArgumentError

from app.config import Settings
from app.db import database_copies
from app.db.clock import now
from app.db.database import Database
from app.db.repositories import principals, relocation_state
from app.db.repositories.relocation_state import Relocation
from app.db.schema_migration import is_current, migrate
from app.db.session import Session, WriteSession
from app.ledger.chain import audit_log, chain_heads
from app.ledger.chain.keyring import Keyring
from app.services import audit_records
from app.services.operations import databases, full_verification, ledger_secrets


@dataclass(frozen=True, slots=True)
class MoveReport:
    """The number of rows that were moved and of datasets' ledgers that were verified."""

    rows: int
    datasets: int


def _display_url(url: str) -> str:
    """A database's URL without its password and options, and with the absolute path of a file."""
    try:
        parsed = make_url(url).set(query={})
    except (ArgumentError, ValueError):
        raise ValueError("the database URL is malformed") from None
    if parsed.drivername == "sqlite" and parsed.database:
        parsed = parsed.set(database=str(Path(parsed.database).absolute()))
    return parsed.render_as_string(hide_password=True)


def move_ledger(settings: Settings, url: str) -> MoveReport | None:
    """Move the whole ledger into the empty database at `url` and retire the database of the settings.

    Returns None if an earlier call had done everything except the last transaction, which is then done now.

    Raises:
        ValueError: the target is in use or is the source itself; the source is empty, has another version's schema, was
            moved elsewhere or is not valid; the copy differs from the source; or a server could lose acknowledged
            commits.
        UnavailableError: a database is busy or does not answer.
    """
    from_, to = _display_url(settings.database_url), _display_url(url)
    if from_ == to:
        raise ValueError("the target is the source database itself: give another URL")
    with databases.use_database(settings) as source, databases.use_database(settings, url) as target:
        if not is_current(source):
            raise ValueError("the database schema is out of date: run `snapledger migrate`")
        with source.read() as session:
            keyring = ledger_secrets.keyring_for_ledger(settings, session)
            left = relocation_state.find_relocation(session)
        migrate(target)
        if left is not None:
            _finish_move(source, target, left)
            return None
        with target.read() as session:
            _require_free(session, from_)  # before other writers are locked out
        with source.migrating() as connection:
            moved = _move_rows(connection, target, keyring, from_, to)
        _complete_move(target)
    return moved


def _require_free(target: Session, from_: str) -> None:
    """Check that the target has no rows except those of an unfinished move from the same source.

    Raises:
        ValueError: it has other rows.
    """
    found = relocation_state.find_relocation(target)
    unfinished = found is not None and (found.state, found.other) == ("arriving", from_)
    if not unfinished and database_copies.has_rows(target.connection):
        raise ValueError("the target has rows already: give the URL of an empty database")


def _finish_move(source: Database, target: Database, left: Relocation) -> None:
    """Finish a move whose source is already retired."""
    with source.read() as before, target.read() as after:
        arriving = relocation_state.find_relocation(after)
        if arriving is None or (left.state, arriving.state, arriving.id) != ("retired", "arriving", left.id):
            relocation_state.require_not_relocated(before)
        if (chain_heads.list_heads(before), audit_log.find_head(before)) != (
            chain_heads.list_heads(after),
            audit_log.find_head(after),
        ):
            raise ValueError(
                "the target differs from the source, which still has everything: empty the target and start again"
            )
    _complete_move(target)


def _complete_move(target: Database) -> None:
    with target.migrating() as connection:
        relocation_state.delete_relocation(connection)


def _move_rows(source: Connection, target: Database, keyring: Keyring, from_: str, to: str) -> MoveReport:
    """Run the first transaction and prepare the second, which the caller commits."""
    relocation_state.lock_out_writers(source)
    leaving, move_id, at = WriteSession(source), uuid4().hex, now()
    relocation_state.require_not_relocated(leaving)  # again, now that nobody else can write
    if not principals.has_principals(leaving):
        raise ValueError("there is nothing to move: this database has never been used")
    kinds = {"from": leaving.dialect, "to": target.dialect}
    audit_records.record(leaving, keyring.seal, audit_records.command_actor(), "database.move", None, **kinds)
    with target.migrating() as connection:
        relocation_state.lock_out_writers(connection)
        _require_free(Session(connection), from_)
        relocation_state.delete_relocation(connection)
        for table in reversed(database_copies.tables_to_copy()):  # the rows of an unfinished move
            connection.execute(delete(table))
        relocation_state.write_relocation(connection, Relocation(move_id, "arriving", from_, at))
        database_copies.copy_rows(source, connection)
        moved = MoveReport(_compare_rows(source, connection), _verify_ledgers(connection, keyring))
    relocation_state.write_relocation(source, Relocation(move_id, "retired", to, at))
    relocation_state.refuse_writes(source)
    return moved


def _compare_rows(source: Connection, target: Connection) -> int:
    """Check that both databases have the same rows, and return their number."""
    rows = 0
    for table in database_copies.tables_to_copy():
        found = database_copies.table_fingerprint(source, table)
        if database_copies.table_fingerprint(target, table) != found:
            raise ValueError(f"the copy of the table {table.name} differs from the source: nothing was changed")
        rows += found[0]
    return rows


def _verify_ledgers(connection: Connection, keyring: Keyring) -> int:
    """Check that all datasets' ledgers and the audit log are valid, and return the number of datasets."""
    found = full_verification.verify_ledgers(Session(connection), keyring, None, None)
    if not found.valid:
        raise ValueError("the ledger is not valid and was not moved: `snapledger ledger verify` says what is wrong")
    return len(found.verifications)
