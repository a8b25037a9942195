"""From the JSON of releases to exact numbers, and from what follows of them back to JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from gmpy2 import mpq

from app.dp.derived import Known
from app.dp.derived.ranges import Range
from app.dp.derived.shape import Estimate, Estimates
from app.dp.numbers import json_number, round_down, round_up
from app.dp.statistics import Statistic
from app.services.documents import Document


def known(statistic: Statistic, component: Mapping[str, Any]) -> Known:
    """A component's release as exact numbers; the ranges of all bins hold at once, by the simultaneous radius."""
    accuracy = component["accuracy"]
    if statistic.bins is None:
        lower, upper = accuracy["interval"]
        return Known((mpq(component["value"]),), (mpq(component["value_in_range"]),), (Range(mpq(lower), mpq(upper)),))
    reach = mpq(accuracy["simultaneous_radius"]) + mpq(accuracy["resolution"])
    values = tuple(map(mpq, component["value_in_range"]))
    ranges = tuple(Range(value - reach, value + reach).cut(statistic.lower, statistic.upper) for value in values)
    return Known(tuple(map(mpq, component["value"])), values, ranges)


def shown(estimates: Estimates) -> Document:
    """Each number and its interval, rounded outwards; null where none follows."""
    return {
        name: _one(estimate) if isinstance(estimate, Estimate) else _several(estimate)
        for name, estimate in estimates.items()
    }


def _one(estimate: Estimate) -> Document:
    lower, upper = estimate.range
    return {
        "value": None if estimate.value is None else json_number(estimate.value),
        "interval": [None if lower is None else round_down(lower), None if upper is None else round_up(upper)],
    }


def _several(estimates: Iterable[Estimate]) -> Document:
    shown = [_one(estimate) for estimate in estimates]
    return {member: [each[member] for each in shown] for member in ("value", "interval")}
