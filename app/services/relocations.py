"""Moving the whole ledger to another database, SQLite or Postgres, such that never both can be written to.

There is no transaction over two databases, so the move has three, each of which may be the last:

    1. the target is filled, verified, and marked as arriving     the source is usable, the target is refused
    2. the source is marked as retired, and refuses every write   both are refused
    3. the target's mark is taken away                            the target is usable

From the first to the second nobody else can write to the source. Whatever ends the command between them, the same
command goes on: after the first it begins again with an empty target, after the second it does the third.
"""

from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, delete, make_url
from sqlalchemy.exc import ArgumentError

from app.config import Settings
from app.db import copies, principals, relocations
from app.db.clock import now
from app.db.engine import Database
from app.db.migrate import is_current, migrate
from app.db.relocations import Relocation
from app.db.session import Session, WriteSession
from app.ledger import audit, heads
from app.ledger.keyring import Keyring
from app.services import audits, databases, ledger_checks, secrets


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved: how many rows, and how many datasets' ledgers were verified."""

    rows: int
    datasets: int


def _shown(url: str) -> str:
    """A database's URL without its password and its options, and with the whole path of a file."""
    try:
        parsed = make_url(url).set(query={})
    except (ArgumentError, ValueError):
        raise ValueError("the database's URL cannot be read") from None
    if parsed.drivername == "sqlite" and parsed.database:
        parsed = parsed.set(database=str(Path(parsed.database).absolute()))
    return parsed.render_as_string(hide_password=True)


def move(settings: Settings, url: str) -> Moved | None:
    """Move all of the ledger into the database at `url`, which has no rows, and retire the one of the settings.

    None where that was done but for the end, which is done now.

    Raises:
        ValueError: the target is in use, or is the same; the source is empty, has other tables than this version's, was
            moved elsewhere, or is not valid; what arrived is not what left; or a server could lose what it has
            acknowledged.
        UnavailableError: a database is busy or away.
    """
    from_, to = _shown(settings.database_url), _shown(url)
    if from_ == to:
        raise ValueError("the target is the database that is to be moved")
    with databases.opened_database(settings) as source, databases.opened_database(settings, url) as target:
        if not is_current(source):
            raise ValueError("the database has not the tables of this version: snapledger migrate makes them")
        with source.read() as session:
            keyring = secrets.keyring_of(settings, session)
            left = relocations.find(session)
        migrate(target)
        if left is not None:
            _finish(source, target, left)
            return None
        with target.read() as session:
            _require_free(session, from_)  # before anybody is locked out
        with source.migrating() as connection:
            moved = _moved(connection, target, keyring, from_, to)
        _complete(target)
    return moved


def _require_free(target: Session, from_: str) -> None:
    """Refuse a target that has rows, unless they are what an unfinished move of the same source has left.

    Raises:
        ValueError: it has others.
    """
    found = relocations.find(target)
    unfinished = found is not None and (found.state, found.other) == ("arriving", from_)
    if not unfinished and copies.has_rows(target.connection):
        raise ValueError("the target is in use: a ledger is moved into a database without rows")


def _finish(source: Database, target: Database, left: Relocation) -> None:
    """End a move after which the source is retired already."""
    with source.read() as before, target.read() as after:
        arriving = relocations.find(after)
        if arriving is None or (left.state, arriving.state, arriving.id) != ("retired", "arriving", left.id):
            relocations.require_here(before)
        if (heads.all_of(before), audit.head(before)) != (heads.all_of(after), audit.head(after)):
            raise ValueError("what is in the target is not what left; the source has all of it")
    _complete(target)


def _complete(target: Database) -> None:
    with target.migrating() as connection:
        relocations.forget(connection)


def _moved(source: Connection, target: Database, keyring: Keyring, from_: str, to: str) -> Moved:
    """The first two transactions; that of the source is committed by the caller."""
    relocations.lock_out_writers(source)
    leaving, move_id, at = WriteSession(source), uuid4().hex, now()
    relocations.require_here(leaving)  # as of now, when nobody else can write
    if not principals.any_exists(leaving):
        raise ValueError("there is nothing to move: nobody has used this database yet")
    kinds = {"from": leaving.dialect, "to": target.dialect}
    audits.record(leaving, keyring.seal, audits.command(), "database.move", None, **kinds)
    with target.migrating() as connection:
        relocations.lock_out_writers(connection)
        _require_free(Session(connection), from_)
        relocations.forget(connection)
        for table in reversed(copies.copied_tables()):  # what an unfinished move has left
            connection.execute(delete(table))
        relocations.write(connection, Relocation(move_id, "arriving", from_, at))
        copies.copy_rows(source, connection)
        moved = Moved(_compared(source, connection), _verified(connection, keyring))
    relocations.write(source, Relocation(move_id, "retired", to, at))
    relocations.refuse_writes(source)
    return moved


def _compared(source: Connection, target: Connection) -> int:
    """How many rows there are, all of them the same on both sides."""
    rows = 0
    for table in copies.copied_tables():
        found = copies.fingerprint(source, table)
        if copies.fingerprint(target, table) != found:
            raise ValueError(f"the table {table.name} did not arrive as it left; nothing was changed")
        rows += found[0]
    return rows


def _verified(connection: Connection, keyring: Keyring) -> int:
    """How many datasets' ledgers there are, all of them valid, and the record of administrative acts too."""
    found = ledger_checks.verify(Session(connection), keyring, None, None)
    if not found.valid:
        raise ValueError("the ledger is not valid, and stays where it is: snapledger ledger verify says what is wrong")
    return len(found.verifications)
