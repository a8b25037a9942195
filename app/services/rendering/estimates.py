"""From the JSON of releases to exact numbers, and from what follows of them back to JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from gmpy2 import mpq

from app.dp.derived import KnownComponent
from app.dp.derived.base import Estimate, Estimates
from app.dp.derived.interval_arithmetic import Range
from app.dp.numbers.exact import json_number, round_down, round_up
from app.dp.statistics import Statistic
from app.services.rendering.documents import Document


def read_known_component(statistic: Statistic, component: Mapping[str, Any]) -> KnownComponent:
    """A component's release as exact numbers; the ranges of all bins hold at once, by the simultaneous radius."""
    accuracy = component["accuracy"]
    if statistic.bins is None:
        lower, upper = accuracy["interval"]
        return KnownComponent(
            (mpq(component["value"]),), (mpq(component["value_in_range"]),), (Range(mpq(lower), mpq(upper)),)
        )
    reach = mpq(accuracy["simultaneous_radius"]) + mpq(accuracy["resolution"])
    values = tuple(map(mpq, component["value_in_range"]))
    ranges = tuple(Range(value - reach, value + reach).cut(statistic.lower, statistic.upper) for value in values)
    return KnownComponent(tuple(map(mpq, component["value"])), values, ranges)


def estimates_document(estimates: Estimates) -> Document:
    """Each number and its interval, rounded outwards; null where none follows."""
    return {
        name: _estimate_document(estimate) if isinstance(estimate, Estimate) else _estimates_documents(estimate)
        for name, estimate in estimates.items()
    }


def _estimate_document(estimate: Estimate) -> Document:
    lower, upper = estimate.range
    return {
        "value": None if estimate.value is None else json_number(estimate.value),
        "interval": [None if lower is None else round_down(lower), None if upper is None else round_up(upper)],
    }


def _estimates_documents(estimates: Iterable[Estimate]) -> Document:
    shown = [_estimate_document(estimate) for estimate in estimates]
    return {member: [each[member] for each in shown] for member in ("value", "interval")}
