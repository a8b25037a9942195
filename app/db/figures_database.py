"""The figures' database: a schema of Postgres that dashboards read with their own connector."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection, sql

from app.db import figures_schema
from app.db.figure_writers import Writer
from app.db.figures_schema import Schema

CHANGED = -1
"""Stands for the change of a figure or collection that is not as it was written."""

_CONNECT_SECONDS, _STATEMENT_MILLISECONDS = 5, 30_000
_OPTIONS = f"-c statement_timeout={_STATEMENT_MILLISECONDS} -c TimeZone=UTC -c DateStyle=ISO -c extra_float_digits=1"
"""The last three are for the texts of rows, whose hashes are compared."""

_BATCH = 100
"""How many figures one statement compares, so that it takes no longer than it may."""

_PAGE = """
SELECT CASE WHEN content IS NOT DISTINCT FROM {content} THEN change ELSE {changed} END, {key} FROM {schema}.{state}
WHERE ({key}) > ({names}) ORDER BY {key} LIMIT %s
"""


class FiguresDatabase:
    """One connection to the figures' database, for one thread.

    Args:
        url: a libpq URL.
        schema: the schema, which is created if it is missing.
        role: the role that may read, which is created if it is missing and the user may create roles.
    """

    def __init__(self, url: str, schema: str, role: str) -> None:
        self._url, self._schema = url, Schema(schema, role)
        self._connection: Connection[Any] | None = None

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def prepare(self, ledger: str) -> bool:
        """Create what is missing, and let the role read; return False if the role could not be created.

        Raises:
            psycopg.Error: the database does not answer, or the user may not create the schema.
            ForeignSchemaError: the schema is not for the copy of the ledger with this id.
        """
        with self._transaction() as connection:
            figures_schema.prepare(connection, self._schema, ledger)
        try:
            with self._transaction() as connection:
                figures_schema.add_role(connection, self._schema)
        except psycopg.errors.InsufficientPrivilege:
            return False
        with self._transaction() as connection:
            figures_schema.let_role_read(connection, self._schema)
        return True

    def list_changes(self, kind: type[Writer]) -> dict[tuple[str, ...], int]:
        """Return the change that each figure or collection was written for, or `CHANGED`, by its names."""
        query = self._schema.format(
            _PAGE, **kind.identifiers(), content=kind.content(self._schema), changed=sql.Literal(CHANGED)
        )
        found: dict[tuple[str, ...], int] = {}
        after = tuple("" for _ in kind.key)
        while True:
            with self._transaction() as connection:
                page = connection.execute(query, (*after, _BATCH)).fetchall()
            found |= {tuple(names): change for change, *names in page}
            if len(page) < _BATCH:
                return found
            after = tuple(page[-1][1:])

    @contextmanager
    def writing(self, kind: type[Writer], names: Sequence[str]) -> Iterator[Writer]:
        """Lock one figure or collection, and commit what is written of it when the block ends.

        Read it inside the block: of two writers the later one then writes the later state.
        """
        with self._transaction() as connection:
            writer = kind(connection, self._schema, names)
            writer.lock()
            yield writer

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._url,
                connect_timeout=_CONNECT_SECONDS,
                options=_OPTIONS,
                client_encoding="UTF8",  # so that the server tells which figure has a letter that its encoding lacks
                application_name="snapledger",
                autocommit=True,
                keepalives_idle=30,
            )
        with self._connection.transaction():
            yield self._connection
