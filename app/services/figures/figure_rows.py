"""Flattens answers to the rows of a figure: one for each number, with its interval, unit and cost."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from app.services.figures.row_conditions import conditions_in_words

Answer: TypeAlias = Mapping[str, Any]
"""The JSON of a release or of a derived answer."""


class Row(NamedTuple):
    """One number of a figure. The fields are the columns of every form, in order.

    tests/services/test_figure_columns.py names the other places that a new column has to be added to.
    A new column comes last: spreadsheets may name columns by their place.

    Attributes:
        measure: what the number is: `mean`, `count`, `slope`.
        columns: the columns of the table that it is about, with `, ` between them.
        group: the group, or in a two-way table the row's bin; None without groups.
        label: the bin, group, probability or measure, for an axis.
        lower_edge, upper_edge: of an interval's bin, as numbers, or as ISO dates; None for all other rows.
        value: within the public range; None if the answer is undefined.
        value_as_date: the value as an ISO date, if it is a date.
        interval_lower, interval_upper: the confidence interval; None if it is unbounded.
        alpha: the probability that the interval misses the true value.
        unit: the unit of the value; None if none is declared, or if the value is a count.
        epsilon: what the answer cost when it was released, a decimal.
        released_at: when it was released, RFC 3339.
        interval_lower_as_date, interval_upper_as_date: the interval as ISO dates, rounded outwards, if the value is a
            date.
        conditions: in words, which rows and values it is of: the filter, and the rules for missing values and values
            outside the bounds; empty if there is nothing to tell.
    """

    measure: str
    columns: str
    group: str | None
    label: str
    lower_edge: float | str | None
    upper_edge: float | str | None
    value: float | None
    value_as_date: str | None
    interval_lower: float | None
    interval_upper: float | None
    alpha: float
    unit: str | None
    epsilon: str
    released_at: str
    interval_lower_as_date: str | None
    interval_upper_as_date: str | None
    conditions: str


class _Place(NamedTuple):
    """Where one of several numbers stands."""

    label: str
    group: str | None = None
    lower_edge: float | str | None = None
    upper_edge: float | str | None = None


class _Told(NamedTuple):
    """What all numbers of a measure have in common."""

    measure: str
    columns: str
    alpha: float
    unit: str | None
    epsilon: str
    released_at: str
    conditions: str


class _Numbers(NamedTuple):
    """The numbers of a measure and their intervals, and both as dates; None each if they are no dates."""

    values: Sequence[float | None]
    intervals: Sequence[Sequence[float | None]]
    dates: Sequence[str | None]
    date_intervals: Sequence[Sequence[str | None]]


def _list_numbers(value: Any, interval: Any, date: Any, date_interval: Any) -> _Numbers:  # noqa: ANN401 - JSON
    """Return the numbers of an answer that has one of each, or lists; it has no dates if they are None."""
    if not isinstance(value, list):
        return _Numbers([value], [interval], [date], [date_interval or (None, None)])
    without: list[Any] = [None] * len(value)
    return _Numbers(value, interval, date or without, date_interval or [(None, None)] * len(value))


def rows_of_release(answer: Answer) -> Iterator[Row]:
    """Yield the rows of a release."""
    statistic, accuracy, value = answer["statistic"], answer["accuracy"], answer["value_in_range"]
    measure = "count" if statistic["kind"] == "histogram" else statistic["kind"]
    told = _Told(
        *(measure, _columns_of(statistic), accuracy["alpha"], answer.get("unit")),
        *(answer["privacy"]["epsilon"], answer["created_at"]),
        conditions_in_words(statistic, answer.get("treatment", {})),
    )
    dates = answer.get("value_as_date"), accuracy.get("interval_as_date")
    numbers = _list_numbers(value, accuracy["interval"], *dates)
    yield from _zip_rows(told, _places_of(answer, statistic, measure, value), numbers)


def rows_of_derived(answer: Answer, released_at: str) -> Iterator[Row]:
    """Yield the rows of a derived answer, whose components were released by `released_at`."""
    derived, units = answer["derived"], answer.get("units", {})
    conditions = conditions_in_words(derived, answer.get("treatment", {}))
    for name, estimate in answer["estimates"].items():
        told = _Told(
            *(name, _columns_of(derived), answer["alpha"], units.get(name)),
            *(answer["epsilon"], released_at, conditions),
        )
        value = estimate["value"]
        dates = estimate.get("value_as_date"), estimate.get("interval_as_date")
        numbers = _list_numbers(value, estimate["interval"], *dates)
        yield from _zip_rows(told, _places_of(answer, derived, name, value), numbers)


def _places_of(answer: Answer, question: Mapping[str, Any], measure: str, value: object) -> Sequence[_Place]:
    if not isinstance(value, list):
        return [_Place(measure)]
    return list(_list_places(answer, is_grouped="group_by" in question))


def _columns_of(statistic: Mapping[str, Any]) -> str:
    for member in ("columns", "column", "group_by"):
        if member in statistic:
            named = statistic[member]
            return named if isinstance(named, str) else ", ".join(named)
    return ""


def _list_places(answer: Answer, *, is_grouped: bool) -> Iterator[_Place]:
    """Yield the place of each number of an answer with several, in their order."""
    if "axes" in answer:
        rows, across = answer["axes"]
        for group in _bins_of(rows):
            yield from (_Place(each.label, group.label) for each in _bins_of(across))
    elif "probabilities" in answer.get("derived", ()):
        yield from (_Place(str(each)) for each in answer["derived"]["probabilities"])
        return
    elif "derived" in answer and "edges" in answer:
        yield from (_Place(f"up to {edge}", None, None, edge) for edge in answer["edges"])
        return
    yield from (each._replace(group=each.label if is_grouped else None) for each in _bins_of(answer))


def _bins_of(described: Answer) -> Iterator[_Place]:
    bins, edges = described.get("bins"), described.get("edges")
    if bins is None and edges is not None:
        last = len(edges) - 2
        for place, (lower, upper) in enumerate(pairwise(edges)):
            yield _Place(f"[{lower}, {upper}{']' if place == last else ')'}", None, lower, upper)
        return
    for each in bins or ():
        yield _Place(each["label"], None, each.get("lower"), each.get("upper"))


def _zip_rows(told: _Told, places: Sequence[_Place], numbers: _Numbers) -> Iterator[Row]:
    for place, value, (lower, upper), date, (first, last) in zip(places, *numbers, strict=True):
        yield Row(
            measure=told.measure,
            columns=told.columns,
            group=place.group,
            label=place.label,
            lower_edge=place.lower_edge,
            upper_edge=place.upper_edge,
            value=value,
            value_as_date=date,
            interval_lower=lower,
            interval_upper=upper,
            alpha=told.alpha,
            unit=told.unit,
            epsilon=told.epsilon,
            released_at=told.released_at,
            interval_lower_as_date=first,
            interval_upper_as_date=last,
            conditions=told.conditions,
        )
