"""Whether a Postgres server keeps what it has acknowledged through a crash; on SQLite each connection sees to that."""

from typing import Literal, TypeAlias

from sqlalchemy import bindparam, text

from app.db.session import Session
from app.db.tables import metadata

SynchronousCommit: TypeAlias = Literal["on", "remote_apply"]
"""When a commit returns: once its record is on the server's disk and on its synchronous standbys', or applied there.

The other values of the server's setting acknowledge what a crash, or the loss of one machine, can take back.
"""

_SETTINGS = text("SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes")
_UNLOGGED = text(
    "SELECT relname FROM pg_catalog.pg_class WHERE relpersistence = 'u' AND relkind = 'r' AND relname IN :tables"
    " AND pg_catalog.pg_table_is_visible(oid) ORDER BY relname"
).bindparams(bindparam("tables", [table.name for table in metadata.sorted_tables], expanding=True))


def find_fault(session: Session) -> str | None:
    """Why a crash of the server could lose acknowledged debits, and what to do about it; None if it could not."""
    if session.dialect != "postgresql":
        return None
    settings = session.connection.execute(_SETTINGS).mappings().one()
    if off := [name for name, value in settings.items() if value != "on"]:
        wrong, right = (" and ".join(f"{name} = {value}" for name in off) for value in ("off", "on"))
        return (
            f"Postgres runs with {wrong}: a crash could lose debits that were acknowledged, and nothing would show it. "
            f"Set {right} in its configuration, reload it (SELECT pg_reload_conf()) and start again"
        )
    if unlogged := session.connection.execute(_UNLOGGED).scalars().first():
        return (
            f"the table {unlogged} is UNLOGGED: a crash would empty it. "
            f"Run ALTER TABLE {unlogged} SET LOGGED and start again"
        )
    return None


def require_durable(session: Session) -> None:
    """Refuse to work with a server that does not keep what it has acknowledged.

    Raises:
        ValueError: a crash could lose acknowledged debits; the text says why and what to do.
    """
    if (fault := find_fault(session)) is not None:
        raise ValueError(fault)
