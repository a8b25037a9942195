"""Summarises a plan or a release in a sentence. Figures are rounded for reading, and errors upwards."""

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from cachetools import cached
from gmpy2 import mpq

from app.dp.derived import DerivedStatistic
from app.dp.numbers.exact import Rational
from app.dp.statistics import Statistic
from app.dp.table.dates import format_nearest
from app.ledger.units import format_rounded_epsilon
from app.services.planning.derived_accuracy import PlannedWidth
from app.services.planning.questions import Plan
from app.services.rendering import treatments
from app.services.rendering.rounded_numbers import (
    MAX_DECIMALS,
    confidence_text,
    number_text,
    round_up_to,
    rounding_step,
)

REHEARSAL = "Rehearsal with made-up data: "
"""What the summary of a rehearsal begins with."""


def summarise_plan(plan: Plan, *, reused: bool = False, affordable: bool = True) -> str:
    """Return a sentence with the cost and accuracy of a planned release, or that an earlier release answers it."""
    words = _describe_plan(plan)
    told = f"{words.promise}{words.rules}.{words.moved}"
    if reused:
        return f"An earlier release answers this at no cost: {words.statistic}, {told}"
    cost = f"cost ε = {format_rounded_epsilon(plan.epsilon_nano)}"
    if not affordable:
        cost += ", which is more than you can spend now,"
    return f"{_capitalise(words.statistic)} would {cost} and be {told}"


def summarise_release(plan: Plan, value: Rational | None) -> str:
    """Return a clause with the released value and its error, without a full stop.

    `value` is the reported value, or None if the statistic has bins; then only the error is stated.
    """
    words = _describe_plan(plan)
    each = "each of " if plan.statistic.bins is not None else ""
    statistic = _capitalise(f"{each}{words.statistic}")
    if value is None:
        return f"{statistic} is {words.promise}{words.rules}"
    step, kind = words.step, plan.statistic.date_kind
    shown_step = mpq(1) if kind is not None else step
    shown = (value / shown_step + mpq(1, 2)).__floor__() * shown_step
    error = number_text(round_up_to(plan.reach + abs(value - shown), step), step)
    number = number_text(shown, step) if kind is None else format_nearest(shown, kind).replace("T", " ")
    if plan.presentation.years:
        number = number.replace(",", "")
    figures = f"{number} ± {error}{words.unit}"
    if plan.statistic.kind == "missing":
        tenths = (1_000 * shown / plan.statistic.n + mpq(1, 2)).__floor__()
        figures += f" or {number_text(mpq(max(tenths, 0), 10), mpq(1, 10))} % of all"
    return f"{statistic} is {figures} ({words.confidence} confidence){words.rules}"


def summarise_derived_plan(
    derived: DerivedStatistic, width: PlannedWidth | None, cost_nano: int, alpha: Rational, unit: str = ""
) -> str:
    """Return what a derived statistic would cost, and how wide its interval would be if the guesses are right."""
    cost = (
        f"Its releases would cost ε = {format_rounded_epsilon(cost_nano)}." if cost_nano else "It would cost nothing."
    )
    confidence = confidence_text(alpha)
    if width is None:
        *names, last = (f"`{name}`" for name in derived.required_guesses)
        guesses = f"guesses of {', '.join(names)} and {last}" if names else f"a guess of {last}"
        return f"{cost} How wide its interval would be depends on the data: give {guesses}."
    if width.half_width is None:
        return f"{cost} If the guesses are right, its interval with {confidence} confidence would have no ends."
    step = rounding_step(max(width.half_width, mpq(1, 10**MAX_DECIMALS)))
    size = number_text(round_up_to(width.half_width, step), step)
    size += f" {unit}" if unit else ""
    condition = "if the guesses are right" if width.basis == "guesses" else "whatever the data"
    told = f"{cost} Its interval with {confidence} confidence would be about ± {size}, {condition}"
    return f"{told}; no quantile is known closer than to a bin." if derived.kind == "quantile" else f"{told}."


class _Words(NamedTuple):
    """What the sentences about a plan and about all its releases have in common.

    Attributes:
        statistic: the statistic.
        promise: how close a release is to the truth, and how surely.
        rules: the rules for missing values and bounds, as the end of a sentence.
        moved: sentences about missing values that count as another number because of the bounds.
        step: the place to which a value and its error are rounded.
        unit: the unit after a space, or nothing.
        confidence: 1 - α in percent.
    """

    statistic: str
    promise: str
    rules: str
    moved: str
    step: Rational
    unit: str
    confidence: str


@cached(WeakKeyDictionary[Plan, _Words](), key=lambda plan: plan)
def _describe_plan(plan: Plan) -> _Words:
    """Return the words for a plan, cached as long as the plan, which all its releases share."""
    step, confidence = rounding_step(plan.reach), confidence_text(plan.alpha)
    unit = f" {plan.presentation.unit}" if plan.presentation.unit else ""
    radius = f"{number_text(round_up_to(plan.reach, step), step)}{unit}"
    each = " each" if plan.statistic.components > 1 else ""
    return _Words(
        statistic_in_words(plan.statistic),
        f"within {radius} of the truth{each} with {confidence} confidence",
        treatments.rules_in_words(plan.treatments),
        treatments.describe_moved_missing(plan.treatments),
        *(step, unit, confidence),
    )


def statistic_in_words(statistic: Statistic) -> str:
    """Return the statistic in words, such as `the mean of body_mass_g over all 344 rows`."""
    described = statistic.describe()
    names = described.get("columns") or [described[member] for member in ("column",) if member in described]
    of_columns = " and ".join(names)
    all_rows = f"all {statistic.n:,} rows"
    rows = f"those of the {statistic.n:,} rows that meet the filter" if "where" in described else all_rows
    grouped = f" by {_groups_in_words(described['group_by'])}" if "group_by" in described else ""
    if statistic.kind == "histogram":
        return f"the {statistic.components:,} counts by {of_columns} of {rows}"
    if statistic.kind in {"quantile_search", "adaptive_histogram"}:
        return f"the {statistic.components:,} counts of a search for quantiles of {of_columns} over {rows}"
    if statistic.kind == "missing":
        return f"the number of the {statistic.n:,} rows without a value of {of_columns}"
    if statistic.kind == "pair_differences":
        return f"the product of differences of {' and '.join(dict.fromkeys(names))} between pairs of the selected rows"
    if statistic.kind == "count":
        return (
            f"the {statistic.components:,} counts{grouped} of {rows}"
            if grouped
            else f"the number of the {statistic.n:,} rows that meet the filter"
        )
    name = f"{statistic.components:,} sums" if grouped else statistic.kind
    term = f"{of_columns} minus the middle of its bounds" if described.get("centred") else of_columns
    if "weight" in described:
        term = f"{described['weight']} times {f'({term})' if described.get('centred') else term}"
    return f"the {name} of {term}{grouped} over {rows}"


def _groups_in_words(group_by: str | Mapping[str, str]) -> str:
    """Return what a statistic is grouped by: a column, or the calendar period of one."""
    return group_by if isinstance(group_by, str) else f"{group_by['bins'].removeprefix('iso_')} of {group_by['column']}"


def _capitalise(words: str) -> str:
    return words[0].upper() + words[1:]


def summarise_batch_plan(items: int, fresh: int, cost_nano: int, *, affordable: bool) -> str:
    """Return a sentence with the cost of a planned batch and whether it is affordable."""
    beyond = "" if affordable else ", which is more than you can spend now"
    fate = f"would be new and cost ε = {format_rounded_epsilon(cost_nano)} in total{beyond}"
    return _summarise_items(items, fresh, fate)


def summarise_batch(items: int, fresh: int, cost_nano: int) -> str:
    """Return a sentence with the cost of a batch."""
    verb = "is" if fresh == 1 else "are"
    return _summarise_items(items, fresh, f"{verb} new and cost ε = {format_rounded_epsilon(cost_nano)} in total")


def summarise_rehearsed_batch(items: int, cost_nano: int) -> str:
    """Return a sentence with what the items of a rehearsed batch would cost at most."""
    them = "1 release is free, and it" if items == 1 else f"{items} releases are free, and they"
    return f"{REHEARSAL}{them} would cost up to ε = {format_rounded_epsilon(cost_nano)} in total."


def _summarise_items(items: int, fresh: int, fate: str) -> str:
    """Return a sentence with the number of fresh items, their `fate`, and the number that earlier releases answer."""
    releases = f"{items} release{'' if items == 1 else 's'}"
    if not fresh:
        return f"Earlier releases answer all of {releases} at no cost."
    others = "" if fresh == items else f"; earlier releases answer the other {items - fresh} at no cost"
    return f"{fresh} of {releases} {fate}{others}."
