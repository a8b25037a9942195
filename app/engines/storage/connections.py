"""Databases in which tables live: those that the operator configured, by name."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.dp.table.columns import Column
from app.engines.backends.engine import ExternalEngine
from app.engines.backends.postgres_engine import PostgresEngine
from app.engines.backends.spark_engine import SparkEngine
from app.engines.errors import EngineFailure, InvalidFile, Problem, StaleTable
from app.engines.ingest import Units
from app.engines.ingest.problems import MOST_PROBLEMS
from app.engines.ingest.writer import FEWEST_ROWS
from app.engines.ingest_process.intake import refuse_units_over
from app.engines.live_tables import LiveTable


class TableOrigin(NamedTuple):
    """A table elsewhere: the name of a configured connection, the table's, and whether it stays where it is."""

    connection: str
    table: str
    live: bool


class Connections:
    """The configured connections; safe for threads."""

    def __init__(self, urls: Mapping[str, str], statement_seconds: int) -> None:
        self._engines: dict[str, ExternalEngine] = {
            name: (SparkEngine if url.startswith("sc:") else PostgresEngine)(url, statement_seconds)
            for name, url in urls.items()
        }

    def __contains__(self, connection: object) -> bool:
        """Whether a connection of this name is configured."""
        return connection in self._engines

    def of(self, connection: str) -> ExternalEngine:
        """The engine behind a connection.

        Raises:
            EngineFailure: there is no such connection, or no longer.
        """
        if connection not in self._engines:
            raise EngineFailure
        return self._engines[connection]

    def validated(self, origin: TableOrigin, columns: Sequence[Column], units: Units | None) -> LiveTable:
        """A table that may stay live: it has the declared columns, their values, and no unit with too many rows.

        Raises:
            InvalidFile: it may not.
            EngineFailure: the engine is busy, away or failed.
        """
        table = self.of(origin.connection).locate(origin.connection, origin.table, columns, live=True)
        try:
            return self._counted_as_declared(origin, table, columns, units)
        except StaleTable:
            raise InvalidFile([Problem("source.table", "changed while it was read: try again")]) from None

    def require_registered(
        self, origin: TableOrigin, table: LiveTable, columns: Sequence[Column], units: Units | None
    ) -> None:
        """Refuse a live table that is not what was registered, by all that `validated` looks at.

        Raises:
            StaleTable: it has another number of rows, a column another type, one that must have all its values lacks
                some, or a unit has too many rows. What it is, and by how much, is not told.
            EngineFailure: the engine is busy, away or failed.
        """
        try:
            table.require_rows(self._counted_as_declared(origin, table, columns, units).n)
        except InvalidFile:
            raise StaleTable from None

    def _counted_as_declared(
        self, origin: TableOrigin, table: LiveTable, columns: Sequence[Column], units: Units | None
    ) -> LiveTable:
        engine = self.of(origin.connection)
        n, problems = _count_rows(engine, table, [column.name for column in columns if not column.nullable])
        declared = [] if units is None else [units.declared]
        by_unit = engine.locate(origin.connection, origin.table, declared, live=True)
        if n < FEWEST_ROWS:
            problems.append(Problem("source.table", "has fewer than two rows, so no statistic could be released"))
        problems += _count_rows(engine, by_unit, [column.name for column in declared])[1]
        if problems:
            raise InvalidFile(problems[:MOST_PROBLEMS])
        if units is not None:
            refuse_units_over(engine.units_over(by_unit, units.column, units.most), units)
        return LiveTable(table.connection, table.path, n, table.columns)

    def close(self) -> None:
        """Let go of the engines."""
        for engine in self._engines.values():
            engine.close()


def _count_rows(engine: ExternalEngine, table: LiveTable, complete: Sequence[str]) -> tuple[int, list[Problem]]:
    """The number of rows, and what is wrong with columns that must have all their values."""
    n, *lacking = engine.count(table, complete)
    told = zip(complete, lacking, strict=True)
    return n, [Problem(f"column {name}", f"has no value in {rows:,} rows") for name, rows in told if rows]
