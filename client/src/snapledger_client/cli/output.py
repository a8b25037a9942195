"""The output of commands: tables for people, JSON for programs. Texts from the service cannot control the terminal."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

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
    for line in str(answer).split("\n"):
        print_line(line)


def print_json(value: Any) -> None:  # noqa: ANN401 - JSON is any value
    """Print JSON for programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))
