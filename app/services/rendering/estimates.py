"""Converts facts of releases to components of derived statistics, and estimates to JSON."""

from collections.abc import Iterable

from gmpy2 import mpq

from app.dp.derived import KnownComponent
from app.dp.derived.base import Estimate, Estimates
from app.dp.derived.interval_arithmetic import Range
from app.dp.numbers.exact import json_number, round_down, round_up
from app.dp.table.columns import Kind
from app.dp.table.dates import format_nearest, format_range
from app.services.planning.derived_accuracy import PlannedWidth
from app.services.planning.questions import Plan
from app.services.rendering.documents import Document
from app.services.rendering.release_answers import ReleaseFacts


def to_component(plan: Plan, facts: ReleaseFacts) -> KnownComponent:
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


def estimates_document(estimates: Estimates, date_kind: Kind | None = None) -> Document:
    """Return each estimate as JSON: its value and its interval, rounded outwards; null if undefined or unbounded.

    Estimates of dates also have both as ISO dates.
    """
    return {
        name: _estimate_document(estimate, date_kind)
        if isinstance(estimate, Estimate)
        else _estimates_documents(estimate, date_kind)
        for name, estimate in estimates.items()
    }


def _estimate_document(estimate: Estimate, date_kind: Kind | None) -> Document:
    value, (lower, upper) = estimate
    document: Document = {
        "value": None if value is None else json_number(value),
        "interval": [None if lower is None else round_down(lower), None if upper is None else round_up(upper)],
    }
    if date_kind is None:
        return document
    ends = [None, None] if lower is None or upper is None else format_range(lower, upper, date_kind)
    return document | {
        "value_as_date": None if value is None else format_nearest(value, date_kind),
        "interval_as_date": ends,
    }


def _estimates_documents(estimates: Iterable[Estimate], date_kind: Kind | None) -> Document:
    shown = [_estimate_document(estimate, date_kind) for estimate in estimates]
    return {member: [each[member] for each in shown] for member in shown[0]}


def render_expected_width(width: PlannedWidth) -> Document:
    """Return the width that a plan expects of an interval."""
    return {
        "half_width": None if width.half_width is None else round_up(width.half_width),
        "basis": width.basis,
    }
