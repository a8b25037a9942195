"""Plans and releases in words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snapledger_client.plans import FreePlan, Outlook, Plan, PlannedItem, Prospect
    from snapledger_client.releases import Bin, Charge, Histogram, Release
    from snapledger_client.together import Derived, DerivedPlan

MOST_VALUES = 4  # of a list, in a line


def figure(number: float) -> str:
    """A number as people read it: six digits or all whole ones, thousands apart; an exponent only if it is needed."""
    return f"{number:,.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:,.6g}"


def edge(number: float) -> str:
    """A value of a column, all of it and nothing between its digits: a year is one too."""
    return f"{number:.0f}" if number == int(number) and abs(number) <= 1e15 else repr(number)


def statistic(described: Mapping[str, Any]) -> str:
    """What is asked for: `mean of body_mass_g`, `count by species where year between 2007 and 2008`."""
    columns = described.get("columns") or [described.get("column")]
    named = " and ".join(str(column) for column in columns if column is not None)
    if described["kind"] == "margin":
        named = f"{described['column']} in the table of {named}"
    parts = [str(described["kind"]), f"of {named}" if named else ""]
    if described.get("category") is not None:
        parts.append(f"= {described['category']}")
    if described.get("group_by") is not None:
        parts.append(f"by {described['group_by']}")
    parts += [f"where {' and '.join(map(_condition, described['where'].items()))}"] if described.get("where") else []
    return " ".join(part for part in parts if part)


def _condition(of_column: tuple[str, Mapping[str, Any]]) -> str:
    column, condition = of_column
    if condition.get("between") is not None:
        least, most = condition["between"]
        return f"{column} between {least} and {most}"
    values = list(map(str, condition.get("in") or ()))
    more = f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
    return f"{column} in {', '.join(values[:MOST_VALUES])}{more}"


def radius(size: float, alpha: float) -> str:
    """An error bar: `± 50 (95 %)`."""
    return f"± {figure(size)} ({100 * (1 - alpha):.10g} %)"


def promise(plan: "FreePlan | PlannedItem") -> str:
    """What a release would be and cost."""
    within = f"within {radius(plan.accuracy.radius, plan.accuracy.alpha)} for ε = {plan.privacy.epsilon:f}"
    return f"{statistic(plan.statistic)}: {within}"


def prospect(plan: "Plan") -> str:
    """What a planned release would do to the budget."""
    if plan.reused:
        return "an earlier release answers it, for nothing"
    if not plan.budget.affordable:
        return "more than what remains"
    often = "" if plan.budget.repeatable is None else f", {plan.budget.repeatable} times"
    return f"affordable{often}"


def remains(budget: "Charge | Prospect | Outlook") -> str:
    """What is left to spend."""
    of_dataset = f"{budget.dataset_remaining:f} of the dataset's budget"
    if budget.allowance_remaining is None:
        return f"you have no allowance; {of_dataset} remain"
    return f"{budget.allowance_remaining:f} of your allowance and {of_dataset} remain"


def cost(release: "Release") -> str:
    """What a release cost and what remains."""
    paid = "an earlier release, for nothing" if release.reused else f"ε = {release.budget.charged:f} paid"
    return f"{paid}; {remains(release.budget)}"


def release(told: "Release") -> str:
    """A release in a line."""
    value = getattr(told, "value_in_range", None)
    shown = f"{len(value)} bins" if isinstance(value, tuple) else figure(float(value or 0))
    return f"{statistic(told.statistic)}: {shown} {radius(told.accuracy.radius, told.accuracy.alpha)}; {cost(told)}"


def ends(least: float | None, most: float | None, told: Callable[[float], str] = figure) -> str:
    """An interval, of which an end may not be known."""
    if least is None and most is None:
        return "anything"
    if least is None or most is None:
        return f"at most {told(most)}" if most is not None else f"at least {told(least or 0)}"
    return f"{told(least)} to {told(most)}"


def figure_of(kind: str) -> Callable[[float], str]:
    """How the numbers of a statistic are told: quantiles are values of a column, of which years are some."""
    return (lambda number: figure(number).replace(",", "")) if kind == "quantile" else figure


def estimates(told: "Derived") -> list[str]:
    """Each estimate with its interval; of long lists only how many there are."""
    lines, of = [], figure_of(told.derived["kind"])
    for name, each in told.estimates.items():
        rows = each.rows
        prefix = f"{name} " if len(told.estimates) > 1 else ""
        if len(rows) > MOST_VALUES:
            lines.append(f"{prefix}{len(rows)} values")
            continue
        values = ("no value" if value is None else of(value) for value, *_ in rows)
        intervals = (ends(least, most, of) for _, least, most in rows)
        lines.append(prefix + ", ".join(f"{a} ({b})" for a, b in zip(values, intervals, strict=True)))
    return lines


def derived(told: "Derived") -> str:
    """What follows, in a line."""
    charged = told.budget.charged
    paid = f"ε = {charged:f} paid" if charged else "from earlier releases, for nothing"
    sure = f"{100 * (1 - told.alpha):.10g} %"
    return f"{statistic(told.derived)}: {', '.join(estimates(told))}, {sure}; {paid}; {remains(told.budget)}"


def derived_plan(told: "DerivedPlan") -> str:
    """What would follow from what, in a line."""
    parts = ", ".join(
        f"{each.role} ({'known' if each.reused else f'ε = {each.charged:f}'})" for each in told.components
    )
    verdict = "affordable" if told.budget.affordable else "more than what remains"
    return f"{statistic(told.derived)}: from {parts}; ε = {told.budget.charged:f}, {verdict}"


def labels_of(bins: "Iterable[Bin] | None", edges: Sequence[float] | None, count: int | None = None) -> list[str]:
    """What each position is called; many intervals are told by their edges alone, and behind them is `missing`."""
    if bins is not None:
        return [each.label for each in bins]
    pairs = list(pairwise(edges or ()))
    named = [f"[{edge(lower)}, {edge(upper)})" for lower, upper in pairs[:-1]]
    named += [f"[{edge(lower)}, {edge(upper)}]" for lower, upper in pairs[-1:]]
    return named + ["missing"] * (0 if count is None else count - len(named))


def labels(histogram: "Histogram") -> list[str]:
    """What each position of a histogram is called; a cell of a two-way table has both its bins' names."""
    if histogram.axes is None:
        return labels_of(histogram.bins, histogram.edges, len(histogram.value))
    cells = [", ".join(pair) for pair in product(*(axis.labels for axis in histogram.axes))]
    return cells + [each.label for each in histogram.bins or ()]
