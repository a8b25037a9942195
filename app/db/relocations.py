"""Whether this database is the one to work with: a move to another leaves one of the two, never both."""

from sqlalchemy import select

from app.db.session import Session
from app.db.tables import relocations

_ANY = select(relocations)


def require_here(session: Session) -> None:
    """Refuse a database that was left for another, or to which another is still on its way.

    Raises:
        ValueError: it is.
    """
    row = session.row(_ANY)
    if row is None:
        return
    if row.state == "retired":
        raise ValueError(f"this database was retired at {row.at}: all of it is in {row.other}, which is to be used")
    raise ValueError(
        f"this database is not complete: a move from {row.other} began at {row.at}; "
        "snapledger migrate-to goes on with it"
    )
