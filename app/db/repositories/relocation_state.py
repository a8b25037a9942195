"""Whether this database is the one to work with: a move to another leaves one of the two, never both.

A row in `relocations` says that this is not the one. In a retired database triggers refuse every write besides, so that
a service which was running on it, of whatever version, can debit nothing there any more.
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
    """A move that this database has a part in. The fields are the columns, in order.

    Attributes:
        id: of the move, the same in both databases.
        state: `arriving` (the target, until the source is retired) or `retired` (the source, for ever).
        other: the other database, without its password.
    """

    id: str
    state: str
    other: str
    at: str


def find_relocation(session: Session) -> Relocation | None:
    """The move that this database has a part in, if it has in any."""
    row = session.row(_ANY)
    return None if row is None else Relocation(*row)


def require_not_relocated(session: Session) -> None:
    """Refuse a database that was left for another, or to which another is still on its way.

    Raises:
        ValueError: it is.
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
    """Say that this database has a part in a move."""
    row = {name: getattr(relocation, name) for name in Relocation.__slots__}
    connection.execute(insert(relocations).values(row))


def delete_relocation(connection: Connection) -> None:
    """Say that this database is the one to work with."""
    connection.execute(delete(relocations))


def lock_out_writers(connection: Connection) -> None:
    """Let nobody else write until the end of the transaction; on SQLite the transaction itself does that."""
    if connection.dialect.name == "postgresql":
        tables = ", ".join(table.name for table in metadata.sorted_tables)
        connection.execute(text(f"LOCK TABLE {tables} IN EXCLUSIVE MODE"))


def refuse_writes(connection: Connection) -> None:
    """Make every write fail from the end of this transaction on, as on a database that is read-only."""
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
