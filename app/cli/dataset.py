"""`snapledger dataset suggest` and `add`: draft the metadata of a table, and upload it."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import httpx
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

app = typer.Typer(help="Describe and upload a table, as its owner.", no_args_is_help=True)

DateOrder = Literal["day-month-year", "month-day-year"]
Encoding = Literal["utf-8", "windows-1252", "latin-1"]
Given = Annotated[
    Path, typer.Argument(help="A CSV, Parquet or Excel file.", exists=True, dir_okay=False, readable=True)
]


@app.command()
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
    from app.engines.ingest.draft import complete_metadata, draft_metadata  # noqa: PLC0415 - uploads need no engine
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


@app.command()
def add(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV, Parquet or Excel file; none if the metadata has a `source`.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    *,
    schema: Annotated[Path, typer.Option(help="The metadata, as JSON.", exists=True, dir_okay=False, readable=True)],
) -> None:
    """Upload a table and register it, with a progress bar; errors are shown by line and column.

    Without a file, the metadata has a `source`, which names a table of a connection. It goes to the service of your
    last `snapledger login`, or to SNAPLEDGER_URL with SNAPLEDGER_KEY.
    """
    from app.cli.remote import credentials, session  # noqa: PLC0415 - drafts need no client

    metadata = schema.read_bytes()  # once: it may be a pipe
    if (file is None) != _has_source(metadata):
        raise typer.BadParameter("give either a file or a `source` in the metadata", param_hint="FILE")
    try:
        url, key = credentials.load()
    except ValueError as error:
        session.fail(str(error), session.AUTHORITY)
    request: dict[str, Any] = {
        "url": f"{url.rstrip('/')}/v1/datasets",
        "headers": {"Authorization": f"Bearer {key}"},
        "timeout": httpx.Timeout(30, read=None, write=None),  # the check of a large table takes long
    }
    try:
        if file is None:
            request["headers"]["Content-Type"] = "application/json"
            answer = httpx.post(content=metadata, **request)
        else:
            answer = _upload(file, metadata, request)
    except httpx.HTTPError as error:
        session.fail(f"{url} does not answer: {type(error).__name__}", session.NO_ANSWER)
    _print_problem(answer, metadata)


@app.command()
def reindex(
    names: Annotated[
        list[str] | None, typer.Argument(help="The datasets; all that are stored here by default.")
    ] = None,
) -> None:
    """Compute the codes and the kept sums of stored tables again, directly in the data directory, as the operator.

    Tables of an older version get theirs by this. The service may be running. It takes about as long as the
    registration, and the space of a second copy meanwhile.
    """
    from app.config import Settings  # noqa: PLC0415 - only this command needs the service's modules
    from app.services.operations import reindexing  # noqa: PLC0415

    for dataset in reindexing.reindex(Settings(), names or []):
        typer.echo(f"Dataset {dataset.name} is reindexed: {dataset.n:,} rows.")


def _has_source(metadata: bytes) -> bool:
    """Return whether the metadata says where the table is; what is no JSON the service refuses with its place."""
    try:
        document = json.loads(metadata)
    except ValueError:
        return False
    return isinstance(document, dict) and "source" in document


def _upload(file: Path, metadata: bytes, request: Mapping[str, Any]) -> httpx.Response:
    """Send a file and its metadata, with a progress bar on a terminal."""
    from snapledger_client import uploads  # noqa: PLC0415 - as above

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with (
        Progress(*columns, console=console, disable=not console.is_terminal) as progress,
        file.open("rb") as table,
        uploads.open_table(table, partial(progress.advance, _add_task(progress, file))) as content,
    ):
        return httpx.post(files={"metadata": (None, metadata), "file": (file.name, content)}, **request)


def _add_task(progress: Progress, file: Path) -> TaskID:
    """Add a bar with the size of the file; that of a pipe is not known."""
    return progress.add_task("uploading", total=file.stat().st_size if file.is_file() else None)


def _print_problem(answer: httpx.Response, metadata: bytes) -> None:
    from app.cli.remote import session  # noqa: PLC0415
    from snapledger_client.problems import parse_problem  # noqa: PLC0415

    document: dict[str, Any] = answer.json() if "json" in answer.headers.get("content-type", "") else {}
    if answer.status_code == httpx.codes.CREATED:
        sha256 = document["source"].get("sha256")
        digest = "" if sha256 is None else f", SHA-256 of the file {sha256}"
        typer.echo(f"Dataset {document['name']} is registered: {document['n']:,} rows{digest}.")
        for advice in (document.get("report") or {}).get("advice", ()):
            typer.echo(f"  {advice}")
        return
    problem = parse_problem(answer.status_code, document)
    faults = document.get("errors", ())
    typer.echo(
        f"snapledger: {problem.title}." if faults else f"snapledger: {session.describe_error(problem)}", err=True
    )
    for fault in faults:
        typer.echo(f"  {_name_column(fault['where'], metadata)}: {fault['what']}", err=True)
    raise typer.Exit(session.find_exit_code(problem))


def _name_column(where: str, metadata: bytes) -> str:
    """Return a path in the metadata with the column's name in place of its position, which the service sends."""
    document = json.loads(metadata)
    columns = document.get("columns") if isinstance(document, dict) else None
    head, _, rest = where.partition(".")
    position, dot, member = rest.partition(".")
    if head != "columns" or not position.isdigit() or not isinstance(columns, dict):
        return where
    return f"columns.{list(columns)[int(position)]}{dot}{member}"
