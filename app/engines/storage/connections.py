"""The external databases and file stores that the operator has configured, by name."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from app.dp.table.columns import Column
from app.engines.backends.engine import ExternalEngine
from app.engines.backends.postgres_engine import PostgresEngine
from app.engines.backends.spark_engine import SparkEngine
from app.engines.errors import EngineFailure, InvalidFile, Problem, StaleTable
from app.engines.file_stores.connect import SCHEMES, open_store
from app.engines.file_stores.file_store import FileStore
from app.engines.ingest import Units
from app.engines.ingest.problems import MAX_PROBLEMS
from app.engines.ingest_process.intake import refuse_units_over
from app.engines.live_tables import LiveTable
from app.engines.stored_file.writer import MIN_ROWS

_READ_SECONDS = 60
"""The most time that a file store may take to find the files of a table, or to send the next piece of one."""


class TableOrigin(NamedTuple):
    """An external table.

    Attributes:
        connection: the name of a configured connection.
        table: the table's name.
        live: whether the table stays where it is.
        prepare: whether the sums of a live table's columns are computed at registration, and kept.
    """

    connection: str
    table: str
    live: bool
    prepare: bool = False

    def describe(self) -> dict[str, Any]:
        """Return the origin as in a registration; `prepare` only if it was asked for."""
        return {name: value for name, value in self._asdict().items() if name != "prepare" or value}


class Connections:
    """The configured connections; safe for threads."""

    def __init__(self, urls: Mapping[str, str], statement_seconds: int) -> None:
        self._engines: dict[str, ExternalEngine] = {
            name: (SparkEngine if url.startswith("sc:") else PostgresEngine)(url, statement_seconds)
            for name, url in urls.items()
            if urlsplit(url).scheme not in SCHEMES
        }
        self._stores = {
            name: open_store(url, min(statement_seconds, _READ_SECONDS))
            for name, url in urls.items()
            if name not in self._engines
        }

    def __contains__(self, connection: object) -> bool:
        """Whether a connection of this name is configured."""
        return connection in self._engines or connection in self._stores

    def list_names(self) -> list[tuple[str, str]]:
        """Return the names of the connections, and what each leads to: an engine, or files."""
        return sorted(
            [
                *((name, engine.name) for name, engine in self._engines.items()),
                *((name, "files") for name in self._stores),
            ]
        )

    def find_store(self, connection: str) -> FileStore | None:
        """Return the file store of a connection, or None if the connection is not one to a file store."""
        return self._stores.get(connection)

    def of(self, connection: str) -> ExternalEngine:
        """Return the engine for a connection.

        Raises:
            EngineFailure: the connection is not configured, or is no longer configured.
        """
        if connection not in self._engines:
            raise EngineFailure
        return self._engines[connection]

    def validate_live_table(self, origin: TableOrigin, columns: Sequence[Column], units: Units | None) -> LiveTable:
        """Return the table after checking that it may stay live.

        The table must have the declared columns, no missing value in a column that must be complete, at least the
        minimum number of rows, and no unit with too many rows.

        Raises:
            InvalidFile: the table fails a check.
            EngineFailure: the engine is busy, unavailable or failed.
        """
        table = self.of(origin.connection).locate(origin.connection, origin.table, columns, live=True)
        try:
            return self._count_as_declared(origin, table, columns, units)
        except StaleTable:
            raise InvalidFile([Problem("source.table", "changed while it was read: try again")]) from None

    def require_registered(
        self, origin: TableOrigin, table: LiveTable, columns: Sequence[Column], units: Units | None
    ) -> None:
        """Check that a live table still matches its registration, with the same checks as `validated`.

        Raises:
            StaleTable: the number of rows or a column's type has changed, a column that must be complete has missing
                values, or a unit has too many rows. The error does not say which of these, nor how many.
            EngineFailure: the engine is busy, unavailable or failed.
        """
        try:
            table.require_rows(self._count_as_declared(origin, table, columns, units).n)
        except InvalidFile:
            raise StaleTable from None

    def _count_as_declared(
        self, origin: TableOrigin, table: LiveTable, columns: Sequence[Column], units: Units | None
    ) -> LiveTable:
        engine = self.of(origin.connection)
        n, problems = _count_rows(engine, table, [column.name for column in columns if not column.nullable])
        declared = [] if units is None else [units.declared]
        by_unit = engine.locate(origin.connection, origin.table, declared, live=True)
        if n < MIN_ROWS:
            problems.append(Problem("source.table", "has fewer than two rows, so no statistic could be released"))
        problems += _count_rows(engine, by_unit, [column.name for column in declared])[1]
        if problems:
            raise InvalidFile(problems[:MAX_PROBLEMS])
        if units is not None:
            refuse_units_over(engine.find_large_units(by_unit, units.column, units.most), units)
        return LiveTable(table.connection, table.path, n, table.columns)

    def close(self) -> None:
        """Close all engines and stores."""
        for engine in self._engines.values():
            engine.close()
        for store in self._stores.values():
            store.close()


def _count_rows(engine: ExternalEngine, table: LiveTable, complete: Sequence[str]) -> tuple[int, list[Problem]]:
    """Return the number of rows, and a problem for each column of `complete` that has missing values."""
    n, *lacking = engine.count(table, complete)
    told = zip(complete, lacking, strict=True)
    return n, [Problem(f"column {name}", f"has no value in {rows:,} rows") for name, rows in told if rows]
