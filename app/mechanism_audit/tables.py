"""Prints the sections of an audit, as tables for people or as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from snapledger_client.cli import output
from snapledger_client.cli.output import OutputFormat


@dataclass(frozen=True, slots=True)
class Section:
    """One table, and whether all claims in it hold."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    holds: bool


HOLDS = "holds"
EXCEEDED = "EXCEEDED"


def show(sections: Iterable[Section], verdicts: tuple[str, str], *, output_format: OutputFormat) -> bool:
    """Print the sections, each table as soon as it is computed, and return whether all claims hold.

    `verdicts` has the last line to print: the first if all claims hold, the second if not.
    """
    console = Console(highlight=False)
    shown = []
    for section in sections:
        shown.append(section)
        if output_format is OutputFormat.TABLE:
            console.print(_table(section))
    holds = all(section.holds for section in shown)
    document = _document(shown, holds=holds)
    records = [{"title": section["title"]} | row for section in document["sections"] for row in section["rows"]]
    verdict = verdicts[0] if holds else f"[bold red]{verdicts[1]}[/]"
    output.write(output_format, document, lambda: console.print(verdict), records)
    return holds


def _table(section: Section) -> Table:
    table = Table(title=section.title, title_justify="left", title_style="bold", box=SIMPLE)
    for column in section.columns:
        table.add_column(column, overflow="fold")
    for row in section.rows:
        table.add_row(*row, style="red" if EXCEEDED in row else None)
    return table


def _document(sections: Sequence[Section], *, holds: bool) -> dict[str, Any]:
    return {
        "holds": holds,
        "sections": [
            {
                "title": section.title,
                "holds": section.holds,
                "rows": [dict(zip(section.columns, row, strict=True)) for row in section.rows],
            }
            for section in sections
        ],
    }
