"""`snapledger plan` and `snapledger release`."""

import uuid
from enum import StrEnum
from typing import Annotated, Any, cast

import typer

from app.commands.remote import output
from app.commands.remote.session import USAGE, AsJson, DatasetName, connected, fail
from snapledger_client import Asked, Estimate, Histogram, Plan, Question, Release, covariance, histogram, mean, variance
from snapledger_client.statistics import Bounds
from snapledger_client.words import figure


class Kind(StrEnum):
    """A statistic."""

    MEAN = "mean"
    VARIANCE = "variance"
    COVARIANCE = "covariance"
    HISTOGRAM = "histogram"


KindOf = Annotated[Kind, typer.Argument(help="The statistic.")]
Columns = Annotated[list[str], typer.Argument(help="Its column; two for a covariance.", metavar="COLUMN…")]
Epsilon = Annotated[str | None, typer.Option(help="What it may cost; or:")]
AccuracyOf = Annotated[str | None, typer.Option(help="The error wanted, at most.")]
BoundsOf = Annotated[
    list[str] | None, typer.Option(help="LOWER,UPPER for other bounds than the declared; twice for a covariance.")
]
Edges = Annotated[str | None, typer.Option(help="A histogram's edges, as 2000,3000,5000.")]
Bins = Annotated[int | None, typer.Option(help="How many bins of equal width a histogram has.")]
Alpha = Annotated[str | None, typer.Option(help="How often the error may be larger; by default 0.05.")]
Gamma = Annotated[str | None, typer.Option(help="How often the mechanism's bound may bind; by default 0.05.")]
Refinement = Annotated[int | None, typer.Option(help="Halve the grid this many times.")]


def _pair(text: str) -> Bounds:
    lower, comma, upper = text.partition(",")
    if not comma:
        fail("bounds are LOWER,UPPER", USAGE)
    return lower.strip(), upper.strip()


def _statistic(
    kind: Kind, columns: list[str], bounds: list[str], edges: str | None, bins: int | None
) -> dict[str, Any]:
    """The statistic that was described; what one kind does not have must not be ignored."""
    pairs, wanted = [_pair(text) for text in bounds], 2 if kind is Kind.COVARIANCE else 1
    if len(columns) != wanted or len(pairs) not in {0, wanted}:
        fail(f"a {kind} has {wanted} column{'s' * (wanted - 1)}, and as many bounds or none", USAGE)
    if kind is not Kind.HISTOGRAM and (edges is not None or bins is not None):
        fail(f"a {kind} has neither edges nor bins", USAGE)
    if kind is Kind.COVARIANCE:
        return covariance(columns[0], columns[1], (pairs[0], pairs[1]) if pairs else None)
    pair = pairs[0] if pairs else None
    if kind is Kind.HISTOGRAM:
        at = None if edges is None else [edge.strip() for edge in edges.split(",")]
        return histogram(columns[0], at, bins, pair)
    return (mean if kind is Kind.MEAN else variance)(columns[0], pair)


def _question(*, fresh: bool, refinement: int | None, **numbers: str | None) -> Question:
    """What was asked for, without what is left to the service."""
    if (numbers["epsilon"] is None) == (numbers["accuracy"] is None):
        fail("give either --epsilon or --accuracy", USAGE)
    given: dict[str, Any] = {name: number for name, number in numbers.items() if number is not None}
    if refinement is not None:
        given["grid_refinement"] = refinement
    if fresh:
        given["reuse"] = False
    return cast("Question", given)


def plan(  # noqa: PLR0913 - as many options as a question has
    dataset: DatasetName,
    kind: KindOf,
    columns: Columns,
    *,
    epsilon: Epsilon = None,
    accuracy: AccuracyOf = None,
    bounds: BoundsOf = None,
    edges: Edges = None,
    bins: Bins = None,
    alpha: Alpha = None,
    gamma: Gamma = None,
    grid_refinement: Refinement = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="As if nothing were known already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tell what a release would cost and promise: free, and without reading any data."""
    statistic = _statistic(kind, columns, bounds or [], edges, bins)
    question = _question(
        fresh=fresh, refinement=grid_refinement, epsilon=epsilon, accuracy=accuracy, alpha=alpha, gamma=gamma
    )
    with connected() as client:
        planned = client.dataset(dataset).plan(statistic, **question)
    if as_json:
        output.document(planned.to_dict())
    else:
        _show_plan(planned)


def _show_plan(planned: Plan) -> None:
    output.line(planned)
    output.line(
        f"remaining: {planned.budget.allowance_remaining:f} of your allowance, "
        f"{planned.budget.dataset_remaining:f} of the dataset's budget"
    )
    if planned.cliff is not None:
        output.line(f"from ε = {planned.cliff.epsilon:f} on the error is ± {figure(planned.cliff.accuracy)}")


def release(  # noqa: PLR0913 - as many options as a question has
    dataset: DatasetName,
    kind: KindOf,
    columns: Columns,
    *,
    epsilon: Epsilon = None,
    accuracy: AccuracyOf = None,
    bounds: BoundsOf = None,
    edges: Edges = None,
    bins: Bins = None,
    alpha: Alpha = None,
    gamma: Gamma = None,
    grid_refinement: Refinement = None,
    key: Annotated[str | None, typer.Option(help="An idempotency key: the same one is never charged twice.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Draw and pay even if it is known already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release a private statistic, and pay for it."""
    statistic = _statistic(kind, columns, bounds or [], edges, bins)
    question = _question(
        fresh=fresh, refinement=grid_refinement, epsilon=epsilon, accuracy=accuracy, alpha=alpha, gamma=gamma
    )
    asked: Asked = {**question, "key": key or uuid.uuid4().hex}
    with connected() as client:
        released = client.dataset(dataset).release(statistic, **asked)
    if as_json:
        output.document(released.to_dict())
    else:
        _show_release(released)


def _show_release(released: Release) -> None:
    if isinstance(released, Histogram):
        counts = zip(released.labels, released.value_in_range, released.interval, strict=True)
        rows = [(label, figure(value), figure(low), figure(high)) for label, value, (low, high) in counts]
        output.table(("bin", "count", "from", "to"), rows, ("count", "from", "to"))
    output.line(released)
    if isinstance(released, Estimate):
        lower, upper = released.interval
        output.line(f"interval: {figure(lower)} to {figure(upper)}")
