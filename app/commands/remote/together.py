"""`snapledger batch` and `snapledger derived`: what is several releases."""

import json
import uuid
from enum import StrEnum
from typing import Annotated, Any

import typer

from app.commands.remote import options, output
from app.commands.remote.options import Bins, BoundsOf, Edges, WhereOf
from app.commands.remote.questions import Alpha, Gamma, Refinement, show_release
from app.commands.remote.session import USAGE, AsJson, DatasetName, connected, fail
from snapledger_client import Derived, Release, following
from snapledger_client.words import ends, figure

Key = Annotated[str | None, typer.Option(help="An idempotency key: the same one is never charged twice.")]
Planned = Annotated[bool, typer.Option("--plan", help="Only tell what it would cost: free.")]


class Kind(StrEnum):
    """What may follow from releases."""

    STANDARD_DEVIATION = "standard_deviation"
    PROPORTION = "proportion"
    MEAN = "mean"
    CORRELATION = "correlation"
    REGRESSION = "regression"
    CUMULATIVE = "cumulative"
    QUANTILE = "quantile"


OF_TWO = {Kind.CORRELATION, Kind.REGRESSION}


def batch(  # noqa: PLR0913 - as many options as a batch has
    dataset: DatasetName,
    file: Annotated[typer.FileText, typer.Argument(help="The batch as JSON: its items, or all of it; - reads it.")],
    *,
    epsilon: Annotated[str | None, typer.Option(help="What the items share, by their weights.")] = None,
    key: Key = None,
    plan: Planned = False,
    as_json: AsJson = False,
) -> None:
    """Release many statistics at once: all are paid, or none."""
    items, asked = _batch(file.read())
    if epsilon is not None:
        asked["epsilon"] = epsilon
    with connected() as client:
        of = client.dataset(dataset)
        found = of.plan_batch(items, **asked) if plan else of.batch(items, **asked, key=key or uuid.uuid4().hex)
    if as_json:
        output.document(found.to_dict())
        return
    for each in found.items:
        if isinstance(each, Release):
            show_release(each)
        else:
            output.line(each)
    output.line(found.summary)


def _batch(text: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The items, and what they are asked with."""
    try:
        document = json.loads(text, parse_float=str)  # a number is the decimal that was written
    except ValueError:
        fail("the batch is no JSON", USAGE)
    whole = {"items": document} if isinstance(document, list) else document
    if not isinstance(whole, dict) or not isinstance(whole.get("items"), list):
        fail("the batch has no list of items", USAGE)
    return whole["items"], {name: member for name, member in whole.items() if name != "items"}


def derived(  # noqa: PLR0913 - as many options as a question has
    dataset: DatasetName,
    kind: Annotated[Kind, typer.Argument(help="What follows.")],
    columns: Annotated[list[str] | None, typer.Argument(help="Its column; or two.", metavar="COLUMN…")] = None,
    *,
    epsilon: Annotated[str, typer.Option(help="What its components may cost together.")],
    bounds: BoundsOf = None,
    where: WhereOf = None,
    category: Annotated[str | None, typer.Option(help="A proportion's.")] = None,
    edges: Edges = None,
    bins: Bins = None,
    probabilities: Annotated[str | None, typer.Option(help="A quantile's, as 0.25,0.5,0.75.")] = None,
    alpha: Alpha = None,
    gamma: Gamma = None,
    grid_refinement: Refinement = None,
    key: Key = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Draw and pay even for what is known already.")] = False,
    plan: Planned = False,
    as_json: AsJson = False,
) -> None:
    """Tell what follows from releases, and pay for those that are not known yet."""
    given = {
        "where": options.where(where),
        "category": category,
        "edges": options.edges(edges),
        "bins": bins,
        "probabilities": options.edges(probabilities),
    }
    statistic = _derived(kind, columns or [], bounds, {name: each for name, each in given.items() if each is not None})
    numbers = {"epsilon": epsilon, "alpha": alpha, "gamma": gamma, "grid_refinement": grid_refinement}
    asked: dict[str, Any] = {name: each for name, each in numbers.items() if each is not None}
    if fresh:
        asked["reuse"] = False
    with connected() as client:
        of = client.dataset(dataset)
        found = (
            of.plan_derived(statistic, **asked) if plan else of.derive(statistic, **asked, key=key or uuid.uuid4().hex)
        )
    if as_json:
        output.document(found.to_dict())
        return
    if isinstance(found, Derived) and found.labels:
        rows = [
            (label, "" if value is None else figure(value), ends(least, most))
            for each in found.estimates.values()
            for label, (value, least, most) in zip(found.labels, each.rows, strict=True)
        ]
        output.table(("of", kind.value, "interval"), rows, (kind.value,))
    output.line(found)


def _derived(kind: Kind, columns: list[str], bounds: list[str] | None, given: dict[str, Any]) -> dict[str, Any]:
    """The derived statistic that was described; what one kind does not have must not be ignored."""
    wanted = {2} if kind in OF_TWO else {0, 1} if kind is Kind.PROPORTION else {1}
    pairs = options.pairs(bounds)
    if len(columns) not in wanted or len(pairs) not in {0, len(columns)}:
        fail(f"a {kind} has {' or '.join(map(str, sorted(wanted)))} columns, and as many bounds or none", USAGE)
    if pairs:
        given["bounds"] = tuple(pairs) if kind in OF_TWO else pairs[0]
    make: Any = following.filtered_mean if kind is Kind.MEAN else getattr(following, kind.value)
    try:
        found: dict[str, Any] = make(*columns, **given)
    except TypeError:
        fail(f"a {kind} has not just {', '.join(given) or 'that'}", USAGE)
    return found
