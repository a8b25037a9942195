"""Check from the catalogue alone whether a Postgres table's columns fit their declaration."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg

from app.dp.table.columns import Column, Kind
from app.engines.errors import EngineFailure, InvalidFile, Problem, StaleTable
from app.engines.ingest.problems import MAX_PROBLEMS
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.sql import date_units
from app.engines.sql.numeric_precision import Digits, unfit

# Views, foreign tables, virtual columns and casts that somebody defined may fail on a value, so that they may be copied
# but not stay live; so may the parts of a table: its partitions, and the tables that inherit from it.
# The type of a domain is its base type: a domain checks only what is written, and Postgres ignores casts from it.
_COLUMNS = """
    SELECT a.attname, CASE WHEN t.typtype = 'e' THEN 'enum'
               WHEN t.typtype = 'b' AND t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname ELSE 'other' END,
           base.modifier,
           c.relkind IN ('r', 'p', 'm')
           AND NOT EXISTS (SELECT FROM pg_cast f WHERE t.typtype = 'e' AND f.castsource = t.oid)
           AND NOT EXISTS (
               WITH RECURSIVE part AS (
                   SELECT c.oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN part ON i.inhparent = part.oid
               )
               SELECT FROM part
               JOIN pg_class k ON k.oid = part.oid
               LEFT JOIN pg_attribute v ON v.attrelid = k.oid AND v.attname = a.attname
               WHERE k.relkind = 'f' OR v.attgenerated = 'v'
           )
    FROM pg_class c
    JOIN pg_namespace s ON s.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    CROSS JOIN LATERAL (
        WITH RECURSIVE layer AS (
            SELECT y.oid, y.typtype, y.typbasetype, y.typtypmod, a.atttypmod AS modifier
            FROM pg_type y WHERE y.oid = a.atttypid
            UNION ALL
            SELECT y.oid, y.typtype, y.typbasetype, y.typtypmod, layer.typtypmod
            FROM layer JOIN pg_type y ON layer.typtype = 'd' AND y.oid = layer.typbasetype
        )
        SELECT oid, modifier FROM layer WHERE typtype <> 'd'
    ) AS base
    JOIN pg_type t ON t.oid = base.oid
    WHERE s.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'm', 'v', 'f')
      AND has_schema_privilege(s.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
"""
_WHOLE_DIGITS = {"int2": 5, "int4": 10, "int8": 19}
_FLOATS = {"float4", "float8"}
_TEXTS = {"text", "varchar", "bpchar", "enum"}
_UNITS = {*_WHOLE_DIGITS, "uuid"}  # types of a unit column, in addition to texts


class CatalogueColumn(NamedTuple):
    """A column in the catalogue."""

    name: str
    type: str
    modifier: int
    stays: bool

    @property
    def digits(self) -> Digits | None:
        """The most digits of a whole number or a `numeric(p, s)`; None for other types."""
        if self.type in _WHOLE_DIGITS:
            return Digits(_WHOLE_DIGITS[self.type], 0, whole=True)
        if self.type != "numeric" or self.modifier < 0:
            return None
        precision, scale = (self.modifier - 4) >> 16 & 0xFFFF, ((self.modifier - 4 & 0x7FF) ^ 1024) - 1024
        return Digits(precision - scale, max(scale, 0))


def locate_columns(
    connection: psycopg.Connection[Any], path: tuple[str, ...], columns: Sequence[Column], *, live: bool
) -> tuple[LiveColumn, ...]:
    """Return the declared columns with their types in the table.

    Raises:
        InvalidFile: the table or a column does not exist, may not be read, or does not fit its declaration.
    """
    found = _find_columns(connection, path)
    if not found:
        raise InvalidFile([Problem("source.table", "does not exist, or the connection may not read it")])
    problems = []
    for column in columns:
        if column.name not in found:
            problems.append(Problem(f"column {column.name}", "does not exist, or the connection may not read it"))
        elif what := _unsuitable_type(found[column.name], column, live=live):
            problems.append(Problem(f"column {column.name}", what))
        elif found[column.name].type == "timestamptz" and not _has_zone(connection, column.time_zone):
            problems.append(Problem(f"column {column.name}", "has a time zone that the database does not know"))
    if problems:
        raise InvalidFile(problems[:MAX_PROBLEMS])
    return tuple(LiveColumn.of(column, found[column.name].type) for column in columns)


def require_types(connection: psycopg.Connection[Any], table: LiveTable) -> None:
    """Check that a table's columns still have the types of its registration.

    The transaction has locked the table, so the types cannot change until it ends.

    Raises:
        StaleTable: a column was removed, may not be read, has another type, or is now computed when it is read.
        EngineFailure: no column of the table may be read.
    """
    found = _find_columns(connection, table.path)
    if not found:
        raise EngineFailure
    for live in table.columns:
        now = found.get(live.name)
        if now is None or now.type != live.type or _unsuitable_type(now, live.declared, live=True):
            raise StaleTable


def _find_columns(connection: psycopg.Connection[Any], path: tuple[str, ...]) -> dict[str, CatalogueColumn]:
    return {row[0]: CatalogueColumn(*row) for row in connection.execute(_COLUMNS, path).fetchall()}


def _has_zone(connection: psycopg.Connection[Any], name: str) -> bool:
    return connection.execute("SELECT FROM pg_timezone_names WHERE name = %s", [name]).fetchone() is not None


def _unsuitable_type(found: CatalogueColumn, column: Column, *, live: bool) -> str | None:
    """Return what is wrong with a column's type, or None if the type is suitable."""
    if live and not found.stays:
        return (
            "is computed when it is read, so it cannot stay live: use a column of a table or materialized view without "
            "casts of its own"
        )
    if column.kind is Kind.CATEGORY:
        suitable = _TEXTS if column.categories else _TEXTS | _UNITS
        return None if found.type in suitable else "must be of a text type"
    if column.kind.temporal:
        return date_units.unsuitable(found.type, column)
    if column.kind is Kind.BOOLEAN:
        return None if found.type == "bool" else "must be of a boolean type"
    return _unsuitable_number(found, column, live=live)


def _unsuitable_number(found: CatalogueColumn, column: Column, *, live: bool) -> str | None:
    if found.type not in {*_WHOLE_DIGITS, *_FLOATS, "numeric"}:
        return "must be of a numeric type"
    if not live or (column.kind is Kind.REAL and found.type in _FLOATS):
        return None  # in a snapshot every value is checked
    digits = found.digits
    return "must be of an integer type or numeric(p, s) to stay live" if digits is None else unfit(digits, column)
