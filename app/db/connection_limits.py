"""Limits on connections and on every wait for the database."""

from dataclasses import dataclass

REQUEST_THREADS = 18
"""How many threads of a process serve requests; each has one session at a time."""

AT_ONCE = {"sqlite": 1, "postgresql": 4}
"""At most how many of them handle requests at the same time. More than one helps only if they mostly wait."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many connections a process may hold, and how long anything may wait for the database.

    Attributes:
        connections: the maximum in one process. It is larger than the number of threads that serve requests, so that
            no thread waits for another, and some can keep a transaction open for the next request. It is small enough
            for four processes on one Postgres server, which allows 97 connections by default (100, of which 3 are for
            superusers), and the operator's commands need some too.
        queue_seconds: the wait for a free connection. On SQLite, the wait for the process's only writer.
        lock_seconds: the wait for a lock that another transaction or another process holds.
        statement_seconds: the time of one statement (Postgres; on SQLite a statement is short or waits for a lock).
        idle_seconds: the time between two statements of a transaction. After it Postgres ends the transaction, so that
            a process that hangs does not hold an account's lock for ever.
        connect_seconds: the time to open a connection (Postgres).
        migration_seconds: the wait for another process's migration, and the time of a migration's statement.
        migration_lock_seconds: the wait for the lock of a table that a migration changes (Postgres). It is short
            because everything else that uses the table waits behind the migration.
    """

    connections: int = 22
    queue_seconds: float = 10.0
    lock_seconds: float = 10.0
    statement_seconds: float = 30.0
    idle_seconds: float = 60.0
    connect_seconds: float = 5.0
    migration_seconds: float = 600.0
    migration_lock_seconds: float = 5.0
