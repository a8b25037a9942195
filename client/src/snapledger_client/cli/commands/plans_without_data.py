"""`snapledger plan-without-data`: a plan on a table that the service does not have."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from snapledger_client import FreePlan
from snapledger_client.cli import output
from snapledger_client.cli.commands.questions import (
    AccuracyOf,
    Alpha,
    Columns,
    Epsilon,
    Gamma,
    GroupBy,
    Guess,
    Refinement,
    RelativeAccuracy,
    build_statistic,
    collect_options,
    print_alternatives,
)
from snapledger_client.cli.kinds import StatisticKindOf
from snapledger_client.cli.options import Bins, BoundsOf, Edges, WhereOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, connect, fail


def plan(  # noqa: PLR0913 - as many options as a question has
    kind: StatisticKindOf,
    columns: Columns = None,
    *,
    rows: Annotated[int, typer.Option(help="How many rows the table would have.", min=1)],
    rows_per_unit: Annotated[int, typer.Option(help="How many rows a unit may have.", min=1)] = 1,
    schema: Annotated[
        Path | None,
        typer.Option(
            help="Metadata as JSON, whose `columns` the table would have.", exists=True, dir_okay=False, readable=True
        ),
    ] = None,
    epsilon: Epsilon = None,
    accuracy: AccuracyOf = None,
    relative_accuracy: RelativeAccuracy = None,
    bounds: BoundsOf = None,
    edges: Edges = None,
    bins: Bins = None,
    where: WhereOf = None,
    group_by: GroupBy = None,
    alpha: Alpha = None,
    gamma: Gamma = None,
    grid_refinement: Refinement = None,
    guess: Guess = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Show what a release would cost and promise on a table that the service does not have."""
    statistic = build_statistic(
        kind, columns or [], bounds=bounds, edges=edges, bins=bins, where=where, group_by=group_by
    )
    asked: Any = collect_options(
        fresh=False,
        refinement=grid_refinement,
        epsilon=epsilon,
        accuracy=accuracy,
        relative_accuracy=relative_accuracy,
        guess=guess,
        alpha=alpha,
        gamma=gamma,
    )
    declared = None if schema is None else _read_columns(schema)
    with connect() as client:
        planned = client.plan(statistic, n=rows, rows_per_unit=rows_per_unit, columns=declared, **asked)
    output.write(output_format, planned.to_dict(), partial(_print_plan, planned))


def _print_plan(planned: FreePlan) -> None:
    output.print_answer(planned)
    print_alternatives(planned)


def _read_columns(schema: Path) -> dict[str, Any]:
    """Return the declared columns of a table's metadata."""
    try:
        document = json.loads(schema.read_bytes(), parse_float=str)
    except ValueError:
        fail(f"{schema} is not valid JSON", USAGE)
    columns = document.get("columns") if isinstance(document, dict) else None
    if not isinstance(columns, dict):
        fail(f"{schema} must be an object with the object `columns`, such as `dataset draft` prints", USAGE)
    return columns
