"""The base class of engines over external tables: a backend adds how to find a table and how to run a statement."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, ClassVar, NamedTuple

from app.dp.table.columns import Column
from app.dp.table.sums import Answer, Needs
from app.engines.backends.answers import compute_answers
from app.engines.backends.table_draft import TypedColumns, draft_columns
from app.engines.errors import translate_engine_errors
from app.engines.ingest import LargeUnits
from app.engines.ingest.drafting.draft import DraftedColumns
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.sql.bin_expressions import Cuts
from app.engines.sql.expressions import Node
from app.engines.sql.live_queries import needed_columns, registration_query, select_stored_values, units_over_query
from app.engines.sql.queries import Dialect, render


class Rows(NamedTuple):
    """A table's rows as CSV with a header.

    Attributes:
        null: the only text that stands for a missing value.
        cancel: makes a blocked read fail; any thread may call it.
    """

    file: BinaryIO
    null: str
    cancel: Callable[[], None]


class ExternalEngine(ABC):
    """Exact sums over the tables of one configured connection; it only reads them, and is safe for threads."""

    name: ClassVar[str]
    dialect: ClassVar[Dialect]
    logger: ClassVar[logging.Logger]

    def __init__(self, url: str, statement_seconds: int) -> None:
        self._url = url
        self._statement_seconds = statement_seconds

    @abstractmethod
    def locate(self, connection: str, table: str, columns: Sequence[Column], *, live: bool) -> LiveTable:
        """Find a table and its declared columns in the catalogue; its rows are not counted.

        Raises:
            InvalidFile: the table or a column does not exist, or does not fit its declaration.
            EngineFailure: the engine is busy, unavailable or failed.
        """

    @abstractmethod
    def find_columns(self, connection: str, table: str, *, live: bool) -> TypedColumns:
        """Find a table and those of its columns whose types can be declared.

        Raises:
            InvalidFile: the table does not exist, or could not be registered so.
            EngineFailure: the engine is busy, unavailable or failed.
        """

    @abstractmethod
    def stream_copy(self, table: LiveTable) -> AbstractContextManager[Rows]:
        """Stream a snapshot of a table's columns; any error in the block ends the stream."""

    @abstractmethod
    def close(self) -> None:
        """Release the engine's resources; it cannot compute after this."""

    @abstractmethod
    def _rows(self, table: LiveTable, query: str, cuts: Cuts | None = None) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a statement over a table, with the cuts that it needs, if any.

        Raises:
            StaleTable: a column's type has changed since registration.
        """

    def _rows_of_draft(self, table: LiveTable, query: str) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a statement over a table that is not registered yet."""
        return self._rows(table, query)

    @staticmethod
    @abstractmethod
    def _normal(live: LiveColumn) -> Node:
        """Return a node for a column's values in their stored type; no cast in it can fail."""

    def draft(self, connection: str, table: str, check: Callable[[], None], *, live: bool) -> DraftedColumns:
        """Return a draft of a table's columns; `check` is called before each statement, and may raise an error.

        Raises:
            InvalidFile: the table does not exist, could not be registered so, or its values cannot be computed.
            EngineFailure: the engine is busy, unavailable or failed.
        """
        found = self.find_columns(connection, table, live=live)

        def run(query: str) -> Sequence[tuple[Any, ...]]:
            return translate_engine_errors(self.logger, self.name, lambda: self._rows_of_draft(found.table, query))

        return draft_columns(found, run, self._normal, self.dialect, check)

    def count(self, table: LiveTable, complete: Sequence[str] = ()) -> tuple[int, ...]:
        """Return the number of rows, and the number of missing values of each column `complete`.

        Raises:
            EngineFailure: the engine is busy, unavailable or failed.
            StaleTable: a column's type has changed since registration.
        """
        query = render(registration_query(table, complete, self._normal), self.dialect)
        (row,) = translate_engine_errors(self.logger, self.name, lambda: self._rows(table, query))
        return tuple(int(number or 0) for number in row)

    def find_large_units(self, table: LiveTable, unit: str, most: int) -> LargeUnits:
        """Return how many units have more than `most` rows, and how many rows the largest has.

        Raises:
            EngineFailure: the engine is busy, unavailable or failed.
            StaleTable: a column's type has changed since registration.
        """
        query = render(units_over_query(table, unit, most, self._normal), self.dialect)
        ((over, largest),) = translate_engine_errors(self.logger, self.name, lambda: self._rows(table, query))
        return LargeUnits(int(over or 0), int(largest or 0))

    def compute(self, table: LiveTable, scan: Sequence[Needs]) -> list[Answer]:
        """Return the exact integers for each need of a scan from `scans_of`, with one statement over a live table.

        Raises:
            EngineFailure: the engine is busy, unavailable or failed.
            StaleTable: the number of rows or a column's type has changed since registration.
        """

        def compute() -> list[Answer]:
            source = select_stored_values(table, [name for each in scan for name in needed_columns(each)], self._normal)
            return compute_answers(scan, source, self.dialect, lambda query, cuts: self._rows(table, query, cuts))

        answers = translate_engine_errors(self.logger, self.name, compute)
        return [table.check_answer(each, answer) for each, answer in zip(scan, answers, strict=True)]
