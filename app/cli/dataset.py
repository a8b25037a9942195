"""`snapledger dataset suggest` and `reindex`: what reads tables by itself, without a running service."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

DateOrder = Literal["day-month-year", "month-day-year"]
Encoding = Literal["utf-8", "windows-1252", "latin-1"]
Given = Annotated[
    Path, typer.Argument(help="A CSV, Parquet or Excel file.", exists=True, dir_okay=False, readable=True)
]


def suggest(  # noqa: PLR0913 - one for each thing that a file may not show
    file: Given,
    header_row: Annotated[
        int | None, typer.Option(min=1, max=1_000, help="The line with the names of the columns.")
    ] = None,
    *,
    no_header: Annotated[
        bool, typer.Option("--no-header", help="No line has the names of the columns: number them.")
    ] = False,
    encoding: Annotated[
        Encoding | None, typer.Option(help="The encoding of a text file, which is detected by default.")
    ] = None,
    date_order: Annotated[
        DateOrder | None,
        typer.Option(help="The order of dates that are not in ISO 8601, if the file does not show it."),
    ] = None,
    sheet: Annotated[str | None, typer.Option(help="The name of the sheet of a workbook, or its place from 1.")] = None,
) -> None:
    """Print a draft of a file's metadata; correct and confirm its bounds and categories before you upload it.

    Everybody with access sees bounds and categories. Those of the draft come from the data and would reveal some
    of it: replace them with what you know without the data, then empty each column's list `unconfirmed`.
    """
    from app.engines.ingest.drafting.draft import complete_metadata, draft_metadata  # noqa: PLC0415 - uploads need no engine
    from app.engines.ingest.file_format import FileFormat  # noqa: PLC0415

    if no_header and header_row is not None:
        raise typer.BadParameter("is a line that --no-header says does not exist", param_hint="--header-row")
    place = int(sheet) if sheet is not None and sheet.isdecimal() else sheet
    draft = draft_metadata(
        file,
        FileFormat(header_row=header_row, encoding=encoding, sheet=place, date_order=date_order),
        has_header=not no_header,
    )
    told = _explain_left_out(draft.left_out)
    if not draft.columns:
        raise ValueError(f"{file} has no column that can be declared. {' '.join(told)}")
    metadata = complete_metadata(file.stem, draft.metadata())
    typer.echo(json.dumps(metadata, indent=1, ensure_ascii=False))
    count, unconfirmed = len(draft.columns), sum("unconfirmed" in column for column in draft.columns.values())
    typer.echo(f"{unconfirmed} of {count} columns have bounds or categories that you must confirm.", err=True)
    for line in [*_explain_format(draft.form.declared), *told]:
        typer.echo(line, err=True)


def _explain_format(declared: Mapping[str, object]) -> list[str]:
    """Return a line that asks the owner to check the format, if it was not the usual one."""
    members = ", ".join(f"{name} {value!r}" for name, value in declared.items() if name != "column_names")
    return [f"Check in `format` how the file is read: {members}."] if members else []


def _explain_left_out(left_out: Mapping[str, str]) -> list[str]:
    """Return a line for each reason, with the columns that were left out for it."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    return [f"Left out, since each {reason}: {', '.join(names)}." for reason, names in by_reason.items()]


def reindex(
    names: Annotated[
        list[str] | None, typer.Argument(help="The datasets; all that are stored here by default.")
    ] = None,
) -> None:
    """Compute the codes and the prepared sums of stored tables again, directly in the data directory, as the operator.

    Tables of an older version get theirs by this. The service may be running. It takes about as long as the
    registration, and the space of a second copy meanwhile.
    """
    from app.config import Settings  # noqa: PLC0415 - only this command needs the service's modules
    from app.services.operations import reindexing  # noqa: PLC0415

    for dataset in reindexing.reindex(Settings(), names or []):
        typer.echo(f"Dataset {dataset.name} is reindexed: {dataset.n:,} rows.")
