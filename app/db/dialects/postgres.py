"""Postgres as the ledger's home, by psycopg 3: what every connection asks of the server."""

import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.engine.interfaces import IsolationLevel
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from app.db.compiled_statements import execute_text, run_script
from app.db.connection_limits import Limits
from app.db.dialects.durability import SynchronousCommit

_MIGRATION_LOCK = 7_309_475_598_860_382_560  # the advisory lock's name: any number that nobody else uses


class Postgres:
    """Connections, made when they are needed and kept.

    A transaction begins where we say so, by one statement that says of which kind it is, and a single statement has
    none: the driver's way takes more round trips than most requests have statements.
    """

    dialect = "postgresql"

    def __init__(self, url: URL, limits: Limits, synchronous_commit: SynchronousCommit) -> None:
        # In each transaction, not once for a connection: so it holds whatever the server's, the role's or the URL's
        # settings say, and behind a pooler that gives a server's connection to one client after the other.
        self._durably = f"SET LOCAL synchronous_commit = {synchronous_commit}"
        self._pool = _engine(
            _spelled_out(url, limits, limits.statement_seconds, limits.lock_seconds),
            "AUTOCOMMIT",
            QueuePool,
            pool_size=limits.connections,
            max_overflow=0,
            pool_timeout=limits.queue_seconds,
            pool_use_lifo=True,
            pool_reset_on_return="rollback",
        )
        event.listen(self._pool, "checkout", self._require_alive)
        patient = replace(limits, idle_seconds=limits.migration_seconds)
        self._migrator = _engine(
            _spelled_out(url, patient, limits.migration_seconds, limits.migration_seconds),
            "READ COMMITTED",
            NullPool,
        )
        self._lock_milliseconds = round(limits.migration_lock_seconds * 1000)

    def _require_alive(self, connection: Any, record: ConnectionPoolEntry, _: object) -> None:  # noqa: ANN401 - the driver's
        """Before a kept connection is used: a server that was restarted costs a reconnection, not an error.

        Whoever closes a connection is heard of by it. Only then it is asked, which takes a round trip. A new one is
        not: where it ends too its first statement fails, while the pool would give up with an error of its own.
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
            raise InvalidatePoolError from None  # and the pool makes another

    @contextmanager
    def reading(self, *, begun: bool = True) -> Iterator[Connection]:
        """One snapshot for all statements, as on SQLite; without a write it can never fail to serialise.

        Of each statement by itself where no transaction is begun, which spares two round trips.
        """
        with self._pool.connect() as connection:
            if not begun:
                yield connection
                return
            execute_text(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection
            execute_text(connection, "COMMIT")  # after a ROLLBACK the driver would have every statement prepared anew

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction whose every statement sees what was committed before it."""
        with self._pool.connect() as connection:
            run_script(connection, f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {self._durably}")
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """A transaction that excludes others of its kind.

        For those it waits long; for a table that somebody works with not, since all who come later wait behind it.
        """
        with self._migrator.connect() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {self._lock_milliseconds}")
            connection.exec_driver_sql(self._durably)
            yield connection
            connection.commit()

    def close(self) -> None:
        """Close the connections that nobody uses."""
        self._pool.dispose()


def _engine(url: URL, isolation_level: IsolationLevel, poolclass: Any, **of_pool: Any) -> Engine:  # noqa: ANN401 - passed on to SQLAlchemy
    return create_engine(
        url,
        poolclass=poolclass,
        isolation_level=isolation_level,
        hide_parameters=True,
        use_insertmanyvalues=False,
        use_native_hstore=False,  # or the server is asked for a type that no table has
        query_cache_size=500,
        **of_pool,
    )


def _spelled_out(url: URL, limits: Limits, statement_seconds: float, lock_seconds: float) -> URL:
    """The URL with what we ask for; where the operator's URL says otherwise, it wins."""
    settings = {
        "statement_timeout": statement_seconds,
        "lock_timeout": lock_seconds,
        "idle_in_transaction_session_timeout": limits.idle_seconds,
    }
    options = " ".join(f"-c {name}={round(seconds * 1000)}" for name, seconds in settings.items())
    asked = {
        # Of two settings in the options the server takes the later.
        "options": " ".join([options, *url.normalized_query.get("options", ())]),
        "application_name": "snapledger",
        "connect_timeout": str(max(2, round(limits.connect_seconds))),  # whole seconds, of which libpq takes 1 for 2
        # A server that vanished without a word is noticed in about half a minute.
        "keepalives": "1",
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "30000",
    }
    given = {name: value for name, value in url.query.items() if name != "options"}
    return url.set(drivername="postgresql+psycopg", query={**asked, **given})
