"""`snapledger batch` and `snapledger derived`: commands that make several releases."""

import json
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import typer

from snapledger_client import (
    Batch,
    BatchPlan,
    Bounds,
    Derived,
    Missing,
    Periods,
    Release,
    Where,
    derived_statistics,
    statistics,
)
from snapledger_client.cli import options, output
from snapledger_client.cli.commands.questions import (
    Alpha,
    Gamma,
    Refinement,
    Rehearse,
    RelativeAccuracy,
    parse_refinement,
    require_one_target,
)
from snapledger_client.cli.kinds import DerivedKind, DerivedKindOf, MethodOf
from snapledger_client.cli.options import Bins, BoundsOf, Edges, MissingOf, WhereOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.records import list_release_records
from snapledger_client.cli.results import print_release, write_derived
from snapledger_client.cli.session import USAGE, DatasetName, connect, fail

Key = Annotated[
    str | None, typer.Option(help="An idempotency key: a request that is repeated with it is never charged twice.")
]
Planned = Annotated[bool, typer.Option("--plan", help="Only show what it would cost: free.")]

DerivedColumns = Annotated[
    list[str] | None,
    typer.Argument(
        help="Its column or two columns; for a margin, its column and then both of its table.", metavar="COLUMN…"
    ),
]
DerivedEpsilon = Annotated[
    str | None, typer.Option(help="The ε that its components may cost together; or give --accuracy.")
]
DerivedAccuracy = Annotated[
    str | None, typer.Option(help="Half the width of the interval that is to be planned; or give --epsilon.")
]
Guesses = Annotated[
    list[str] | None,
    typer.Option(help="What a number of the table may be, NAME=VALUE, such as mean=4200. Repeatable."),
]
DerivedGroupBy = Annotated[
    str | None,
    typer.Option(
        help="For a mean, sum or proportion: one number for each category of this column, or COLUMN:month of dates."
    ),
]

COLUMNS_OF = {
    DerivedKind.PROPORTION: (0, 1),
    DerivedKind.CORRELATION: (2,),
    DerivedKind.REGRESSION: (2,),
    DerivedKind.MARGIN: (3,),
}
"""The numbers of columns that a kind can have, if not one. A margin has its own column, then both of its table."""

NAMES = {DerivedKind.MEAN: "mean of some rows"}
"""The printed names of the kinds that differ from a statistic of the same name."""


def _build_mean(  # noqa: PLR0913, PLR0917 - as many as it can have
    column: str,
    where: Where | None = None,
    group_by: str | Periods | None = None,
    bounds: Bounds | None = None,
    weight: str | None = None,
    missing: Missing | None = None,
) -> dict[str, Any]:
    if weight is not None:
        return derived_statistics.weighted_mean(column, weight, where, group_by, bounds, missing)
    if group_by is not None:
        return derived_statistics.mean_by_group(column, group_by, where, bounds, missing)
    if where is not None:
        return derived_statistics.filtered_mean(column, where, bounds, missing)
    if missing is None:
        fail("a mean of some rows needs --where, --group-by, --weight or --missing", USAGE)
    return statistics.mean(column, bounds, missing)


def _build_proportion(
    column: str | None = None,
    category: str | None = None,
    where: Where | None = None,
    group_by: str | Periods | None = None,
) -> dict[str, Any]:
    if group_by is None or column is None:
        return derived_statistics.proportion(column, category, where)
    return derived_statistics.proportion_by_group(column, group_by, category, where)


BUILDERS: dict[DerivedKind, Any] = {
    DerivedKind.SUM: statistics.total,
    DerivedKind.MEAN: _build_mean,
    DerivedKind.PROPORTION: _build_proportion,
}
"""The functions of the kinds for which `snapledger_client` has no function of the same name and parameters."""


def release_batch(  # noqa: PLR0913 - as many options as a batch has
    dataset: DatasetName,
    file: Annotated[
        typer.FileText, typer.Argument(help="The batch as JSON, or only its list of items; - reads standard input.")
    ],
    *,
    epsilon: Annotated[str | None, typer.Option(help="The ε that the items share by their weights.")] = None,
    key: Key = None,
    plan: Planned = False,
    rehearse: Rehearse = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Release many statistics at once: all of them or none."""
    items, asked = _parse_batch(file.read())
    if isinstance(asked.get("rehearse"), bool):
        rehearse |= asked.pop("rehearse")
    if epsilon is not None:
        asked["epsilon"] = epsilon
    with connect(rehearse=rehearse) as client:
        of = client.dataset(dataset)
        try:
            found = of.plan_batch(items, **asked) if plan else of.batch(items, **asked, key=key or uuid.uuid4().hex)
        except TypeError as error:  # the file has a member that a batch does not have
            fail(str(error), USAGE)
    output.write(output_format, found.to_dict(), partial(_print_batch, found), _list_batch_records(found))


def _print_batch(found: Batch | BatchPlan) -> None:
    for each in found.items:
        if isinstance(each, Release):
            print_release(each)
        else:
            output.print_answer(each)
    output.print_line(found.summary)


def _list_batch_records(found: Batch | BatchPlan) -> list[Mapping[str, Any]]:
    """Return the rows of CSV: one for each value of each release, or for each planned item."""
    if isinstance(found, BatchPlan):
        return [each.to_dict() for each in found.items]
    return [{"item": at} | record for at, each in enumerate(found.items, 1) for record in list_release_records(each)]


def _parse_batch(text: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the items of a batch, and its other members."""
    try:
        document = json.loads(text, parse_float=str)  # keep each number as the decimal that was written
    except ValueError:
        fail("the batch is not valid JSON", USAGE)
    whole = {"items": document} if isinstance(document, list) else document
    if not isinstance(whole, dict) or not isinstance(whole.get("items"), list):
        fail("the batch must be a list of items, or an object with a list `items`", USAGE)
    return whole["items"], {name: member for name, member in whole.items() if name != "items"}


def release_derived(  # noqa: PLR0913 - as many options as a question has
    dataset: DatasetName,
    kind: DerivedKindOf,
    columns: DerivedColumns = None,
    *,
    epsilon: DerivedEpsilon = None,
    accuracy: DerivedAccuracy = None,
    relative_accuracy: RelativeAccuracy = None,
    guess: Guesses = None,
    bounds: BoundsOf = None,
    where: WhereOf = None,
    category: Annotated[str | None, typer.Option(help="The category of a proportion.")] = None,
    group_by: DerivedGroupBy = None,
    weight: Annotated[str | None, typer.Option(help="For a mean: the column of the weights.")] = None,
    missing: MissingOf = None,
    edges: Edges = None,
    bins: Bins = None,
    probabilities: Annotated[
        str | None, typer.Option(help="The probabilities of quantiles, such as 0.25,0.5,0.75.")
    ] = None,
    method: MethodOf = None,
    alpha: Alpha = None,
    gamma: Gamma = None,
    grid_refinement: Refinement = None,
    key: Key = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Draw anew and pay, even if releases exist already.")] = False,
    plan: Planned = False,
    rehearse: Rehearse = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Derive a statistic from releases, and spend ε on those that do not exist yet."""
    statistic = options.build_statistic(
        NAMES.get(kind, kind.replace("_", " ")),
        BUILDERS.get(kind) or getattr(derived_statistics, kind.value),
        columns or [],
        wanted=COLUMNS_OF.get(kind, (1,)),
        binned=2 if len(columns or []) > 1 else 1,
        bounds=bounds,
        where=where,
        category=category,
        group_by=group_by,
        weight=weight,
        missing=missing,
        edges=edges,
        bins=bins,
        probabilities=probabilities,
        method=method,
    )
    refinement = None if grid_refinement is None else parse_refinement(grid_refinement)
    require_one_target(epsilon, accuracy, relative_accuracy)
    numbers: dict[str, Any] = {"epsilon": epsilon, "accuracy": accuracy, "relative_accuracy": relative_accuracy}
    numbers |= {"alpha": alpha, "gamma": gamma, "grid_refinement": refinement, "guesses": _parse_guesses(guess)}
    asked: dict[str, Any] = {name: each for name, each in numbers.items() if each is not None}
    if fresh:
        asked["reuse"] = False
    with connect(rehearse=rehearse) as client:
        of = client.dataset(dataset)
        found = (
            of.plan_derived(statistic, **asked) if plan else of.derive(statistic, **asked, key=key or uuid.uuid4().hex)
        )
    if isinstance(found, Derived):
        write_derived(output_format, found)
    else:
        output.write(output_format, found.to_dict(), partial(output.print_answer, found))


def _parse_guesses(texts: list[str] | None) -> dict[str, str] | None:
    """Return guesses by the names that precede their equals signs."""
    guesses: dict[str, str] = {}
    for text in texts or []:
        name, equals, number = (part.strip() for part in text.partition("="))
        if not equals or name in guesses:
            fail("a guess must be NAME=VALUE, such as mean=4200, with each name once", USAGE)
        guesses[name] = number
    return guesses or None
