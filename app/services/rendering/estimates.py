"""Converts facts of releases to components of derived statistics, and estimates to JSON."""

from collections.abc import Iterable

from gmpy2 import mpq

from app.dp.derived import KnownComponent
from app.dp.derived.base import Estimate, Estimates
from app.dp.derived.interval_arithmetic import Range
from app.dp.numbers.exact import json_number, round_down, round_up
from app.services.planning.derived_accuracy import PlannedWidth
from app.services.planning.questions import Plan
from app.services.rendering.documents import Document
from app.services.rendering.release_answers import ReleaseFacts


def known_component(plan: Plan, facts: ReleaseFacts) -> KnownComponent:
    """Return a component's release for derivation; the ranges of all bins hold at once, by the simultaneous radius."""
    accuracy, outcome, statistic = facts.accuracy, facts.outcome, plan.statistic
    if facts.interval is not None:
        ranges: tuple[Range, ...] = (Range(*map(mpq, facts.interval)),)
    else:
        reach = mpq(accuracy["simultaneous_radius"]) + mpq(accuracy["resolution"])
        ranges = tuple(
            Range(value - reach, value + reach).cut(statistic.lower, statistic.upper)
            for value in outcome.values_in_range
        )
    return KnownComponent(outcome.values, outcome.values_in_range, ranges, plan.mechanism, plan.alpha)


def estimates_document(estimates: Estimates) -> Document:
    """Return each estimate as JSON: its value and its interval, rounded outwards; null if undefined or unbounded."""
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


def expected_document(width: PlannedWidth) -> Document:
    """Return the width that a plan expects of an interval."""
    return {
        "half_width": None if width.half_width is None else round_up(width.half_width),
        "basis": width.basis,
    }
