"""Classifies the transient failures of both databases, such as a lock timeout or a lost connection.

Every other error (a violated constraint, a missing table, wrong SQL) is a defect in this code and is raised unchanged.
"""

from contextlib import AbstractContextManager
from types import TracebackType

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.errors import TransactionAbortedError, UnavailableError

# Primary result codes of SQLite (sqlite.org/rescode.html). The driver raises OperationalError for all of them and for
# wrong SQL too, so the class of the error is not enough.
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

# Psycopg raises InternalError for it: the server became a standby, or the database is retired (`relocation_state`).
_READ_ONLY_SQL_TRANSACTION = "25006"

# Postgres has rolled the whole transaction back, whichever statement reports it, even COMMIT. So it is safe to retry.
_ABORTED = frozenset({"40001", "40P01"})  # serialization_failure, deadlock_detected


class _Translation:
    """One object for every block: a generator's context manager takes three times as long."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, PoolTimeoutError):
            raise UnavailableError("no database connection became free in time") from error
        if isinstance(error, DBAPIError) and _is_transient(error):
            if getattr(error.orig, "sqlstate", None) in _ABORTED:
                raise TransactionAbortedError(
                    "the database rolled the transaction back in favour of another one"
                ) from error
            raise UnavailableError("the database is busy or does not answer") from error


_TRANSLATION = _Translation()


def translate_errors() -> AbstractContextManager[None]:
    """Translate a block's transient database errors into `UnavailableError`, whose message has nothing of a statement.

    It is a `TransactionAbortedError` if the transaction is certainly rolled back and can be retried at once.
    """
    return _TRANSLATION


def _is_transient(error: DBAPIError) -> bool:
    if error.connection_invalidated:  # the connection broke, whatever the error
        return True
    sqlite_code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if sqlite_code is not None:
        return sqlite_code & 0xFF in _SQLITE_PASSING or str(error.orig) == RETIRED
    sqlstate: str | None = getattr(error.orig, "sqlstate", None)
    return isinstance(error, OperationalError | InterfaceError) or sqlstate == _READ_ONLY_SQL_TRANSACTION
