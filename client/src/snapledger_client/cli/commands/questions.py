"""`snapledger plan` and `snapledger release`."""

import uuid
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, cast

import typer

from snapledger_client import (
    Bounds,
    Derived,
    DerivedPlan,
    DerivedPlanOptions,
    FreePlan,
    Missing,
    Plan,
    Release,
    StatisticOptions,
    Where,
    statistics,
)
from snapledger_client.cli import options, output
from snapledger_client.cli.kinds import StatisticKind, StatisticKindOf
from snapledger_client.cli.options import Bins, BoundsOf, Edges, MissingOf, WhereOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.results import write_derived, write_release
from snapledger_client.cli.session import USAGE, DatasetName, connect, fail
from snapledger_client.display.text import describe_cliff, describe_remaining
from snapledger_client.formatting import append_unit, format_number, format_radius_number

COLUMNS_OF = {StatisticKind.COVARIANCE: (2,), StatisticKind.COUNT: (0,)}
"""The numbers of columns that a kind can have, if not one. A histogram of two columns is a two-way table."""


KNOWN_KINDS = frozenset({StatisticKind.VARIANCE, StatisticKind.COVARIANCE})
"""The kinds that have a filter only together with --missing."""


def _build_mean(
    column: str, bounds: Bounds | None = None, missing: Missing | None = None, where: Where | None = None
) -> dict[str, Any]:
    """Return a mean of all rows or of the known values, also of some rows."""
    return statistics.mean(column, bounds, missing, where)


BUILDERS: dict[StatisticKind, Any] = {
    StatisticKind.MEAN: _build_mean,
    StatisticKind.VARIANCE: statistics.variance,
    StatisticKind.COVARIANCE: statistics.covariance,
    StatisticKind.HISTOGRAM: statistics.histogram,
    StatisticKind.COUNT: statistics.count,
    StatisticKind.MISSING: statistics.missing_values,
    StatisticKind.SUM: statistics.total,
}

Columns = Annotated[
    list[str] | None,
    typer.Argument(help="Its column; two for a covariance or a two-way table, none for a count.", metavar="COLUMN…"),
]
Epsilon = Annotated[str | None, typer.Option(help="The ε that it may cost; or give --accuracy.")]
AccuracyOf = Annotated[str | None, typer.Option(help="The largest error that you accept; or give --epsilon.")]
GroupBy = Annotated[
    str | None,
    typer.Option(help="For a count or a sum: one number for each category of this column, or COLUMN:month of dates."),
]
Alpha = Annotated[str | None, typer.Option(help="The probability that the error is larger, 0.05 by default.")]
Gamma = Annotated[
    str | None, typer.Option(help="The probability that the mechanism's bound clamps the value, 0.05 by default.")
]
Refinement = Annotated[
    str | None, typer.Option(help="How often the rounding grid is halved: auto (the default), or 0 to 30.")
]
RelativeAccuracy = Annotated[
    str | None, typer.Option(help="The largest error that you accept, as a part of the guess: 0.01 is 1 % of it.")
]
Guess = Annotated[str | None, typer.Option(help="A guess of the value: shows the bias there, from the guess alone.")]
Rehearse = Annotated[bool, typer.Option("--rehearse", help="Answer with made-up data: free, marked, and never stored.")]
ReleaseGuess = Annotated[str | None, typer.Option("--guess", help="A guess of the value, for --relative-accuracy.")]


def build_statistic(kind: StatisticKind, columns: list[str], **asked: Any) -> dict[str, Any]:  # noqa: ANN401 - as each option is
    """Return the JSON document of a statistic. An option that its kind does not have is an error, never ignored."""
    _check_filter(kind, asked)
    of_two = kind is StatisticKind.HISTOGRAM and len(columns) > 1
    what, make = ("two-way table", statistics.table) if of_two else (kind.value, BUILDERS[kind])
    return options.build_statistic(
        what, make, columns, wanted=(2,) if of_two else COLUMNS_OF.get(kind, (1,)), binned=len(columns), **asked
    )


def _check_filter(kind: StatisticKind, asked: Mapping[str, Any]) -> None:
    """Exit if a filter or groups make the statistic one that is derived from releases, or that does not exist."""
    if kind is StatisticKind.MEAN and asked.get("group_by") is not None:
        fail("a mean with --group-by is derived from releases: use `snapledger derived`", USAGE)
    if not asked.get("where") or asked.get("missing"):
        return
    if kind is StatisticKind.MEAN:
        fail("a mean with --where is derived from releases: use `snapledger derived`", USAGE)
    if kind in KNOWN_KINDS:
        fail(f"a {kind.value} with --where needs --missing exclude, which leaves out rows without a value", USAGE)


def collect_options(*, fresh: bool, refinement: str | None, **numbers: str | None) -> StatisticOptions:
    """Return the options that were set; the service has defaults for the others."""
    require_one_target(numbers["epsilon"], numbers["accuracy"], numbers["relative_accuracy"])
    given: dict[str, Any] = {name: number for name, number in numbers.items() if number is not None}
    if refinement is not None:
        given["grid_refinement"] = parse_refinement(refinement)
    if fresh:
        given["reuse"] = False
    return cast("StatisticOptions", given)


def require_one_target(*targets: str | None) -> None:
    """Exit unless exactly one of an ε, an accuracy and a relative accuracy is given."""
    if targets.count(None) != len(targets) - 1:
        fail("give exactly one of --epsilon, --accuracy and --relative-accuracy", USAGE)


def parse_refinement(text: str) -> int | str:
    """Return a number of halvings, or the text itself, such as `auto`, which the service checks."""
    return int(text) if text.isascii() and text.isdigit() else text


def plan(  # noqa: PLR0913 - as many options as a question has
    dataset: DatasetName,
    kind: StatisticKindOf,
    columns: Columns = None,
    *,
    epsilon: Epsilon = None,
    accuracy: AccuracyOf = None,
    relative_accuracy: RelativeAccuracy = None,
    bounds: BoundsOf = None,
    edges: Edges = None,
    bins: Bins = None,
    where: WhereOf = None,
    group_by: GroupBy = None,
    missing: MissingOf = None,
    alpha: Alpha = None,
    gamma: Gamma = None,
    grid_refinement: Refinement = None,
    guess: Guess = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Plan as if there were no earlier releases.")] = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Show what a release would cost and promise: free, and without reading any data."""
    statistic = build_statistic(
        kind, columns or [], bounds=bounds, edges=edges, bins=bins, where=where, group_by=group_by, missing=missing
    )
    statistic_options = collect_options(
        fresh=fresh,
        refinement=grid_refinement,
        epsilon=epsilon,
        accuracy=accuracy,
        relative_accuracy=relative_accuracy,
        guess=guess,
        alpha=alpha,
        gamma=gamma,
    )
    with connect() as client:
        planned: Plan | DerivedPlan = (
            client.dataset(dataset).plan_derived(statistic, **_of_known(statistic_options))
            if missing
            else client.dataset(dataset).plan(statistic, **statistic_options)
        )
    output.write(output_format, planned.to_dict(), partial(_print_plan, planned))


def _of_known(asked: StatisticOptions) -> DerivedPlanOptions:
    """Return the options of a derived statistic; exit if there is a guess, which needs a name there."""
    if "guess" in asked:
        fail("--guess does not go with --missing: use `snapledger derived`, with --guess NAME=VALUE", USAGE)
    return cast("DerivedPlanOptions", asked)


def _print_plan(planned: Plan | DerivedPlan) -> None:
    output.print_answer(planned)
    if not isinstance(planned, Plan):
        return
    left = planned.budget
    if left.allowance_remaining is None:
        output.print_line(describe_remaining(left))
    else:
        of_dataset = f"{left.dataset_remaining:f} of the dataset's budget"
        output.print_line(f"left: {left.allowance_remaining:f} of your allowance, {of_dataset}")
    print_alternatives(planned)


def print_alternatives(planned: FreePlan) -> None:
    """Print the next cliff of a plan and the bias at its guess, where it has them."""
    if cliff := describe_cliff(planned):
        output.print_line(cliff)
    if planned.bias is not None:
        bias = planned.bias
        guess, at_guess = (append_unit(format_number(each), planned.unit) for each in (bias.guess, bias.at_guess))
        largest = append_unit(format_radius_number(bias.largest), planned.unit)
        output.print_line(f"if the value is {guess}, the bias is {at_guess}, and never more than ± {largest}")


def release(  # noqa: PLR0913 - as many options as a question has
    dataset: DatasetName,
    kind: StatisticKindOf,
    columns: Columns = None,
    *,
    epsilon: Epsilon = None,
    accuracy: AccuracyOf = None,
    relative_accuracy: RelativeAccuracy = None,
    guess: ReleaseGuess = None,
    bounds: BoundsOf = None,
    edges: Edges = None,
    bins: Bins = None,
    where: WhereOf = None,
    group_by: GroupBy = None,
    missing: MissingOf = None,
    alpha: Alpha = None,
    gamma: Gamma = None,
    grid_refinement: Refinement = None,
    key: Annotated[
        str | None, typer.Option(help="An idempotency key: a request that is repeated with it is never charged twice.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Draw anew and pay, even if an earlier release answers.")
    ] = False,
    rehearse: Rehearse = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Release a differentially private statistic, and spend ε on it."""
    statistic = build_statistic(
        kind, columns or [], bounds=bounds, edges=edges, bins=bins, where=where, group_by=group_by, missing=missing
    )
    statistic_options = collect_options(
        fresh=fresh,
        refinement=grid_refinement,
        epsilon=epsilon,
        accuracy=accuracy,
        relative_accuracy=relative_accuracy,
        guess=guess,
        alpha=alpha,
        gamma=gamma,
    )
    key = key or uuid.uuid4().hex
    with connect(rehearse=rehearse) as client:
        released: Release | Derived = (
            client.dataset(dataset).derive(statistic, **_of_known(statistic_options), key=key)
            if missing
            else client.dataset(dataset).release(statistic, **statistic_options, key=key)
        )
    if isinstance(released, Release):
        write_release(output_format, released)
    else:
        write_derived(output_format, released)
