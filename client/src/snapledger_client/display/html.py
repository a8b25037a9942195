"""Renders answers as HTML for notebooks: cards with lines of text and drawings. Every text is escaped."""

from collections.abc import Mapping, Sequence
from html import escape

from snapledger_client.display.svg import WIDTH, draw_bars, draw_curve, draw_error_bar, draw_gauge
from snapledger_client.display.text import (
    describe_alternative,
    describe_cost,
    describe_estimates,
    describe_prospect,
    describe_remaining,
    describe_treatment,
)
from snapledger_client.formatting import (
    append_unit,
    describe_statistic,
    format_date,
    format_interval,
    format_level,
    format_number,
    format_person,
    format_radius,
    format_radius_number,
)
from snapledger_client.models.accounts import Account, Budget
from snapledger_client.models.base import render_html
from snapledger_client.models.batches import Batch, BatchPlan, PlannedItem
from snapledger_client.models.derived import Derived, DerivedPlan
from snapledger_client.models.plans import CurvePoint, FreePlan, Plan
from snapledger_client.models.releases import Estimate, Histogram, Release, Treatment

MAX_BARS = 200  # more would be narrower than two pixels
MAX_LABELS = 24


def _render_card(title: str, *parts: str) -> str:
    """Return a heading with the parts below it, which are HTML already."""
    return f'<div style="max-width:{WIDTH}px"><strong>{escape(title)}</strong>{"".join(parts)}</div>'


def _render_line(text: str) -> str:
    """Render each line of a text, which is one line for most texts."""
    return "".join(f"<div>{escape(line)}</div>" for line in text.splitlines())


@render_html.register
def render_budget(budget: Budget) -> str:
    """Render a gauge for each account that the caller may see."""
    accounts: list[tuple[str, Account]] = [("dataset", budget)]
    if budget.allowance is not None:
        accounts.append(("your allowance", budget.allowance))
    accounts += [
        (format_person(allowance.principal, allowance.display_name), allowance) for allowance in budget.allowances or ()
    ]
    return _render_card("Budget", *(_render_account(name, account) for name, account in accounts))


def _render_account(name: str, account: Account) -> str:
    spent, limit = account.epsilon_spent, account.epsilon_limit
    text = f"{name}: ε = {spent:f} of {limit:f} spent"
    return _render_line(text) + draw_gauge(text, float(spent / limit) if limit else 1.0)


@render_html.register(Release)
@render_html.register(PlannedItem)
def render_sentence(answer: Release | PlannedItem) -> str:
    """Render an answer that has no drawing as text."""
    return _render_card(describe_statistic(answer.statistic), _render_line(str(answer)))


def _render_treatment(treatment: Mapping[str, Treatment]) -> str:
    rules = describe_treatment(treatment)
    return _render_line(rules) if rules else ""


def _describe_columns(release: Release | Derived) -> str:
    """Return what the owner calls the columns of a release, with their units, as the title of its axis."""
    labels = [(name, each.label, each.unit) for name, each in release.columns.items()]
    return "; ".join(f"{name}: {label}{f' ({unit})' if unit else ''}" for name, label, unit in labels if label)


def _render_cost(release: Release) -> str:
    return _render_line(f"{describe_cost(release)} (dataset {release.dataset})")


@render_html.register
def render_estimate(release: Estimate) -> str:
    """Render the number, its error bar in the statistic's public range, its cost and the remaining budget."""
    radius = format_radius(release.accuracy.radius, release.accuracy.alpha, release.unit)
    value = f"{format_number(release.value_in_range)} {radius}"
    interval = append_unit(format_interval(*release.interval), release.unit)
    lowest, width = release.mechanism.centre - release.mechanism.b_prime, 2 * release.mechanism.b_prime
    possible = f"; possible: {append_unit(format_interval(lowest, lowest + width), release.unit)}"
    if release.value_as_date is not None:
        first, last = release.interval_as_date or (None, None)
        value = f"{format_date(release.value_as_date)} ({format_level(release.accuracy.alpha)})"
        interval, possible = f"{format_date(first)} to {format_date(last)}", ""
    return _render_card(
        describe_statistic(release.statistic),
        _render_line(value),
        draw_error_bar(f"{value}: {interval}", release.value_in_range, release.interval, lowest, width),
        _render_line(f"{interval}{possible}"),
        _render_line(_describe_columns(release)),
        _render_treatment(release.treatment),
        _render_cost(release),
    )


@render_html.register
def render_histogram(release: Histogram) -> str:
    """Render bars with error bars. If there are too many bars, add neighbouring ones up and omit the error bars."""
    values, intervals, labels = release.value_in_range, release.interval, release.titles
    merged = -(-len(values) // MAX_BARS)
    if merged > 1:
        values = tuple(sum(values[at : at + merged]) for at in range(0, len(values), merged))
        intervals, labels = (), labels[::merged]
    counts = [f"{label}: {format_number(value)}" for label, value in zip(labels, values, strict=True)]
    titles = [f"{each} ({merged} bins from here on)" for each in counts] if merged > 1 else counts
    text = (
        f"{len(release.value)} bins {format_radius(release.accuracy.radius, release.accuracy.alpha, release.unit)} each"
    )
    return _render_card(
        describe_statistic(release.statistic),
        _render_line(text),
        draw_bars(text, values, intervals, titles),
        _render_line(_describe_columns(release)),
        _render_line(f"{labels[0]} … {labels[-1]}" if len(labels) > MAX_LABELS else ", ".join(counts)),
        _render_treatment(release.treatment),
        _render_cost(release),
    )


@render_html.register
def render_plan(plan: FreePlan) -> str:
    """Render what a release would promise and cost, and its curve."""
    epsilon = f"ε = {plan.privacy.epsilon:f}"
    parts = [_render_line(format_radius(plan.accuracy.radius, plan.accuracy.alpha, plan.unit))]
    if isinstance(plan, Plan):
        parts.append(_render_line(f"{epsilon}: {describe_prospect(plan)} (dataset {plan.dataset})"))
    else:
        parts.append(_render_line(f"{epsilon} on {plan.privacy.n:,} rows"))
    parts += [_render_treatment(plan.treatment), _render_line(describe_alternative(plan))]
    if plan.cliff is not None:
        cliff = plan.cliff
        parts.append(
            _render_line(
                f"from ε = {cliff.epsilon:f} on, ± {append_unit(format_radius_number(cliff.accuracy), plan.unit)}"
            )
        )
    if plan.bias is not None:
        bias = plan.bias
        at_guess = f"bias at {format_number(bias.guess)}: {append_unit(format_number(bias.at_guess), plan.unit)}"
        largest = append_unit(format_radius_number(bias.largest), plan.unit)
        parts.append(_render_line(f"{at_guess}; at most ± {largest}"))
    if plan.curve:
        parts.append(_render_curve(plan.curve, (float(plan.privacy.epsilon), plan.accuracy.radius), plan.unit))
    return _render_card(f"Plan: {describe_statistic(plan.statistic)}", *parts)


def _render_curve(curve: Sequence[CurvePoint], planned: tuple[float, float], unit: str) -> str:
    """Draw the radius against ε; a cliff is a step, and the plan is a dot."""
    ends = "; ".join(
        f"ε = {each.epsilon:f}: ± {append_unit(format_radius_number(each.radius), unit)}"
        for each in (curve[0], curve[-1])
    )
    points = [(float(point.epsilon), point.radius) for point in curve]
    return draw_curve(f"radius against ε: {ends}", points, planned) + _render_line(ends)


@render_html.register
def render_batch(batch: Batch) -> str:
    """Render each release, and what they cost together."""
    return f"<div>{''.join(map(render_html, batch.items))}{_render_card('Together', _render_line(batch.summary))}</div>"


@render_html.register
def render_batch_plan(plan: BatchPlan) -> str:
    """Render what each item would promise, and what they would cost together."""
    return _render_card(
        f"Plan: {len(plan.items)} statistics", *map(_render_line, [*map(str, plan.items), plan.summary])
    )


@render_html.register
def render_derived_plan(plan: DerivedPlan) -> str:
    """Render the components of a derived statistic, and what they would cost."""
    return _render_card(f"Plan: {describe_statistic(plan.derived)}", _render_line(str(plan)))


@render_html.register
def render_derived(derived: Derived) -> str:
    """Render each number with its interval, the cost and the components."""
    roles = ", ".join(f"{each.role}{' (known)' if each.reused else ''}" for each in derived.components)
    paid = f"ε = {derived.budget.charged:f} paid; {describe_remaining(derived.budget)} (dataset {derived.dataset})"
    return _render_card(
        describe_statistic(derived.derived),
        *map(_render_line, describe_estimates(derived)),
        _render_line(f"{format_level(derived.alpha)}, from {roles}"),
        _render_line(_describe_columns(derived)),
        _render_treatment(derived.treatment),
        _render_line(paid),
    )
