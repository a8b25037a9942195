"""`snapledger ledger show`, `verify` and `verification`."""

from typing import Annotated

import typer

from snapledger_client import Entry
from snapledger_client.cli import output
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import DatasetName, Newest, connect
from snapledger_client.cli.verifications import write_latest_verification, write_verification

Incremental = Annotated[
    bool, typer.Option("--incremental", help="Check the ledger only from its latest verified entry on.")
]


def show_ledger(
    dataset: DatasetName,
    *,
    newest: Newest = False,
    entry: Annotated[int | None, typer.Option(help="Show only the entry with this number.", min=1)] = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """List every entry of a dataset's ledger, oldest first; for its owner and auditors."""
    with connect() as client:
        of = client.dataset(dataset)
        entries = list(of.ledger(newest=newest)) if entry is None else [of.entry(entry)]

    def show() -> None:
        rows = [
            (
                each.seq,
                f"{each.at:%Y-%m-%d %H:%M:%S}",
                each.kind,
                each.principal,
                f"{each.epsilon:f}",
                f"{each.epsilon_spent:f}",
                "" if each.window_days is None else f"{each.window_days} days",
                each.release_id,
                each.reason,
            )
            for each in entries
        ]
        columns = ("entry", "at", "kind", "principal", "ε", "spent", "window", "release", "reason")
        output.print_table(columns, rows, ("entry", "ε", "spent"))

    if entry is not None:
        output.write(output_format, entries[0].to_dict(), show)
        return
    output.write_list(output_format, "entries", entries, show, Entry)


def verify(
    dataset: DatasetName, *, incremental: Incremental = False, output_format: FormatOf = OutputFormat.TABLE
) -> None:
    """Let the service compute every hash and sum of a dataset's ledger again; exit status 1 on any problem."""
    with connect() as client:
        found = client.dataset(dataset).verify(incremental=incremental)
    write_verification(output_format, found, dataset, "entry")


def show_verification(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show when a dataset's ledger was verified last, by whom, and what was found; for its owner and auditors."""
    with connect() as client:
        found = client.dataset(dataset).latest_verification()
    write_latest_verification(output_format, found, "This ledger was never verified while the service ran.")
