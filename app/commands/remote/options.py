"""Options that several commands have, and what is meant by them."""

import json
from typing import Annotated, Any

import typer

from app.commands.remote.session import USAGE, fail
from snapledger_client.statistics import Bounds

BoundsOf = Annotated[
    list[str] | None, typer.Option(help="LOWER,UPPER for other bounds than the declared; once for each column.")
]
Edges = Annotated[str | None, typer.Option(help="A histogram's edges, as 2000,3000,5000.")]
Bins = Annotated[int | None, typer.Option(help="How many bins of equal width a histogram has.")]
WhereOf = Annotated[
    list[str] | None,
    typer.Option(
        help="Only rows that meet it: COLUMN=VALUE,VALUE or COLUMN=LEAST..MOST, or as JSON; more than once for all.",
        metavar="CONDITION",
    ),
]


def pairs(texts: list[str] | None) -> list[Bounds]:
    """Each pair of bounds."""
    found: list[Bounds] = []
    for text in texts or ():
        lower, comma, upper = text.partition(",")
        if not comma:
            fail("bounds are LOWER,UPPER", USAGE)
        found.append((lower.strip(), upper.strip()))
    return found


def edges(text: str | None) -> list[str] | None:
    """Edges, or probabilities, between commas."""
    return None if text is None else [edge.strip() for edge in text.split(",")]


def where(texts: list[str] | None) -> dict[str, Any] | None:
    """A filter of all conditions."""
    if not texts:
        return None
    conditions: dict[str, Any] = {}
    for text in texts:
        for column, condition in _conditions(text).items():
            if column in conditions:
                fail(f"{column} has more than one condition", USAGE)
            conditions[column] = condition
    return conditions


def _conditions(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        try:
            found: dict[str, Any] = json.loads(text)
        except ValueError:
            fail("the condition is no JSON", USAGE)
        return found
    column, equals, values = text.partition("=")
    if not equals:
        fail("a condition is COLUMN=VALUE,VALUE or COLUMN=LEAST..MOST", USAGE)
    least, dots, most = values.partition("..")
    if dots:
        return {column.strip(): {"between": [least.strip(), most.strip()]}}
    return {column.strip(): {"in": [value.strip() for value in values.split(",")]}}
