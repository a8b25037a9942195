"""Draft a declaration of a file's columns for its owner to correct. The draft is not sent to the service.

What is taken from the data (bounds, categories) is listed as unconfirmed. A registration is refused until the owner has
emptied that list.
"""

import re
from pathlib import Path
from typing import Any

import duckdb

from app.dp.table.columns import Kind
from app.dp.table.dates import first_unit, format_units, last_unit
from app.engines.errors import InvalidFile
from app.engines.ingest.csv_file import detect_delimiter_of_undeclared

MAX_CATEGORIES = 100
"""A column with more distinct texts probably holds names or remarks, not categories."""

NULL_VALUES = ["", "NA", "NaN", "null"]

_WHOLE = re.compile(r"U?(TINY|SMALL)?INT(EGER)?|BIGINT")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_MAX_DIGITS = 18


def draft_metadata(path: Path) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return a declaration of each column of a CSV or Parquet file, and the names of the columns that were left out.

    Raises:
        ValueError: the file is neither, or a row has more or fewer fields than the header.
    """
    with duckdb.connect(":memory:", config={"memory_limit": "1GB"}) as connection:
        try:
            connection.execute(f"CREATE VIEW given AS SELECT * FROM {_read_with(path)}")  # noqa: S608 - quoted below
            found = connection.execute("DESCRIBE given").fetchall()
            columns = {name: _draft_column(connection, name, kind) for name, kind, *_ in found}
        except duckdb.Error:
            raise ValueError(f"{path} is not a readable CSV or Parquet file") from None
    kept = {name: column for name, column in columns.items() if column is not None}
    return kept, [name for name in columns if name not in kept]


def _read_with(path: Path) -> str:
    quoted = "'" + str(path).replace("'", "''") + "'"
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return f"read_parquet({quoted})"
        try:
            delimiter = detect_delimiter_of_undeclared(
                file
            )  # with rows of different lengths, DuckDB would read a single column
        except InvalidFile as error:
            told = "; ".join(f"{problem.where}: {problem.what}" for problem in error.problems)
            raise ValueError(f"{path}: {told}") from None
    nulls = ", ".join(f"'{text}'" for text in NULL_VALUES)
    # No booleans: DuckDB accepts more spellings of them than an upload may have.
    kinds = "'BIGINT', 'DOUBLE', 'DATE', 'TIME', 'TIMESTAMP', 'TIMESTAMPTZ', 'VARCHAR'"
    form = f"delim = '{delimiter}', quote = '\"', escape = '\"', comment = '', skip = 0, header = true"
    read = f"{form}, sample_size = -1, nullstr = [{nulls}], auto_type_candidates = [{kinds}]"
    return f"read_csv({quoted}, {read})"


def _draft_column(connection: duckdb.DuckDBPyConnection, name: str, kind: str) -> dict[str, Any] | None:
    """Return a declaration of a column; None if no kind suits it."""
    quoted = '"' + name.replace('"', '""') + '"'
    if kind == "BOOLEAN":
        return {"kind": "boolean"}
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        return _draft_texts(connection, quoted)
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return _draft_dates(connection, quoted, kind)
    declared = _draft_number(kind)
    if declared is None:
        return None
    finite = f"WHERE isfinite({quoted})" if kind in {"DOUBLE", "FLOAT"} else ""
    query = f"SELECT CAST(min({quoted}) AS VARCHAR), CAST(max({quoted}) AS VARCHAR) FROM given {finite}"  # noqa: S608
    ((least, most),) = connection.execute(query).fetchall()
    if least is None or least == most:
        return None
    return declared | {"bounds": [least, most], "unconfirmed": ["bounds"]}


def _draft_texts(connection: duckdb.DuckDBPyConnection, quoted: str) -> dict[str, Any] | None:
    distinct = f"SELECT DISTINCT CAST({quoted} AS VARCHAR) AS text FROM given WHERE {quoted} IS NOT NULL"  # noqa: S608
    query = f"{distinct} LIMIT {MAX_CATEGORIES + 1}"
    texts = sorted(text for (text,) in connection.execute(query).fetchall())
    if texts and {text.lower() for text in texts} <= {"true", "false"}:
        return {"kind": "boolean"}
    fits = 0 < len(texts) <= MAX_CATEGORIES
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


def _draft_number(kind: str) -> dict[str, Any] | None:
    if _WHOLE.fullmatch(kind):
        return {"kind": "integer"}
    if kind in {"DOUBLE", "FLOAT", "HUGEINT", "UBIGINT", "UHUGEINT"}:
        return {"kind": "real"}
    match = _DECIMAL.fullmatch(kind)
    if match is None:
        return None
    return {"kind": "decimal", "scale": int(match[2])} if int(match[1]) <= _MAX_DIGITS else {"kind": "real"}
