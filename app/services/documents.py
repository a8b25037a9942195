"""What plans and releases are answered with. Here exact numbers become doubles, each by a named rounding."""

import json
from collections.abc import Sequence
from typing import Any

from gmpy2 import mpq

from app.db.datasets import Dataset
from app.dp.bins import IntervalBins
from app.dp.mechanism import Mechanism
from app.dp.numbers import decimal_text, json_number, round_down, round_up
from app.ledger.units import epsilon_text
from app.services.questions import Plan

MOST_LISTED_INTERVALS = 1_000

Document = dict[str, Any]


def encode(value: Any) -> bytes:  # noqa: ANN401 - JSON is any value
    """Compact UTF-8 JSON. NaN and Infinity would be a defect of ours, and raise."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def interval(value_in_range: float, mechanism: Mechanism, radius: mpq) -> list[float]:
    """`value_in_range ± (radius + resolution)`, rounded outwards and cut to the statistic's public range."""
    statistic, reach = mechanism.statistic, radius + mechanism.resolution
    middle = mpq(value_in_range)
    lower = max(round_down(middle - reach), round_down(statistic.lower))
    upper = min(round_up(middle + reach), round_up(statistic.upper))
    return [lower, upper]


def accuracy(mechanism: Mechanism, alpha: mpq) -> Document:
    """What may be said of the error, whatever the data: radii at `alpha`, and what codes and doubles add to them."""
    document: Document = {
        "alpha": json_number(alpha),
        "radius": round_up(mechanism.radius(alpha)),
        "tight_radius": round_up(mechanism.tight_radius(alpha)),
        "resolution": round_up(mechanism.resolution),
    }
    if mechanism.statistic.bins is not None:
        document["simultaneous_radius"] = round_up(mechanism.simultaneous_radius(alpha))
    return document


def privacy(dataset: Dataset, epsilon_nano: int) -> Document:
    """What the release costs, and what that protects."""
    return {
        "epsilon": epsilon_text(epsilon_nano),
        "neighbours": "replace_one",
        "rows_per_unit": dataset.rows_per_unit,
        "n": dataset.n,
    }


def mechanism_figures(mechanism: Mechanism) -> Document:
    """The mechanism's figures in the statistic's units (per bin for a histogram)."""
    parameters, sensitivity = mechanism.parameters, mechanism.statistic.sensitivity
    figures: Document = {
        "name": "snapping",
        "epsilon_prime": json_number(parameters.epsilon_prime),
        "sensitivity": json_number(sensitivity),
        "centre": json_number(mechanism.statistic.centre),
        "b_prime": json_number(parameters.b_prime * sensitivity),
        "bound": json_number(parameters.bound * sensitivity),
        "scale": json_number(parameters.scale * sensitivity),
        "grid": json_number(parameters.grid * sensitivity),
        "grid_refinement": parameters.grid_refinement,
        "precision_bits": parameters.precision_bits,
        "gamma": json_number(parameters.gamma),
    }
    if mechanism.statistic.bins is not None:
        figures["epsilon_per_bin"] = json_number(parameters.epsilon)
    return figures


def bins(mechanism: Mechanism) -> Document:
    """What each position of a histogram's lists stands for; many intervals are told by their edges alone."""
    described = mechanism.statistic.bins
    if described is None:
        return {}
    if isinstance(described, IntervalBins) and described.edges.intervals > MOST_LISTED_INTERVALS:
        return {"bins": None, "edges": described.edge_values()}
    return {"bins": described.describe()}


def planned(dataset: Dataset, plan: Plan) -> Document:
    """What a plan and its release have in common."""
    return {
        "dataset": dataset.name,
        "statistic": plan.statistic.describe(),
        **bins(plan.mechanism),
        "accuracy": accuracy(plan.mechanism, plan.alpha),
        "privacy": privacy(dataset, plan.epsilon_nano),
        "mechanism": mechanism_figures(plan.mechanism),
    }


def values(mechanism: Mechanism, released: Sequence[mpq]) -> Document:
    """The release itself: the mechanism's output, its exact text, and the output clamped to the public range."""
    statistic = mechanism.statistic
    clamped = [min(max(value, statistic.lower), statistic.upper) for value in released]
    document: Document = {
        "value": [json_number(value) for value in released],
        "value_exact": [decimal_text(value) for value in released],
        "value_in_range": [json_number(value) for value in clamped],
    }
    return document if statistic.bins is not None else {name: column[0] for name, column in document.items()}


def with_interval(accuracy: Document, value_in_range: Any, mechanism: Mechanism, radius: mpq) -> Document:  # noqa: ANN401
    """The accuracy with the interval of one value, or of each of a histogram's."""
    if isinstance(value_in_range, list):
        return accuracy | {"interval": [interval(value, mechanism, radius) for value in value_in_range]}
    return accuracy | {"interval": interval(value_in_range, mechanism, radius)}


def released(release_id: str, dataset: Dataset, plan: Plan, drawn: Sequence[mpq]) -> Document:
    """Everything of a release but its budget, `reused` and `created_at`, which its transaction knows."""
    document, outcome = planned(dataset, plan), values(plan.mechanism, drawn)
    document["accuracy"] = with_interval(document["accuracy"], outcome["value_in_range"], plan.mechanism, plan.radius)
    statistic = {name: document.pop(name) for name in ("dataset", "statistic")}
    return {"id": release_id, **statistic, **outcome, **document}
