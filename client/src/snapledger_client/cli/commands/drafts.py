"""`snapledger dataset draft`: let the service draft the metadata of a table."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from snapledger_client import Draft
from snapledger_client.cli import output
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, connect, fail

DateOrder = Literal["day-month-year", "month-day-year"]
Encoding = Literal["utf-8", "windows-1252", "latin-1"]


def draft(  # noqa: PLR0913 - one for each thing that a file may not show
    file: Annotated[
        Path | None,
        typer.Argument(help="A CSV, Parquet or Excel file.", exists=True, dir_okay=False, readable=True),
    ] = None,
    *,
    connection: Annotated[str | None, typer.Option(help="Instead of a file: the connection of a table.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of the connection, such as public.people.")] = None,
    header_row: Annotated[
        int | None, typer.Option(min=1, max=1_000, help="The line with the names of the columns.")
    ] = None,
    no_header: Annotated[bool, typer.Option("--no-header", help="No line has the names of the columns.")] = False,
    encoding: Annotated[
        Encoding | None, typer.Option(help="The encoding of a text file, which is detected by default.")
    ] = None,
    date_order: Annotated[
        DateOrder | None,
        typer.Option(help="The order of dates that are not in ISO 8601, if the file does not show it."),
    ] = None,
    sheet: Annotated[str | None, typer.Option(help="The name of the sheet of a workbook, or its place from 1.")] = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Let the service draft a table's metadata: print it, for you to correct and confirm before you register it.

    The file is sent to the service, which does not keep it. Everybody with access will see bounds and categories.
    Those of the draft come from the data: replace them with what you know without the data, then empty each column's
    list `unconfirmed`.
    """
    members = {
        "header_row": header_row,
        "encoding": encoding,
        "date_order": date_order,
        "sheet": int(sheet) if sheet is not None and sheet.isdecimal() else sheet,
    }
    file_format = {name: value for name, value in members.items() if value is not None}
    if (file is None) != (connection is not None and table is not None):
        fail("give either a file, or --connection and --table", USAGE)
    if no_header and header_row is not None:
        fail("--header-row names a line that --no-header says does not exist", USAGE)
    with connect() as client:
        if file is None:
            found = client.draft(source={"connection": connection, "table": table})
        else:
            with file.open("rb") as content:
                found = client.draft(content, file_format=file_format or None, has_header=not no_header)
    output.write(output_format, found.to_dict(), partial(_print_draft, found), _list_columns(found))


def _print_draft(found: Draft) -> None:
    """Print the metadata on standard output, for a file, and what to do with it on standard error."""
    output.print_json(found.metadata)
    columns = found.metadata["columns"]
    unconfirmed = sum(bool(column.get("unconfirmed")) for column in columns.values())
    typer.echo(f"{unconfirmed} of {len(columns)} columns have bounds or categories that you must confirm.", err=True)
    for each in found.left_out:
        typer.echo(output.make_cell(": ".join(each.values())).plain, err=True)


def _list_columns(found: Draft) -> list[dict[str, Any]]:
    return [{"column": name} | column for name, column in found.metadata["columns"].items()]
