"""A limit on everything that waits."""

from dataclasses import dataclass

REQUEST_THREADS = 20
"""How many threads of a process serve requests; each has one session at a time."""

AT_ONCE = {"sqlite": 1, "postgresql": 8}
"""How many of them take calls at the same time, at most: more than one only where they wait more than they work."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many connections a process may hold, and how long anything may wait for the database.

    Attributes:
        connections: at most, in one process; above the threads that serve requests, so that none waits for another, and
            few enough for four processes beside each other: a Postgres server takes 97 by default (100, of which 3 are
            its superusers'), and the operator's commands need some.
        queue_seconds: for a free connection. On SQLite this is the queue of the process before its one writer.
        lock_seconds: for a lock that another transaction or another process holds.
        statement_seconds: for one statement (Postgres; on SQLite every statement is short or waits for a lock).
        idle_seconds: between two statements of a transaction, after which Postgres ends it: a process that hangs must
            not hold an account's lock for ever.
        connect_seconds: for a connection to be made (Postgres).
        migration_seconds: for another process that is migrating, and for a statement of a migration.
        migration_lock_seconds: for a table that a migration changes (Postgres): while it waits, all others wait for it.
    """

    connections: int = 22
    queue_seconds: float = 10.0
    lock_seconds: float = 10.0
    statement_seconds: float = 30.0
    idle_seconds: float = 60.0
    connect_seconds: float = 5.0
    migration_seconds: float = 600.0
    migration_lock_seconds: float = 5.0
