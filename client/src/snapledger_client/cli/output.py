"""The output of commands: tables for people, JSON for programs, CSV for spreadsheets.

Texts from the service cannot control the terminal.
"""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from snapledger_client.cli.csv_text import render_csv
from snapledger_client.models.base import Answer, DisplayedAnswer, TaggedAnswer, render_text


class OutputFormat(StrEnum):
    """How a command prints what the service answers."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


FormatOf = Annotated[
    OutputFormat,
    typer.Option("--format", help="table for people, json as the API answers, or csv for a spreadsheet."),
]

FILE_WIDTH = 240  # in characters, if the output is not a terminal: a file needs no line breaks


def make_cell(value: object) -> Text:
    """Return a table cell without markup and without control or formatting characters."""
    text = "" if value is None else str(value)
    return Text("".join("�" if unicodedata.category(each) in {"Cc", "Cf"} else each for each in text))


def make_console() -> Console:
    """Return a console on standard output."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=FILE_WIDTH)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[str] = ()) -> None:
    """Print a table; the columns in `numbers` are aligned to the right."""
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    right = set(numbers)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(make_cell, row))
    make_console().print(table)


def print_line(text: object) -> None:
    """Print a line for people."""
    make_console().print(make_cell(text), soft_wrap=True)


def print_answer(answer: object) -> None:
    """Print an answer for people, which has a line for the result and perhaps one for how it is computed."""
    text = render_text(answer) if isinstance(answer, DisplayedAnswer) else str(answer)
    for line in text.split("\n"):
        print_line(line)


def print_json(value: Any) -> None:  # noqa: ANN401 - JSON is any value
    """Print JSON for programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))


def make_tagged(answer: TaggedAnswer) -> dict[str, Any]:
    """Return an answer as JSON, with its entity tag for --if-match."""
    return answer.to_dict() | {"etag": answer.etag}


def write(
    output_format: OutputFormat,
    document: Mapping[str, Any],
    show: Callable[[], None],
    records: Iterable[Mapping[str, Any]] | None = None,
    kind: type[Answer] | None = None,
) -> None:
    """Print an answer in a format.

    Args:
        output_format: the format.
        document: the answer as the API sends it.
        show: prints the answer for people.
        records: the rows of the answer as CSV; by default, the document is the only one.
        kind: the class of the records; its members are the columns of a CSV without rows.
    """
    if output_format is OutputFormat.JSON:
        print_json(document)
    elif output_format is OutputFormat.CSV:
        rows = [document] if records is None else list(records)
        typer.echo(render_csv(rows, () if rows or kind is None else tuple(kind.model_fields)), nl=False)
    else:
        show()


def write_list(
    output_format: OutputFormat, member: str, items: Sequence[Answer], show: Callable[[], None], kind: type[Answer]
) -> None:
    """Print a whole list in a format. Its JSON is a page of the API with all items, which `member` has."""
    documents = [item.to_dict() for item in items]
    write(output_format, {member: documents, "next": None}, show, documents, kind)
