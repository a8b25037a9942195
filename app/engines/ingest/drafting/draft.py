"""Draft a declaration of a file's columns for its owner to correct.

What is taken from the data (bounds, categories) is listed as unconfirmed. A registration is refused until the owner has
emptied that list.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast

import duckdb

from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile, Problem
from app.engines.ingest import batches_of
from app.engines.ingest.drafting.draft_parquet import draft_parquet
from app.engines.ingest.drafting.draft_texts import CheckNames, draft_texts
from app.engines.ingest.drafting.text_profile import DECLARABLE, NULL_VALUES
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.ingest.file_kinds import describe_foreign_kind, is_parquet
from app.engines.ingest.parquet.footer import TooLargeError, read_row_groups
from app.engines.ingest.parquet.thrift import MalformedError
from app.engines.ingest.plain_streams import UnreadableStreamError, open_plain
from app.engines.ingest.problems import Problems
from app.engines.ingest.sheet_rows import is_workbook

TOO_MANY_COLUMNS = "has too many columns to be drafted: send a file with fewer"

_MAX_NAME = 255
_MIN_BYTES = len('"": {"kind": "boolean"}, ')
"""The size of a column's shortest declaration without its name; each reason for leaving one out is longer."""

_USUAL = FileFormat(NULL_VALUES)

DuckDBSettings: TypeAlias = Mapping[str, "str | int | bool | float | list[str]"]
_SETTINGS: DuckDBSettings = {"memory_limit": "1GB"}


class DraftedColumns(NamedTuple):
    """What a draft says: the members of the metadata that describe the table, and why each other column is left out."""

    described: Mapping[str, Any]
    left_out: Mapping[str, str]


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


def complete_metadata(name: str, described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a registration from those members that describe the table; the others are a start.

    Args:
        name: the name of the file or table, from which that of the dataset is made.
        described: the columns, and how a file is read.
    """
    name = re.sub("[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:63] or "table"
    return {"name": name, "description": "", "epsilon_limit": "1", "rows_per_unit": 1, **described}


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
            return draft_file(file, Path(file.name), form, has_header=has_header)
        except InvalidFile as error:
            told = "; ".join(f"{problem.where}: {problem.what}" for problem in error.problems)
            raise ValueError(f"{path}: {told}") from None


def draft_file(  # noqa: PLR0913 - what is read, how, and how much of it
    file: BinaryIO,
    path: Path,
    form: FileFormat = PLAIN,
    settings: DuckDBSettings = _SETTINGS,
    *,
    has_header: bool = True,
    max_bytes: int | None = None,
) -> Draft:
    """Return a declaration of each column of an open file; see `draft_metadata`.

    Args:
        file: the file, which can be read several times.
        path: where DuckDB finds it.
        form: what is known of its format; the rest is detected.
        settings: DuckDB's, when it reads a Parquet file.
        has_header: as in `draft_metadata`.
        max_bytes: the maximum size of the draft as JSON. A file whose draft can only be longer is refused before the
            work for each column; any other draft may still turn out longer.

    Raises:
        InvalidFile: the file is not a readable one, has too many columns, or a row has more or fewer fields than the
            header.
        MemoryError: it takes too much memory.
    """
    try:
        check = partial(_refuse_many, max_bytes)
        draft = _draft(path, file, form, settings, check, has_header=has_header)
        _leave_out_unreadable(draft, file)
    except UnreadableStreamError as error:
        raise InvalidFile([Problem("file", str(error))]) from None
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except (duckdb.Error, UnicodeDecodeError):
        raise InvalidFile([Problem("file", "is not a readable CSV, Parquet or Excel file")]) from None
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


def _refuse_many(max_bytes: int | None, names: Sequence[str]) -> None:
    """Refuse columns whose draft would be longer than `max_bytes`, even if each had the shortest declaration."""
    if max_bytes is None:
        return
    least = _MIN_BYTES * len(names) + sum(len(name[:_MAX_NAME]) for name in {*names})
    if least > max_bytes:
        raise InvalidFile([Problem("file", TOO_MANY_COLUMNS)])


def _draft(  # noqa: PLR0913 - as `draft_file`
    path: Path, file: BinaryIO, form: FileFormat, settings: DuckDBSettings, check: CheckNames, *, has_header: bool
) -> Draft:
    plain = open_plain(file, form.encoding)
    if not is_workbook(plain) and (what := describe_foreign_kind(plain)):
        raise InvalidFile([Problem("file", what)])
    if is_parquet(plain):
        _refuse_large(plain)
        with duckdb.connect(":memory:", config=dict(settings)) as connection:
            header, columns = draft_parquet(connection, path, check)
        draft = Draft({}, {})
    else:
        draft_form, header, columns = draft_texts(file, form, check, has_header=has_header)
        draft = Draft({}, {}, draft_form)
    times = Counter(header)
    for place, (name, column) in enumerate(zip(header, columns, strict=True), 1):
        if what := _find_unusable_name(name, times[name]):
            draft.leave_out(name[:_MAX_NAME] or f"column {place}", what)
        elif isinstance(column, str):
            draft.leave_out(name, column)
        else:
            draft.columns[name] = column
    return draft


def _find_unusable_name(name: str, times: int) -> str | None:
    if times > 1:
        return "is in the header more than once"
    return None if DECLARABLE.fullmatch(name) else "has no name that can be declared"


def _leave_out_unreadable(draft: Draft, file: BinaryIO) -> None:
    """Read the drafted columns as an upload does, and leave out those with cells that it would refuse."""
    read = batches_of(file, draft.form)
    problems = _FirstProblems()
    while draft.columns:
        file.seek(0)
        try:
            for _ in read([_column(name, drafted) for name, drafted in draft.columns.items()], problems):
                pass
            break
        except InvalidFile as error:
            told = dict(error.problems)
            unsuitable = {name: told[f"column {name}"] for name in draft.columns if f"column {name}" in told}
            if not unsuitable:
                raise
            for name, what in unsuitable.items():
                draft.leave_out(name, f"{what}: an upload would refuse it")
            problems = _FirstProblems()
    for name, what in problems.by_column.items():
        draft.leave_out(name, f"{what}, which an upload would refuse")


class _FirstProblems(Problems):
    """The first problem of each column's cells, and what is wrong with any number of columns, found in one reading."""

    def __init__(self) -> None:
        super().__init__(most=None)
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
