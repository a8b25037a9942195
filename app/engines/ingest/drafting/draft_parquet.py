"""Draft the columns of a Parquet file from their types and values."""

import glob
import re
from collections import Counter
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import duckdb

from app.dp.table.columns import Kind
from app.dp.table.dates import first_unit, format_units, last_unit
from app.engines.ingest.drafting.draft_texts import NO_KIND
from app.engines.ingest.drafting.text_profile import DECLARABLE, MAX_CATEGORIES
from app.engines.stored_columns import INT64_MAX, INT64_MIN

_REALS = {"DOUBLE", "FLOAT"}
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_MAX_DIGITS = 18
_EXACT = Context(prec=80)


def draft_parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[list[str], list[dict[str, Any] | str]]:
    """Return the names of a Parquet file's columns, and a declaration of each, or why it has none.

    Exactly this file is read.
    """
    read = f"read_parquet({_quote(glob.escape(str(path)))}, hive_partitioning = false)"
    connection.execute(f"CREATE VIEW given AS SELECT * FROM {read}")  # noqa: S608 - quoted
    found = connection.execute("DESCRIBE given").fetchall()
    names = [name for name, *_ in found]
    times = Counter(names)
    drafted = [_draft_column(connection, name, kind) if times[name] == 1 else None for name, kind, *_ in found]
    return names, [column or NO_KIND for column in drafted]


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _draft_column(connection: duckdb.DuckDBPyConnection, name: str, kind: str) -> dict[str, Any] | None:
    """Return a declaration of a column; None if no kind suits it."""
    quoted = '"' + name.replace('"', '""') + '"'
    if kind == "BOOLEAN":
        return {"kind": "boolean"}
    if kind in {"VARCHAR", "UUID", "JSON", "BLOB"} or kind.startswith("ENUM"):
        # Old writers do not say which bytes are texts.
        return _draft_texts(connection, f"TRY(decode({quoted}))" if kind == "BLOB" else quoted)
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return _draft_dates(connection, quoted, kind)
    if kind not in _REALS and not _WHOLE.fullmatch(kind) and not _DECIMAL.fullmatch(kind):
        return None
    finite = f"WHERE isfinite({quoted})" if kind in _REALS else ""
    query = f"SELECT CAST(min({quoted}) AS VARCHAR), CAST(max({quoted}) AS VARCHAR) FROM given {finite}"  # noqa: S608
    ((least, most),) = connection.execute(query).fetchall()
    if least is None or least == most:
        return None
    return _draft_number(kind, least, most) | {"bounds": [least, most], "unconfirmed": ["bounds"]}


def _draft_texts(connection: duckdb.DuckDBPyConnection, quoted: str) -> dict[str, Any] | None:
    distinct = f"SELECT DISTINCT CAST({quoted} AS VARCHAR) AS text FROM given WHERE {quoted} IS NOT NULL"  # noqa: S608
    query = f"{distinct} LIMIT {MAX_CATEGORIES + 1}"
    texts = sorted(text for (text,) in connection.execute(query).fetchall())
    if texts and {text.lower() for text in texts} <= {"true", "false"}:
        return {"kind": "boolean"}
    fits = 0 < len(texts) <= MAX_CATEGORIES and all(map(DECLARABLE.fullmatch, texts))
    return {"kind": "category", "categories": texts, "unconfirmed": ["categories"]} if fits else None


def _draft_dates(connection: duckdb.DuckDBPyConnection, quoted: str, kind: str) -> dict[str, Any] | None:
    """Return a declaration of a column of dates or times: a date if all times are midnight, and its type has no zone.

    The resolution is the coarsest of hours, minutes and seconds that keeps each time.
    """
    seconds = f"CAST(floor(epoch({quoted})) AS BIGINT)"
    whole = ", ".join(f"bool_and({seconds} % {unit} = 0)" for unit in (86_400, 3_600, 60))
    query = f"SELECT min({seconds}), max({seconds}), {whole} FROM given"  # noqa: S608 - quoted
    ((least, most, of_days, of_hours, of_minutes),) = connection.execute(query).fetchall()
    if least is None or least == most:
        return None
    ends = max(least, first_unit(Kind.SECONDS)), min(most, last_unit(Kind.SECONDS))
    bounds = [format_units(second, Kind.SECONDS) for second in ends]
    if of_days and "WITH TIME ZONE" not in kind:
        return {"kind": "date", "bounds": [bound[:10] for bound in bounds], "unconfirmed": ["bounds"]}
    resolution = "hour" if of_hours else "minute" if of_minutes else "second"
    declared = {"kind": "timestamp", "time_zone": "UTC", "resolution": resolution, "bounds": bounds}
    return declared | {"unconfirmed": ["bounds", "time_zone"]}


def _draft_number(kind: str, least: str, most: str) -> dict[str, Any]:
    """Return an exact kind if it holds all numbers: some writers declare 38 digits for every integer."""
    match = _DECIMAL.fullmatch(kind)
    scale = int(match[2]) if match else 0
    units = [Decimal(bound).scaleb(scale, _EXACT) for bound in (least, most)]
    if kind in _REALS or scale > _MAX_DIGITS or not INT64_MIN <= units[0] <= units[1] <= INT64_MAX:
        return {"kind": "real"}
    return {"kind": "decimal", "scale": scale} if scale else {"kind": "integer"}
