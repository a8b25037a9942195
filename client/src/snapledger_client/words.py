"""Plans and releases in words."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snapledger_client.releases import Histogram, Plan, Release


def figure(number: float) -> str:
    """A number as people read it: six digits or all whole ones, thousands apart; an exponent only if it is needed."""
    return f"{number:,.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:,.6g}"


def statistic(described: Mapping[str, Any]) -> str:
    """What is asked for: `mean of body_mass_g`."""
    columns = described.get("columns") or [described.get("column")]
    named = " and ".join(str(column) for column in columns if column is not None)
    return f"{described['kind']} of {named}" if named else str(described["kind"])


def radius(size: float, alpha: float) -> str:
    """An error bar: `± 50 (95 %)`."""
    return f"± {figure(size)} ({100 * (1 - alpha):.10g} %)"


def prospect(plan: "Plan") -> str:
    """What a planned release would do to the budget."""
    if plan.reused:
        return "an earlier release answers it, for nothing"
    if not plan.budget.affordable:
        return "more than what remains"
    often = "" if plan.budget.repeatable is None else f", {plan.budget.repeatable} times"
    return f"affordable{often}"


def cost(release: "Release") -> str:
    """What a release cost and what remains."""
    paid = "an earlier release, for nothing" if release.reused else f"ε = {release.budget.charged:f} paid"
    dataset, allowance = release.budget.dataset_remaining, release.budget.allowance_remaining
    return f"{paid}; {allowance:f} of your allowance and {dataset:f} of the dataset's budget remain"


def release(told: "Release") -> str:
    """A release in a line."""
    value = getattr(told, "value_in_range", None)
    shown = f"{len(value)} bins" if isinstance(value, tuple) else figure(float(value or 0))
    return f"{statistic(told.statistic)}: {shown} {radius(told.accuracy.radius, told.accuracy.alpha)}; {cost(told)}"


def labels(histogram: "Histogram") -> list[str]:
    """What each position of a histogram is called; many intervals are told by their edges alone."""
    if histogram.bins is not None:
        return [each.label for each in histogram.bins]
    edges = histogram.edges or ()
    pairs = list(pairwise(edges))
    named = [f"[{lower:g}, {upper:g})" for lower, upper in pairs[:-1]] + [f"[{a:g}, {b:g}]" for a, b in pairs[-1:]]
    return named + ["missing"] * (len(histogram.value) - len(named))
