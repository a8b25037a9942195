"""Which of a Postgres table's columns can be what their owner declares, by the catalogue alone."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg

from app.dp.columns import Column, Kind
from app.engines.errors import InvalidFile, Problem
from app.engines.ingest.problems import MOST_PROBLEMS
from app.engines.live import LiveColumn

_NAME = re.compile(r'(?:(?P<schema>"(?:[^"]|"")+"|[^".]+)\.)?(?P<table>"(?:[^"]|"")+"|[^".]+)')

# Views, foreign tables and virtual columns may fail on a value, so that they may be copied but not stay live.
_COLUMNS = """
    SELECT a.attname, CASE t.typtype WHEN 'e' THEN 'enum' ELSE t.typname END, a.atttypmod,
           c.relkind IN ('r', 'p', 'm') AND a.attgenerated <> 'v'
    FROM pg_class c
    JOIN pg_namespace s ON s.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid AND t.typtype IN ('b', 'e')
    WHERE s.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'm', 'v', 'f')
      AND has_schema_privilege(s.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
"""
_WHOLE_DIGITS = {"int2": 5, "int4": 10, "int8": 19}
_FLOATS = {"float4", "float8"}
_TEXTS = {"text", "varchar", "bpchar", "enum"}
_UNITS = {*_WHOLE_DIGITS, "uuid"}  # beside texts, of a column that says whose row it is, which has no categories
_MOST_DIGITS = 18  # whatever has them is within 64 bits
_MOST_DIGITS_OF_A_DOUBLE = 300  # before and after the point: no conversion overflows or underflows


class Found(NamedTuple):
    """A column in the catalogue."""

    name: str
    type: str
    modifier: int
    stays: bool

    @property
    def digits(self) -> tuple[int, int] | None:
        """The most digits before and after the point of a whole number or a `numeric(p, s)`; None for other types."""
        if self.type in _WHOLE_DIGITS:
            return _WHOLE_DIGITS[self.type], 0
        if self.type != "numeric" or self.modifier < 0:
            return None
        precision, scale = (self.modifier - 4) >> 16 & 0xFFFF, ((self.modifier - 4 & 0x7FF) ^ 1024) - 1024
        return precision - scale, max(scale, 0)


def path_of(table: str) -> tuple[str, str]:
    """Schema and table of what an owner wrote: `people`, `public.people`, `"a.b"."c"`; exactly, without folding case.

    Raises:
        InvalidFile: it is no such name.
    """
    match = _NAME.fullmatch(table)
    if match is None:
        raise InvalidFile([Problem("source.table", "is not the name of a table, or of a schema and a table")])
    schema, name = (_unquoted(match[part] or "public") for part in ("schema", "table"))
    return schema, name


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def located(
    connection: psycopg.Connection[Any], path: tuple[str, str], columns: Sequence[Column], *, live: bool
) -> tuple[LiveColumn, ...]:
    """The declared columns as they are in the table.

    Raises:
        InvalidFile: the table or a column is not there, may not be read, or cannot be what is declared.
    """
    found = {row[0]: Found(*row) for row in connection.execute(_COLUMNS, path).fetchall()}
    if not found:
        raise InvalidFile([Problem("source.table", "is not there, or the connection may not read it")])
    problems = []
    for column in columns:
        if column.name not in found:
            problems.append(Problem(f"column {column.name}", "is not there, or the connection may not read it"))
        elif what := _unsuitable(found[column.name], column, live=live):
            problems.append(Problem(f"column {column.name}", what))
    if problems:
        raise InvalidFile(problems[:MOST_PROBLEMS])
    return tuple(LiveColumn(c.name, c.kind, c.scale, found[c.name].type) for c in columns)


def _unsuitable(found: Found, column: Column, *, live: bool) -> str | None:
    """What is wrong with a column's type, if anything."""
    if live and not found.stays:
        return "is computed when it is read: only columns of tables and materialized views can stay live"
    if column.kind is Kind.CATEGORY:
        if not column.categories and found.type in _UNITS:
            return None
        return None if found.type in _TEXTS else "does not hold texts"
    if column.kind is Kind.BOOLEAN:
        return None if found.type == "bool" else "does not hold booleans"
    if found.type not in {*_WHOLE_DIGITS, *_FLOATS, "numeric"}:
        return "does not hold numbers"
    return _unfit_for_life(found, column) if live else None


def _unfit_for_life(found: Found, column: Column) -> str | None:
    """Why a column's numbers could not all be read where they are, without an error; in a snapshot they are checked."""
    if column.kind is Kind.REAL and found.type in _FLOATS:
        return None
    if found.digits is None:
        return "must be of an integer type or numeric(p, s) to stay live"
    before, after = found.digits
    if column.kind is Kind.REAL:
        return None if max(before, after) <= _MOST_DIGITS_OF_A_DOUBLE else "has too many digits to stay live"
    scale = column.scale if column.kind is Kind.DECIMAL else 0
    if after > scale:
        return f"has more than {scale} decimals" if scale else "holds more than whole numbers"
    if found.type in _WHOLE_DIGITS and not scale:
        return None
    return None if before + scale <= _MOST_DIGITS else f"has more than {_MOST_DIGITS} digits with its decimals"
