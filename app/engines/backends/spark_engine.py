"""The Spark engine, over Spark Connect. It needs the extra `snapledger[spark]`, and imports it on first use."""

import logging
import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any

import pyarrow as pa
from sqlglot import exp

from app.dp.table.columns import Column, Kind
from app.engines.backends.engine import ExternalEngine, Rows
from app.engines.backends.table_draft import TypedColumns, column_of_digits, real, texts, times
from app.engines.backends.table_names import parse_table_name
from app.engines.errors import EngineFailure, InvalidFile, Problem, StaleTable, translate_engine_errors
from app.engines.ingest.drafting.draft_texts import NO_KIND
from app.engines.ingest.problems import MAX_PROBLEMS
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.sql import date_units
from app.engines.sql.bin_expressions import Cuts
from app.engines.sql.expressions import Node, column
from app.engines.sql.live_queries import table_node
from app.engines.sql.numeric_precision import Digits, unfit
from app.engines.sql.queries import CUTS, THRESHOLD, render

logger = logging.getLogger(__name__)

_WHOLE_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_FLOATS = {"float", "double"}
_DATE_TYPES = {"timestamp": "timestamptz", "timestamp_ntz": "timestamp"}
_MAX_PARTS = 3  # catalog, schema, table
_RETRIES = 3


class SparkEngine(ExternalEngine):
    """Exact sums over the tables of a Spark Connect server, which are always live and never copied."""

    name = "Spark"
    dialect = "spark"
    logger = logger

    def __init__(self, url: str, statement_seconds: int) -> None:
        super().__init__(url, statement_seconds)
        self._lock = threading.Lock()
        self._cuts_lock = threading.Lock()
        self._session: Any = None

    def locate(self, connection: str, table: str, columns: Sequence[Column], *, live: bool) -> LiveTable:
        """Find a table and its declared columns; its rows are not counted.

        Raises:
            InvalidFile: `live` is false, the table or a column does not exist, or does not fit its declaration.
            EngineFailure: the server is busy, unavailable or failed.
        """
        path, found = self._find_types(table, live=live)
        problems = []
        for each in columns:
            what = _unsuitable(found[each.name], each) if each.name in found else "does not exist"
            if what is not None:
                problems.append(Problem(f"column {each.name}", what))
        if problems:
            raise InvalidFile(problems[:MAX_PROBLEMS])
        zones = {each.time_zone for each in columns if found[each.name] == "timestamp"}
        translate_engine_errors(self.logger, self.name, partial(self._require_zones, zones))
        return LiveTable(connection, path, 0, tuple(LiveColumn.of(each, found[each.name]) for each in columns))

    def find_columns(self, connection: str, table: str, *, live: bool) -> TypedColumns:
        """Find a table and those of its columns whose types can be declared.

        Raises:
            InvalidFile: `live` is false, or the table does not exist.
            EngineFailure: the server is busy, unavailable or failed.
        """
        path, found = self._find_types(table, live=live)
        chosen = {name: _choose_column(name, type_) for name, type_ in found.items()}
        columns = [LiveColumn.of(column, found[name]) for name, column in chosen.items() if column is not None]
        left_out = {name: NO_KIND for name, column in chosen.items() if column is None}
        return TypedColumns(LiveTable(connection, path, 0, tuple(columns)), left_out)

    def _find_types(self, table: str, *, live: bool) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return a table's path, and the types of its columns.

        Raises:
            InvalidFile, EngineFailure: as `find_columns`.
        """
        if not live:
            raise InvalidFile([Problem("source.live", "must be true: the service does not copy Spark tables")])
        path = parse_table_name(table, "default", _MAX_PARTS)
        found = translate_engine_errors(self.logger, self.name, partial(self._schema, path))
        if found is None:
            told = "does not exist, is a view, has a format that cannot stay live, or the connection may not read it"
            raise InvalidFile([Problem("source.table", told)])
        return path, found

    def stream_copy(self, table: LiveTable) -> AbstractContextManager[Rows]:
        """Raise NotImplementedError: `locate` refuses every table that is not live, so nothing calls this."""
        raise NotImplementedError

    def close(self) -> None:
        """End the session."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.stop()

    def _schema(self, path: Sequence[str]) -> dict[str, str] | None:
        """Return the names and types of a table's columns, or None if it does not exist or is computed when read."""
        with self._borrow_session() as session:
            name = render_table(path)
            return _types(session, name) if session.catalog.tableExists(name) else None

    def _require_zones(self, zones: Iterable[str]) -> None:
        """Make Spark read a constant in each time zone, which fails if Spark does not know one."""
        for zone in zones:
            with self._borrow_session() as session:
                at = exp.AtTimeZone(this=date_units.INSTANT.copy(), zone=exp.Literal.string(zone))
                _fetch(session, render(exp.select(at), self.dialect))

    @staticmethod
    def _normal(live: LiveColumn) -> Node:
        return _to_stored_value(live)

    def _rows(self, table: LiveTable, query: str, cuts: Cuts | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; the table must match its registration before and after the statement.

        Spark has no lock that prevents a change in between. If the table has changed, it is stale whether or not the
        statement failed, because a failure could depend on a value.

        Raises:
            EngineFailure: the server is busy, unavailable or failed.
            StaleTable: the table no longer matches its registration.
        """
        self._require_types(table)
        rows = None
        with suppress(EngineFailure):
            rows = translate_engine_errors(self.logger, self.name, lambda: self._scan(table, query, cuts))
        self._require_types(table)
        if rows is None:
            raise EngineFailure
        return rows

    def _require_types(self, table: LiveTable) -> None:
        """Check that a table still has the registered columns and is not computed when it is read.

        Raises:
            EngineFailure: the server is busy, unavailable or failed, or the table does not exist.
            StaleTable: a column has changed, or the table is now computed when it is read.
        """

        def types() -> dict[str, str] | None:
            with self._borrow_session() as session:
                return _types(session, render_table(table.path))

        found = translate_engine_errors(self.logger, self.name, types)
        if found is None or any(found.get(each.name) != each.type for each in table.columns):
            raise StaleTable

    def _scan(self, table: LiveTable, query: str, cuts: Cuts | None) -> list[tuple[Any, ...]]:
        with self._borrow_session() as session:
            session.catalog.refreshTable(render_table(table.path))  # otherwise Spark misses files that others added
            if cuts is None:
                return _fetch(session, query)
            with self._cuts_lock:  # the session has one table of cuts
                session.createDataFrame(_cuts_table(cuts)).createOrReplaceTempView(CUTS)
                try:
                    return _fetch(session, query)
                finally:
                    session.catalog.dropTempView(CUTS)

    @contextmanager
    def _borrow_session(self) -> Iterator[Any]:
        """Yield the session, with a timeout on this thread's work. After an error, the next call opens a new one."""
        session, tag = self._open_session(), secrets.token_hex(8)
        session.addTag(tag)
        timer = threading.Timer(self._statement_seconds, session.interruptTag, [tag])
        timer.daemon = True
        timer.start()
        try:
            yield session
        except Exception:
            with self._lock:
                self._session = None if self._session is session else self._session
            raise
        finally:
            timer.cancel()
            session.removeTag(tag)

    def _open_session(self) -> Any:  # noqa: ANN401 - of a library that need not be installed
        with self._lock:
            if self._session is None:
                from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 - an extra
                from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415

                session = SparkSession.builder.remote(self._url).create()
                # By default, the client would retry for ten minutes.
                session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
                # A cached plan would hide that a table has other columns now.
                session.conf.set("spark.connect.session.planCache.enabled", "false")
                session.conf.set("spark.sql.variable.substitute", "false")  # a category may contain ${…}
                session.conf.set("spark.sql.caseSensitive", "true")
                session.conf.set("spark.sql.ansi.enabled", "true")
                session.conf.set("spark.sql.parser.escapedStringLiterals", "false")
                session.conf.set("spark.sql.session.timeZone", "UTC")  # times without a zone are read as they are
                for read in ("datetimeRebaseModeInRead", "int96RebaseModeInRead"):  # by default, old dates may fail
                    session.conf.set(f"spark.sql.parquet.{read}", "CORRECTED")
                self._session = session
            return self._session


_STORED = {"MANAGED", "EXTERNAL"}

_FORMATS = {"parquet", "orc", "delta", "iceberg", "hudi"}
"""The formats that store typed values. Text formats and other databases may fail on a value when they are read."""


def render_table(path: Sequence[str]) -> str:
    """Return a table's name as quoted Spark SQL."""
    return table_node(path).sql("spark")


def _types(session: Any, name: str) -> dict[str, str] | None:  # noqa: ANN401 - as above
    """Return the types of a table's columns by name, or None if the table is computed when it is read."""
    if session.catalog.getTable(name).tableType not in _STORED:
        return None
    session.catalog.refreshTable(name)  # otherwise Spark shows the columns that the session saw first
    if _format_of(session, name) not in _FORMATS:
        return None
    return {field.name: field.dataType.simpleString() for field in session.table(name).schema.fields}


def _format_of(session: Any, name: str) -> str:  # noqa: ANN401 - as above
    """Return a table's format in lower case, or an empty text if Spark does not name it."""
    described = session.sql(f"DESCRIBE TABLE EXTENDED {name}").toArrow().to_pylist()
    return next((str(row["data_type"]).lower() for row in reversed(described) if row["col_name"] == "Provider"), "")


def _cuts_table(cuts: Cuts) -> pa.Table:
    kind = pa.float64() if isinstance(cuts.thresholds[0], float) else pa.int64()
    return pa.table({THRESHOLD: pa.array([list(cuts.thresholds)], pa.list_(kind))})


def _fetch(session: Any, query: str) -> list[tuple[Any, ...]]:  # noqa: ANN401 - as above
    table = session.sql(query).toArrow()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _choose_column(name: str, found: str) -> Column | None:
    """Return the declaration that suits a type best, without bounds; None if none does."""
    if found in _FLOATS:
        return real(name)
    if found in _WHOLE_DIGITS:
        return Column(name, Kind.INTEGER)
    if found.startswith("decimal("):
        return column_of_digits(name, _read_digits(found))
    if found in _DATE_TYPES:
        return times(name, has_zone=found == "timestamp")
    others = {"string": texts(name), "boolean": Column(name, Kind.BOOLEAN), "date": Column(name, Kind.DATE)}
    return others.get(found)


def _read_digits(decimal: str) -> Digits:
    """Return the digits of a type such as `decimal(10,2)`."""
    precision, scale = map(int, decimal.removeprefix("decimal(").removesuffix(")").split(","))
    return Digits(precision - scale, scale)


def _unsuitable(found: str, declared: Column) -> str | None:
    """Return what is wrong with a column's type, or None if the type is suitable."""
    if declared.kind is Kind.CATEGORY:
        is_unit = not declared.categories and found in _WHOLE_DIGITS
        return None if found == "string" or is_unit else "must be of a text type, compared byte by byte"
    if declared.kind is Kind.BOOLEAN:
        return None if found == "boolean" else "must be of a boolean type"
    if declared.kind.temporal:
        return date_units.unsuitable(_DATE_TYPES.get(found, found), declared)
    return _unsuitable_number(found, declared)


def _unsuitable_number(found: str, declared: Column) -> str | None:
    if found in _FLOATS:
        return None if declared.kind is Kind.REAL else "must be of an integer type or decimal(p, s) to stay live"
    if found in _WHOLE_DIGITS:
        return unfit(Digits(_WHOLE_DIGITS[found], 0, whole=True), declared)
    if not found.startswith("decimal("):
        return "must be of a numeric type"
    return unfit(_read_digits(found), declared)


def _to_stored_value(live: LiveColumn) -> Node:
    """Return a node for a column's values in their stored type; the check of the types ensures that no cast fails."""
    value = column(live.name)
    if live.kind is Kind.BOOLEAN:
        return value
    if live.kind is Kind.CATEGORY:
        return exp.cast(value, "TEXT")
    if live.kind is Kind.REAL:
        return exp.cast(value, "DOUBLE")
    if live.kind.temporal:
        return _date_units(live, value)
    if live.kind is Kind.DECIMAL and live.scale:
        exact = exp.cast(value, f"DECIMAL({_WHOLE_DIGITS[live.type]}, 0)") if live.type in _WHOLE_DIGITS else value
        # Eighteen digits times nineteen: at most the 38 digits that a decimal can have.
        unit = exp.cast(exp.Literal.string(str(10**live.scale)), f"DECIMAL({live.scale + 1}, 0)")
        return exp.cast(exp.Paren(this=exp.Mul(this=exact, expression=unit)), "BIGINT")
    return exp.cast(value, "BIGINT")


def _date_units(live: LiveColumn, value: Node) -> Node:
    """Return the number of a date or time; the session's time zone is UTC."""
    if live.type == "date":
        return date_units.days_as_units(
            lambda: exp.Anonymous(this="UNIX_DATE", expressions=[value.copy()]), value, live.kind
        )
    if live.type == "timestamp_ntz":
        return date_units.seconds_as_units(lambda at: _unix_seconds(exp.cast(at, "TIMESTAMPTZ")), value, live.kind)
    zone = exp.Literal.string(live.time_zone)
    return date_units.instants_as_units(lambda at: _unix_seconds(exp.AtTimeZone(this=at, zone=zone)), value, live.kind)


def _unix_seconds(time: Node) -> Node:
    return exp.Anonymous(this="UNIX_SECONDS", expressions=[time])
