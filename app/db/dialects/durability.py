"""Checks that a Postgres server keeps acknowledged commits after a crash. On SQLite each connection ensures it."""

from typing import Literal, TypeAlias

from sqlalchemy import bindparam, text

from app.db.session import Session
from app.db.tables import metadata

SynchronousCommit: TypeAlias = Literal["on", "remote_apply"]
"""When a commit returns: after its record is on the disks of the server and its synchronous standbys, or applied there.

With the other values of the server's setting, a crash or the loss of one machine can undo acknowledged commits.
"""

_SETTINGS = text("SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes")
_UNLOGGED = text(
    "SELECT relname FROM pg_catalog.pg_class WHERE relpersistence = 'u' AND relkind = 'r' AND relname IN :tables"
    " AND pg_catalog.pg_table_is_visible(oid) ORDER BY relname"
).bindparams(bindparam("tables", [table.name for table in metadata.sorted_tables], expanding=True))


def find_fault(session: Session) -> str | None:
    """Return why a crash of the server could lose acknowledged debits and what to do, or None if it cannot lose any."""
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
    """Check that the server keeps acknowledged commits after a crash.

    Raises:
        ValueError: a crash could lose acknowledged debits; the message says why and what to do.
    """
    if (fault := find_fault(session)) is not None:
        raise ValueError(fault)
