"""What a plan or a release means, in a sentence. Figures are rounded to what can be read, and never to a promise."""

import math
from weakref import WeakKeyDictionary

from gmpy2 import mpq

from app.dp.numbers.exact import Rational, json_number, to_nearest_double
from app.dp.statistics import Statistic
from app.ledger.units import epsilon_text
from app.services.planning.questions import Plan

_DIGITS = 4
_PROBABILITY_UNIT = mpq(1, 10**15)


def summarise_plan(plan: Plan, *, reused: bool = False, affordable: bool = True) -> str:
    """What a release would cost and promise, or that an earlier one answers already."""
    each = " each" if plan.statistic.components > 1 else ""
    promise = (
        f"{_filter_in_words(plan)}{each} with probability at least {_probability_text(plan.alpha)}, whatever the data"
    )
    if reused:
        return f"An earlier release answers this for nothing: {statistic_in_words(plan.statistic)}, {promise}."
    cost = f"cost ε = {epsilon_text(plan.epsilon_nano)}"
    if not affordable:
        cost += ", which is more than can be spent now,"
    return f"A release of {statistic_in_words(plan.statistic)} would {cost} and be {promise}."


def summarise_release(plan: Plan, interval: tuple[float, float] | None) -> str:
    """Where the statistic is, without an end; `interval` is that of its number, None where there may be several."""
    likely, step = _lead_in(plan)
    if interval is None:
        return f"{likely} is {_filter_in_words(plan)}, whatever the data"
    lower, upper = map(mpq, interval)
    ends = f"{_rounded_text((lower / step).__floor__() * step)} and {_rounded_text((upper / step).__ceil__() * step)}"
    return f"{likely} is between {ends}, whatever the data"


_beginnings: WeakKeyDictionary[Plan, tuple[str, Rational]] = WeakKeyDictionary()


def _lead_in(plan: Plan) -> tuple[str, Rational]:
    """How a release's sentence begins, and to whose multiples its figures are rounded; known as long as the plan."""
    known = _beginnings.get(plan)
    if known is None:
        each = "each of " if plan.statistic.bins is not None else ""
        beginning = (
            f"With probability at least {_probability_text(plan.alpha)} {each}{statistic_in_words(plan.statistic)}"
        )
        known = _beginnings[plan] = beginning, _rounding_step(plan.reach)
    return known


def statistic_in_words(statistic: Statistic) -> str:
    """The statistic in words: `the mean of body_mass_g over all 344 rows`."""
    described = statistic.describe()
    names = described.get("columns") or [described[member] for member in ("column",) if member in described]
    of_columns = " and ".join(names)
    filtered = "the rows that meet the filter, out of" if "where" in described else "all"
    rows = f"{filtered} {statistic.n} rows"
    grouped = f" by {described['group_by']}" if "group_by" in described else ""
    if statistic.kind == "histogram":
        return f"the {statistic.components} counts of {rows} by {of_columns}"
    if statistic.kind == "count":
        return f"the {statistic.components} counts of {rows}{grouped}" if grouped else f"the number of {rows}"
    name = f"{statistic.components} sums" if grouped else statistic.kind
    return f"the {name} of {of_columns}{grouped} over {rows}"


def _filter_in_words(plan: Plan) -> str:
    step = _rounding_step(plan.reach)
    return f"within {_rounded_text((plan.reach / step).__ceil__() * step)} of the truth"


def _rounding_step(size: Rational) -> Rational:
    """The power of ten to whose multiples a number of this size is rounded: four digits of it are left."""
    return mpq(10) ** (math.floor(math.log10(to_nearest_double(size))) + 1 - _DIGITS)


def _rounded_text(number: Rational) -> str:
    return str(json_number(number))


def _probability_text(alpha: Rational) -> str:
    """1 - α, rounded down to what can be read."""
    return _rounded_text(((1 - alpha) / _PROBABILITY_UNIT).__floor__() * _PROBABILITY_UNIT)


def summarise_batch_plan(items: int, fresh: int, cost_nano: int, *, affordable: bool) -> str:
    """What a batch would cost, and whether that can be paid."""
    cost = f"{fresh} would be new and cost ε = {epsilon_text(cost_nano)} in all"
    beyond = "" if affordable else ", which is more than can be spent now"
    return f"Of {_count_in_words(items)} {cost}{beyond}{_remaining_in_words(items - fresh)}."


def summarise_batch(items: int, fresh: int, cost_nano: int) -> str:
    """What a batch cost."""
    cost = f"{fresh} are new and cost ε = {epsilon_text(cost_nano)} in all"
    return f"Of {_count_in_words(items)} {cost}{_remaining_in_words(items - fresh)}."


def _count_in_words(items: int) -> str:
    return f"{items} release{'s' * (items != 1)}"


def _remaining_in_words(reused: int) -> str:
    return (
        f"; {reused} {'is' if reused == 1 else 'are'} answered for nothing by releases that are known" if reused else ""
    )
