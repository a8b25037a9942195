"""`snapledger dataset add`: upload a table and register it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

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

from snapledger_client import Client, DatasetFacts, InvalidRequest, uploads
from snapledger_client.calls import Call
from snapledger_client.cli import output, session
from snapledger_client.cli.output import FormatOf, OutputFormat


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
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Upload a table and register it, with a progress bar; errors are shown by line and column.

    Without a file, the metadata has a `source`, which names a table of a connection. It goes to the service of your
    last `snapledger login`, or to SNAPLEDGER_URL with SNAPLEDGER_KEY.
    """
    metadata = schema.read_bytes()  # once: it may be a pipe
    if (file is None) != _has_source(metadata):
        raise typer.BadParameter("give either a file or a `source` in the metadata", param_hint="FILE")
    call = Call("POST", "/v1/datasets", DatasetFacts.parse, repeatable=False, reads_table=True)
    with session.connect() as client:
        try:
            if file is None:
                sent = replace(call, body=metadata, headers={"Content-Type": "application/json"})
                facts = client._send(sent)  # noqa: SLF001 - the metadata as it was written, which `register` parses
            else:
                facts = _upload(client, call, file, metadata)
        except InvalidRequest as problem:
            _print_faults(problem, metadata)
            raise typer.Exit(session.find_exit_code(problem)) from None
    document = facts.to_dict()
    output.write(output_format, document, partial(_print_registered, document))


def _has_source(metadata: bytes) -> bool:
    """Return whether the metadata says where the table is; what is no JSON the service refuses with its place."""
    try:
        document = json.loads(metadata)
    except ValueError:
        return False
    return isinstance(document, dict) and "source" in document


def _upload(client: Client, call: Call[DatasetFacts], file: Path, metadata: bytes) -> DatasetFacts:
    """Send a file and its metadata, with a progress bar on a terminal."""
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
        sent = replace(
            call,
            path="/v1/dataset-uploads",
            files={"metadata": (None, metadata), "file": (file.name, content)},
        )
        return client._send(sent)  # noqa: SLF001 - as above


def _add_task(progress: Progress, file: Path) -> TaskID:
    """Add a bar with the size of the file; that of a pipe is not known."""
    return progress.add_task("uploading", total=file.stat().st_size if file.is_file() else None)


def _print_faults(problem: InvalidRequest, metadata: bytes) -> None:
    """Print each error of the metadata or of the table in a line, with the name of its column."""
    typer.echo(f"snapledger: {problem.title}.", err=True)
    for where, what in problem.errors:
        typer.echo(f"  {_name_column(where, metadata)}: {what}", err=True)


def _print_registered(document: Mapping[str, Any]) -> None:
    sha256 = document["source"].get("sha256")
    digest = "" if sha256 is None else f", SHA-256 of the file {sha256}"
    output.print_line(f"Dataset {document['name']} is registered: {document['n']:,} rows{digest}.")
    for advice in (document.get("report") or {}).get("advice", ()):
        output.print_line(f"  {advice}")


def _name_column(where: str, metadata: bytes) -> str:
    """Return a path in the metadata with the column's name in place of its position, which the service sends."""
    document = json.loads(metadata)
    columns = document.get("columns") if isinstance(document, dict) else None
    head, _, rest = where.partition(".")
    position, dot, member = rest.partition(".")
    if head != "columns" or not position.isdigit() or not isinstance(columns, dict):
        return where
    return f"columns.{list(columns)[int(position)]}{dot}{member}"
