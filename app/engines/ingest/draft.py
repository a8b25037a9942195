"""Draft a declaration of a file's columns for its owner to correct. The draft is not sent to the service.

What is taken from the data (bounds, categories) is listed as unconfirmed. A registration is refused until the owner has
emptied that list.
"""

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Context, Decimal
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, cast

import duckdb

from app.dp.table.columns import Column, Kind
from app.dp.table.dates import first_unit, format_units, last_unit
from app.engines.errors import InvalidFile, Problem
from app.engines.ingest import batches_of
from app.engines.ingest.draft_texts import NO_KIND, draft_texts
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.ingest.file_kinds import describe_foreign_kind, is_parquet
from app.engines.ingest.footer import TooLargeError, read_row_groups
from app.engines.ingest.plain_streams import UnreadableStreamError, open_plain
from app.engines.ingest.problems import Problems
from app.engines.ingest.sheet_rows import is_workbook
from app.engines.ingest.text_profile import DECLARABLE, MAX_CATEGORIES, NULL_VALUES
from app.engines.ingest.thrift import MalformedError
from app.engines.stored_columns import INT64_MAX, INT64_MIN

_REALS = {"DOUBLE", "FLOAT"}
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_MAX_DIGITS = 18
_EXACT = Context(prec=80)
_MAX_NAME = 255


_USUAL = FileFormat(NULL_VALUES)


@dataclass
class Draft:
    """A declaration of columns and of the file's format, and why each other column was left out, by its name."""

    columns: dict[str, dict[str, Any]]
    left_out: dict[str, str]
    form: FileFormat = _USUAL

    def leave_out(self, name: str, reason: str) -> None:
        """Leave a column out."""
        self.columns.pop(name, None)
        self.left_out[name] = reason

    def metadata(self) -> dict[str, Any]:
        """Return the members of the metadata that describe the file."""
        given: dict[str, Any] = {}
        if self.form.delimiter not in {None, ","}:
            given["delimiter"] = self.form.delimiter
        if self.form.null_values != NULL_VALUES:
            given["null_values"] = [*self.form.null_values]
        if self.form.declared:
            given["format"] = self.form.declared
        return given | {"columns": self.columns}


def draft_metadata(path: Path, form: FileFormat = PLAIN, *, has_header: bool = True) -> Draft:
    """Return a declaration of each column of a CSV, Parquet or Excel file that an upload would accept.

    Args:
        path: the file, which may be a pipe.
        form: what is known of its format; the rest is detected.
        has_header: whether a line has the names of the columns. If none has, they get numbers.

    Raises:
        ValueError: the file is neither, or a row has more or fewer fields than the header.
    """
    with path.open("rb") as given, _make_seekable(given) as file:
        try:
            draft = _draft(Path(file.name), file, form, has_header=has_header)
            _leave_out_unreadable(draft, file)
        except UnreadableStreamError as error:
            raise ValueError(f"{path}: {error}") from None
        except duckdb.Error:
            raise ValueError(f"{path} is not a readable CSV, Parquet or Excel file") from None
        except InvalidFile as error:
            told = "; ".join(f"{problem.where}: {problem.what}" for problem in error.problems)
            raise ValueError(f"{path}: {told}") from None
    return draft


@contextmanager
def _make_seekable(file: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a file itself, or a temporary copy of what comes through a pipe."""
    if file.seekable():
        yield file
        return
    with NamedTemporaryFile() as copy:
        copyfileobj(file, copy)
        copy.flush()
        copy.seek(0)
        yield cast("BinaryIO", copy)


def _refuse_large(file: BinaryIO) -> None:
    """Refuse a Parquet file whose footer would take DuckDB long, as an upload does.

    Raises:
        InvalidFile: it is so large.
    """
    try:
        read_row_groups(file)
    except TooLargeError as error:
        raise InvalidFile([Problem("file", str(error))]) from None
    except MalformedError:
        pass  # DuckDB or an upload will refuse it


def _draft(path: Path, file: BinaryIO, form: FileFormat, *, has_header: bool) -> Draft:
    plain = open_plain(file, form.encoding)
    if not is_workbook(plain) and (what := describe_foreign_kind(plain)):
        raise InvalidFile([Problem("file", what)])
    if is_parquet(plain):
        _refuse_large(plain)
        with duckdb.connect(":memory:", config={"memory_limit": "1GB"}) as connection:
            return _draft_parquet(connection, path)
    found = draft_texts(file, form, has_header=has_header)
    draft = Draft({}, {}, found.form)
    for place, (name, column) in enumerate(zip(found.header, found.columns, strict=True), 1):
        if what := _find_unusable_name(name, found.header):
            draft.leave_out(name[:_MAX_NAME] or f"column {place}", what)
        elif isinstance(column, str):
            draft.leave_out(name, column)
        else:
            draft.columns[name] = column
    return draft


def _find_unusable_name(name: str, header: Sequence[str]) -> str | None:
    if header.count(name) > 1:
        return "is in the header more than once"
    return None if DECLARABLE.fullmatch(name) else "has no name that can be declared"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _draft_parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> Draft:
    """Draft each column of a Parquet file that has a name of its own. Exactly this file is read."""
    read = f"read_parquet({_quote(glob.escape(str(path)))}, hive_partitioning = false)"
    connection.execute(f"CREATE VIEW given AS SELECT * FROM {read}")  # noqa: S608 - quoted
    found = connection.execute("DESCRIBE given").fetchall()
    names = [name for name, *_ in found]
    draft = Draft({}, {})
    for name, kind, *_ in found:
        if what := _find_unusable_name(name, names):
            draft.leave_out(name[:_MAX_NAME], what)
        elif (column := _draft_column(connection, name, kind)) is None:
            draft.leave_out(name, NO_KIND)
        else:
            draft.columns[name] = column
    return draft


def _leave_out_unreadable(draft: Draft, file: BinaryIO) -> None:
    """Read the drafted columns as an upload does, and leave out those with cells that it would refuse."""
    file.seek(0)
    read = batches_of(file, draft.form)
    problems = _FirstProblems()
    try:
        columns = [_column(name, drafted) for name, drafted in draft.columns.items()]
        for _ in read(columns, problems) if columns else ():
            pass
    except InvalidFile as error:
        unsuitable = {
            name: what for name in draft.columns for where, what in error.problems if where == f"column {name}"
        }
        if not unsuitable:
            raise
        for name, what in unsuitable.items():
            draft.leave_out(name, f"{what}: an upload would refuse it")
        _leave_out_unreadable(draft, file)
    for name, what in problems.by_column.items():
        draft.leave_out(name, f"{what}, which an upload would refuse")


class _FirstProblems(Problems):
    """The first problem of each column's cells."""

    def __init__(self) -> None:
        super().__init__()
        self.by_column: dict[str, str] = {}

    def add_cells(self, unit: str, numbers: Sequence[int], column: str, cells: Mapping[int, str]) -> None:
        """Keep the first problem."""
        for place, what in sorted(cells.items())[:1]:
            self.by_column.setdefault(column, f"{unit} {numbers[place]} {what}")


def _column(name: str, drafted: dict[str, Any]) -> Column:
    """Return a drafted column for reading, which needs no bounds."""
    kind = f"timestamp_{drafted['resolution']}" if drafted["kind"] == "timestamp" else drafted["kind"]
    categories = tuple(drafted.get("categories", ()))
    zone = drafted.get("time_zone", "")
    return Column(
        *(name, Kind(kind)),
        scale=drafted.get("scale", 0),
        categories=categories,
        time_zone=zone,
        true_values=tuple(drafted.get("true_values", ())),
        false_values=tuple(drafted.get("false_values", ())),
        symbols=tuple(drafted.get("symbols", ())),
    )


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
