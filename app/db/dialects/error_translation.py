"""Which failures of a database are nobody's mistake and pass with time. Decided here, for both databases, once.

Everything else (a constraint that broke, a table that is missing, SQL that makes no sense) is a defect of ours and goes
up as it came.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.errors import TransactionAbortedError, UnavailableError

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

RETIRED = "this database is retired"
"""The message of the triggers of `relocation_state`; the bundled SQLite's driver has no code for a trigger."""

# Psycopg calls it an InternalError: the server became a standby, or the database is retired (`relocation_state`).
_READ_ONLY_SQL_TRANSACTION = "25006"

# Postgres has rolled all of it back, at whatever statement it says so, COMMIT too: nothing of it can be there.
_ABORTED = frozenset({"40001", "40P01"})  # serialization_failure, deadlock_detected


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn a database that is busy or away into `UnavailableError`, whose text holds nothing of the statement.

    It is a `TransactionAbortedError` where it is certain that the transaction is undone and may run again at once.
    """
    try:
        yield
    except PoolTimeoutError as error:
        raise UnavailableError("no database connection became free in time") from error
    except DBAPIError as error:
        if not _is_transient(error):
            raise
        if getattr(error.orig, "sqlstate", None) in _ABORTED:
            raise TransactionAbortedError(
                "the database rolled the transaction back in favour of another one"
            ) from error
        raise UnavailableError("the database is busy or does not answer") from error


def _is_transient(error: DBAPIError) -> bool:
    if error.connection_invalidated:  # it broke, whatever the error that came of it
        return True
    sqlite_code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if sqlite_code is not None:
        return sqlite_code & 0xFF in _SQLITE_PASSING or str(error.orig) == RETIRED
    sqlstate: str | None = getattr(error.orig, "sqlstate", None)
    return isinstance(error, OperationalError | InterfaceError) or sqlstate == _READ_ONLY_SQL_TRANSACTION
