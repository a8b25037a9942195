"""Whether this database is in use. After a move to another database only one of the two is in use, never both.

A row in `relocations` says that this database is not in use. In a retired database, triggers also reject every write,
so that a service of any version that still runs on it can debit nothing.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, text

from app.db.dialects.error_translation import RETIRED
from app.db.session import Session
from app.db.tables import metadata, relocations

_ANY = select(relocations)
_RETIRED = "snapledger_retired"
_TOLD = RETIRED.replace("'", "''")


@dataclass(frozen=True, slots=True)
class Relocation:
    """A move that this database takes part in. The fields are the columns, in order.

    Attributes:
        id: the id of the move, the same in both databases.
        state: `arriving` (the target, until the source is retired) or `retired` (the source, permanently).
        other: the other database, without its password.
        at: when the row was written.
    """

    id: str
    state: str
    other: str
    at: str


def find_relocation(session: Session) -> Relocation | None:
    """Return the move that this database takes part in, or None."""
    row = session.row(_ANY)
    return None if row is None else Relocation(*row)


def require_not_relocated(session: Session) -> None:
    """Check that this database is neither retired nor the target of an unfinished move.

    Raises:
        ValueError: it is one of these.
    """
    found = find_relocation(session)
    if found is None:
        return
    if found.state == "retired":
        raise ValueError(f"this database was retired at {found.at}: use {found.other}, which has its ledger now")
    raise ValueError(
        f"this database is incomplete: a move from {found.other} began at {found.at}. "
        "Run `snapledger migrate-to` on that one again to finish it"
    )


def write_relocation(connection: Connection, relocation: Relocation) -> None:
    """Record that this database takes part in a move."""
    row = {name: getattr(relocation, name) for name in Relocation.__slots__}
    connection.execute(insert(relocations).values(row))


def delete_relocation(connection: Connection) -> None:
    """Delete the record of a move, so that this database is in use."""
    connection.execute(delete(relocations))


def lock_out_writers(connection: Connection) -> None:
    """Block all other writers until the end of the transaction. On SQLite the transaction itself does that."""
    if connection.dialect.name == "postgresql":
        tables = ", ".join(table.name for table in metadata.sorted_tables)
        connection.execute(text(f"LOCK TABLE {tables} IN EXCLUSIVE MODE"))


def refuse_writes(connection: Connection) -> None:
    """Make every write fail after this transaction, as in a read-only database."""
    if connection.dialect.name == "sqlite":
        for table in metadata.sorted_tables:
            for event in ("INSERT", "UPDATE", "DELETE"):
                connection.execute(
                    text(
                        f"CREATE TRIGGER {_RETIRED}_{table.name}_{event.lower()} BEFORE {event} ON {table.name} "
                        f"BEGIN SELECT RAISE(ABORT, '{_TOLD}'); END"
                    )
                )
        return
    connection.execute(
        text(
            f"CREATE FUNCTION {_RETIRED}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"RAISE EXCEPTION '{_TOLD}' USING ERRCODE = 'read_only_sql_transaction'; END $$"
        )
    )
    for table in metadata.sorted_tables:
        connection.execute(
            text(
                f"CREATE TRIGGER {_RETIRED} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table.name} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION {_RETIRED}()"
            )
        )
