"""Random statistics of every kind that is released, and random terms of their releases."""

import random
from decimal import Decimal
from typing import Any

COLUMNS: dict[str, dict[str, Any]] = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "r": {"kind": "real", "bounds": [-1, 1]},
    "b": {"kind": "boolean"},
    "k": {"kind": "category", "categories": ["s", "t"]},
}
FILTERS: list[dict[str, Any]] = [{"k": {"in": ["s"]}}, {"x": {"between": [3, 50]}, "b": {"in": [True]}}]


def random_statistic(chance: random.Random) -> dict[str, Any]:
    """Of every kind, with bounds of either sign that doubles hold exactly."""
    low = chance.choice([chance.randint(-1000, 1000), 0])
    bounds = [low, low + chance.randint(1, 5000)]
    where = {"where": chance.choice(FILTERS)}
    columns = [{"column": "x", "bounds": bounds}, {"column": "r", "bounds": [low / 8, (bounds[1] + 1) / 8]}]
    of_column = chance.choice(columns)
    return chance.choice(
        [
            {"kind": "mean", **of_column},
            {"kind": "variance", **of_column},
            {"kind": "covariance", "columns": ["x", "b"], "bounds": [bounds, None]},
            {"kind": "sum", **of_column},
            {"kind": "sum", **of_column, **where},
            {"kind": "sum", **of_column, "group_by": "k"},
            {"kind": "sum", **of_column, "group_by": "k", "centred": True},
            {"kind": "sum", **of_column, **where, "centred": True},
            {"kind": "sum", **of_column, "group_by": "k", **where},
            {"kind": "count", **where},
            {"kind": "count", "group_by": "k"},
            {"kind": "histogram", "column": "r", "bins": chance.randint(2, 30), "bounds": of_column["bounds"]},
            {"kind": "histogram", "column": "k", **where},
            {"kind": "histogram", "columns": ["k", "b"]},
        ]
    )


def random_terms(chance: random.Random) -> dict[str, Any]:
    """α, γ and refinement."""
    alpha = chance.choice([Decimal(chance.randint(1, 999)) / 1000, Decimal("0.05"), Decimal("1e-9")])
    return {
        "alpha": f"{alpha:f}",
        "gamma": str(Decimal(chance.randint(1, 100)) / 100),
        "grid_refinement": chance.choice([0, "auto", "auto", chance.randint(1, 30)]),
    }
