"""The ledger in Postgres with psycopg 3: the connections, their settings and their transactions."""

import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Semaphore
from typing import Any

from psycopg.pq import TransactionStatus
from sqlalchemy import URL, Connection, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.engine.interfaces import IsolationLevel
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from app.db.compiled_statements import execute_text, run_script
from app.db.connection_limits import REQUEST_THREADS, Limits
from app.db.dialects.durability import SynchronousCommit

_PLAN_ONCE = "SET LOCAL plan_cache_mode = force_generic_plan"  # a release's statements find each row by its key
_MIGRATION_LOCK = 7_309_475_598_860_382_560  # the advisory lock's number: any number that nothing else uses


class Postgres:
    """A pool of connections that are opened when needed.

    The code begins each transaction explicitly with one statement that also sets its kind, and runs a single statement
    without a transaction. The driver's own transactions take more round trips than most requests have statements.
    """

    dialect = "postgresql"

    def __init__(self, url: URL, limits: Limits, synchronous_commit: SynchronousCommit) -> None:
        # This is set in each transaction and not once per connection. So it overrides the settings of the server, the
        # role and the URL, and it works behind a pooler that shares a server connection among clients.
        self._durably = f"SET LOCAL synchronous_commit = {synchronous_commit}"
        self._pool = _engine(
            _add_default_options(url, limits, limits.statement_seconds, limits.lock_seconds),
            "AUTOCOMMIT",
            QueuePool,
            pool_size=limits.connections,
            max_overflow=0,
            pool_timeout=limits.queue_seconds,
            pool_use_lifo=True,
            pool_reset_on_return="rollback",
        )
        event.listen(self._pool, "checkout", self._require_alive)
        # A thread has one session at a time, and while its group of transactions stays open, a second one.
        self.spare_sessions = Semaphore(max(0, limits.connections - REQUEST_THREADS))
        patient = replace(limits, idle_seconds=limits.migration_seconds)
        self._migrator = _engine(
            _add_default_options(url, patient, limits.migration_seconds, limits.migration_seconds),
            "READ COMMITTED",
            NullPool,
        )
        self._lock_milliseconds = round(limits.migration_lock_seconds * 1000)

    def _require_alive(self, connection: Any, record: ConnectionPoolEntry, _: object) -> None:  # noqa: ANN401 - the driver's
        """Test a pooled connection before it is used, so that a restarted server causes a reconnection and no error.

        If the server has closed the connection, its socket is readable. Only then the connection is pinged, which takes
        a round trip. A new connection is not tested: if it is broken too, its first statement fails, while the pool
        would raise an error of its own.
        """
        if "kept" not in record.info:
            record.info["kept"] = True
            return
        heard, dialect = select.poll(), self._pool.dialect
        try:
            heard.register(connection.fileno(), select.POLLIN)
            if heard.poll(0):
                dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error:
            raise InvalidatePoolError from None  # and the pool opens another

    def take_reader(self) -> Connection:
        """Return a connection for reading, without a transaction: each statement has its own snapshot."""
        return self._pool.connect()

    @staticmethod
    def return_reader(connection: Connection) -> None:
        """Let others use a connection of `take_reader`."""
        connection.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open one snapshot for all statements, as on SQLite. A read-only one never fails with a serialization error.

        That takes two more round trips than `take_reader`.
        """
        with self._pool.connect() as connection:
            execute_text(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection
            execute_text(connection, "COMMIT")  # after a ROLLBACK the driver would prepare every statement again

    @contextmanager
    def writing(self, dataset_id: int | None = None) -> Iterator[Connection]:
        """Open a transaction in which each statement sees what was committed before the statement.

        If `dataset_id` is given, the transaction has begun its first part, as `begin_part`.
        """
        part = "" if dataset_id is None else f"; {_begin_text(dataset_id)}"
        with self._pool.connect() as connection:
            run_script(
                connection, f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {self._durably}; {_PLAN_ONCE}{part}"
            )
            yield connection

    @staticmethod
    def begin_part(connection: Connection, dataset_id: int) -> bool:
        """Begin a part of a write transaction, which can be rolled back alone, and lock the dataset's account.

        Returns:
            False if another transaction has locked the account.
        """
        return run_script(connection, f"{_begin_text(dataset_id)} SKIP LOCKED").fetchone() is not None

    @staticmethod
    def is_intact(connection: Connection) -> bool:
        """Return whether a transaction is open, and no statement of it has failed since its last savepoint."""
        if connection.invalidated:
            return False
        driver: Any = connection.connection.driver_connection
        return bool(driver.info.transaction_status == TransactionStatus.INTRANS)

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Open a migration's transaction, which excludes other migrations.

        It waits long for other migrations, but only briefly for a table that is in use, because all later users of the
        table wait behind it.
        """
        with self._migrator.connect() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {self._lock_milliseconds}")
            connection.exec_driver_sql(self._durably)
            yield connection
            connection.commit()

    def close(self) -> None:
        """Close the unused connections."""
        self._pool.dispose()


def _begin_text(dataset_id: int) -> str:
    return f"SAVEPOINT part; SELECT 1 FROM accounts WHERE dataset_id = {dataset_id:d} FOR UPDATE"  # noqa: S608


def _engine(url: URL, isolation_level: IsolationLevel, poolclass: Any, **of_pool: Any) -> Engine:  # noqa: ANN401 - passed on to SQLAlchemy
    return create_engine(
        url,
        poolclass=poolclass,
        isolation_level=isolation_level,
        hide_parameters=True,
        use_insertmanyvalues=False,
        use_native_hstore=False,  # avoids a query for a type that no table uses
        query_cache_size=500,
        **of_pool,
    )


def _add_default_options(url: URL, limits: Limits, statement_seconds: float, lock_seconds: float) -> URL:
    """The URL with our default options; options in the operator's URL take precedence."""
    settings = {
        "statement_timeout": statement_seconds,
        "lock_timeout": lock_seconds,
        "idle_in_transaction_session_timeout": limits.idle_seconds,
    }
    options = " ".join(f"-c {name}={round(seconds * 1000)}" for name, seconds in settings.items())
    asked = {
        # If an option is given twice, the server uses the later one.
        "options": " ".join([options, *url.normalized_query.get("options", ())]),
        "application_name": "snapledger",
        "connect_timeout": str(max(2, round(limits.connect_seconds))),  # whole seconds; libpq treats 1 as 2
        # A server that disappears without closing the connection is detected in about half a minute.
        "keepalives": "1",
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "30000",
    }
    given = {name: value for name, value in url.query.items() if name != "options"}
    return url.set(drivername="postgresql+psycopg", query={**asked, **given})
