"""`snapledger status` and `metrics`."""

from typing import Annotated

import typer

from snapledger_client.cli import credentials, output
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import connect


def show_status(
    *,
    alive: Annotated[bool, typer.Option("--alive", help="Only ask whether the service's process answers.")] = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Show whether the service is ready: that it answers, and its database too; exit status 6 if not."""
    with connect() as client:
        health = client.health(database=not alive)
    state = "alive" if alive else "ready"
    output.write(output_format, health.to_dict(), lambda: output.print_line(f"{credentials.load().url} is {state}."))


def print_metrics() -> None:
    """Print the service's metrics in Prometheus' text format; for admins and auditors."""
    with connect() as client:
        text = client.metrics()
    typer.echo(text, nl=False)
