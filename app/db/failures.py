"""Which failures of a database are nobody's mistake and pass with time. Decided here, for both databases, once.

Everything else (a constraint that broke, a table that is missing, SQL that makes no sense) is a defect of ours and goes
up as it came.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.errors import UnavailableError

# Primary result codes of SQLite (sqlite.org/rescode.html). Its driver calls all of them and a misspelt statement alike
# an OperationalError, so the class tells nothing.
_SQLITE_PASSING = frozenset(
    {
        5,  # BUSY: another connection has the lock
        6,  # LOCKED
        7,  # NOMEM
        8,  # READONLY: the file system is
        9,  # INTERRUPT
        10,  # IOERR
        11,  # CORRUPT
        13,  # FULL: the disk is
        14,  # CANTOPEN
        15,  # PROTOCOL: the locking protocol gave up
        26,  # NOTADB
    }
)

# SQLSTATEs of passing failures that psycopg does not class as operational.
_POSTGRES_PASSING = frozenset(
    {
        "25006",  # read_only_sql_transaction: the server became a standby
        "25P03",  # idle_in_transaction_session_timeout
    }
)


@contextmanager
def translated() -> Iterator[None]:
    """Turn a database that is busy or away into `UnavailableError`, whose text holds nothing of the statement."""
    try:
        yield
    except PoolTimeoutError as error:
        raise UnavailableError("no database connection came free in time") from error
    except DBAPIError as error:
        if not _passes(error):
            raise
        raise UnavailableError("the database is busy or away") from error


def _passes(error: DBAPIError) -> bool:
    if error.connection_invalidated:
        return True
    sqlite_code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if sqlite_code is not None:
        return sqlite_code & 0xFF in _SQLITE_PASSING
    return isinstance(error, OperationalError | InterfaceError) or getattr(error.orig, "sqlstate", None) in (
        _POSTGRES_PASSING
    )
