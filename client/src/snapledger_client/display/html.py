"""Renders answers as HTML for notebooks: cards with lines of text, drawings and tables. Every text is escaped."""

from collections.abc import Mapping
from html import escape

from snapledger_client.display.plots import draft_picture
from snapledger_client.display.svg import WIDTH, draw_gauge, draw_picture
from snapledger_client.display.tables import WHOLE_KINDS, is_shown_as_cells, make_table, title_column, write_html
from snapledger_client.display.text import (
    describe_alternative,
    describe_cliff,
    describe_cost,
    describe_estimates,
    describe_expected,
    describe_level,
    describe_prospect,
    describe_remaining,
    describe_treatment,
    mark,
)
from snapledger_client.display.years import has_separators
from snapledger_client.formatting import (
    append_unit,
    describe_statistic,
    format_date,
    format_interval,
    format_level,
    format_measured,
    format_number,
    format_person,
    format_radius,
    format_radius_number,
    has_several,
)
from snapledger_client.models.accounts import Account, Budget
from snapledger_client.models.base import Answer, render_html, render_text
from snapledger_client.models.batches import Batch, BatchPlan
from snapledger_client.models.derived import Derived, DerivedPlan
from snapledger_client.models.plans import FreePlan, Plan
from snapledger_client.models.releases import Estimate, Histogram, Release, Treatment
from snapledger_client.rounding import format_epsilon

MAX_CARDS = 20  # of a batch


def render_card(title: str, *parts: str) -> str:
    """Return a heading with the parts below it, which are HTML already."""
    return f'<div style="max-width:{2 * WIDTH}px"><strong>{escape(title)}</strong>{"".join(parts)}</div>'


def _render_line(text: str) -> str:
    """Render each line of a text, which is one line for most texts."""
    return "".join(f"<div>{escape(line)}</div>" for line in text.splitlines())


def _render_table(answer: Answer, *, closed: bool = False) -> str:
    table = make_table(answer)
    return "" if table is None or not table.rows else write_html(table, closed=closed)


def _render_picture(answer: Answer) -> str:
    """Render the picture of an answer, if there is something to draw."""
    try:
        return draw_picture(draft_picture(answer))
    except ValueError:
        return ""


@render_html.register
def render_answer(answer: Answer) -> str:
    """Render an answer as its text and its table."""
    first, *more = render_text(answer).split("\n")
    return render_card(first, *map(_render_line, more), _render_table(answer))


@render_html.register
def render_budget(budget: Budget) -> str:
    """Render a gauge for each account that the caller may see."""
    accounts: list[tuple[str, Account]] = [("dataset", budget)]
    if budget.allowance is not None:
        accounts.append(("your allowance", budget.allowance))
    accounts += [
        (format_person(allowance.principal, allowance.display_name), allowance) for allowance in budget.allowances or ()
    ]
    return render_card("Budget", *(_render_account(name, account) for name, account in accounts))


def _render_account(name: str, account: Account) -> str:
    spent, limit = account.epsilon_spent, account.epsilon_limit
    text = f"{name}: ε = {format_epsilon(spent)} of {limit:f} spent"
    return _render_line(text) + draw_gauge(text, min(float(spent / limit), 1.0) if limit else 1.0)


def _render_treatment(treatment: Mapping[str, Treatment]) -> str:
    rules = describe_treatment(treatment)
    return _render_line(rules) if rules else ""


def _describe_columns(answer: Release | Derived | FreePlan) -> str:
    """Return what the owner calls the columns of an answer, with their units."""
    titles = ((name, title_column(name, each)) for name, each in answer.columns.items() if each.label)
    return "; ".join(f"{name}: {title}" for name, title in titles)


def _render_release(release: Release, *parts: str) -> str:
    return render_card(
        f"{mark(release)}{describe_statistic(release.statistic)}",
        *parts,
        _render_line(_describe_columns(release)),
        _render_treatment(release.treatment),
        _render_line(f"{describe_cost(release)} (dataset {release.dataset})"),
    )


@render_html.register
def render_estimate(release: Estimate) -> str:
    """Render the number, its error bar in the statistic's public range, its cost and the remaining budget."""
    accuracy = release.accuracy
    separators = has_separators(release.statistic, release.columns)
    value = format_measured(
        release.value_in_range, accuracy.radius, accuracy.alpha, release.unit, separators=separators
    )
    whole = release.statistic["kind"] in WHOLE_KINDS
    interval = append_unit(format_interval(*release.interval, separators=separators, whole=whole), release.unit)
    if release.value_as_date is not None:
        first, last = release.interval_as_date or (None, None)
        value = f"{format_date(release.value_as_date)} ({format_level(accuracy.alpha)})"
        interval = f"{format_date(first)} to {format_date(last)}"
    return _render_release(
        release, _render_line(value), _render_picture(release), _render_line(f"interval: {interval}")
    )


@render_html.register
def render_histogram(release: Histogram) -> str:
    """Render a table of all numbers, below bars with error bars if it is not a two-way table."""
    accuracy = release.accuracy
    radius = format_radius(accuracy.radius, accuracy.alpha, release.unit, each=True)
    text = f"{len(release.value):,} bins, {radius}"
    picture = "" if is_shown_as_cells(release) else _render_picture(release)
    return _render_release(release, _render_line(text), picture, _render_table(release, closed=bool(picture)))


@render_html.register
def render_plan(plan: FreePlan) -> str:
    """Render what a release would promise and cost, and its curve."""
    epsilon = f"ε = {format_epsilon(plan.privacy.epsilon)}"
    accuracy, each = plan.accuracy, has_several(plan.statistic)
    parts = [_render_line(format_radius(accuracy.radius, accuracy.alpha, plan.unit, each=each))]
    if isinstance(plan, Plan):
        parts.append(_render_line(f"{epsilon}: {describe_prospect(plan)} (dataset {plan.dataset})"))
    else:
        parts.append(_render_line(f"{epsilon} on {plan.privacy.n:,} rows"))
    parts += [_render_treatment(plan.treatment), _render_line(describe_alternative(plan))]
    parts.append(_render_line(describe_cliff(plan)))
    if plan.bias is not None:
        bias = plan.bias
        at_guess = f"bias at {format_number(bias.guess)}: {append_unit(format_number(bias.at_guess), plan.unit)}"
        largest = append_unit(format_radius_number(bias.largest), plan.unit)
        parts.append(_render_line(f"{at_guess}; at most ± {largest}"))
    return render_card(f"Plan: {describe_statistic(plan.statistic)}", *parts, _render_picture(plan))


@render_html.register
def render_batch(batch: Batch) -> str:
    """Render each release, and what they cost together."""
    title = f"{mark(batch)}{len(batch.items):,} releases together"
    together = render_card(title, _render_line(batch.summary), _render_table(batch))
    return f"<div>{together}{''.join(map(render_html, batch.items[:MAX_CARDS]))}</div>"


@render_html.register
def render_batch_plan(plan: BatchPlan) -> str:
    """Render what each item would promise, and what they would cost together."""
    return render_card(f"Plan of a batch of {len(plan.items):,}", _render_table(plan), _render_line(plan.summary))


@render_html.register
def render_derived_plan(plan: DerivedPlan) -> str:
    """Render the components of a derived statistic, and what they would cost."""
    verdict = "your budget covers it" if plan.budget.affordable else "more than you have left"
    return render_card(
        f"Plan: {describe_statistic(plan.derived)}",
        _render_line(f"ε = {format_epsilon(plan.budget.charged)}, {verdict} (dataset {plan.dataset})"),
        _render_line(describe_expected(plan) or ""),
        _render_table(plan),
        _render_treatment(plan.treatment),
    )


@render_html.register
def render_derived(derived: Derived) -> str:
    """Render the numbers with their intervals as a picture and a table, the cost and the components."""
    roles = ", ".join(f"{each.role}{' (known)' if each.reused else ''}" for each in derived.components)
    charged = derived.budget.charged
    paid = f"ε = {format_epsilon(charged)} paid" if charged else "from earlier releases, at no cost"
    if derived.rehearsed:
        paid = "nothing paid"
    table = _render_table(derived, closed=True)
    return render_card(
        f"{mark(derived)}{describe_statistic(derived.derived)}",
        *([] if table else map(_render_line, describe_estimates(derived))),
        _render_picture(derived),
        table,
        _render_line(f"{describe_level(derived)}, from {roles}"),
        _render_line(_describe_columns(derived)),
        _render_treatment(derived.treatment),
        _render_line(f"{paid}; {describe_remaining(derived.budget)} (dataset {derived.dataset})"),
    )
