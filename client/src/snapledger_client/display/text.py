"""Renders answers as text."""

from collections.abc import Mapping

from snapledger_client.display.years import has_separators
from snapledger_client.formatting import (
    REHEARSAL,
    append_unit,
    describe_statistic,
    format_dates,
    format_interval,
    format_level,
    format_measured,
    format_person,
    format_promise,
    format_radius,
    format_radius_number,
    format_value,
    has_several,
    name_kind,
)
from snapledger_client.models.accounts import Budget, DatasetFacts, Draft, Me, Verification
from snapledger_client.models.base import render_text
from snapledger_client.models.batches import Batch, BatchPlan, PlannedItem
from snapledger_client.models.derived import Derived, DerivedPlan
from snapledger_client.models.plans import FreePlan, Plan
from snapledger_client.models.releases import Accuracy, Charge, Estimate, Histogram, Release, Treatment
from snapledger_client.rounding import format_epsilon

RELEASES_OF_KNOWN = dict.fromkeys(("mean", "variance", "covariance"), "two releases that share ε")
RELEASES_OF_KNOWN["sum"] = "one release as well"

MAX_RULES = 3
"""The maximum number of columns whose treatment is told; `treatment` has all of them."""

MIN_CLIFF_GAIN = 1.05
"""How much more the error must shrink at a cliff than ε grows, for the cliff to be told."""


def describe_treatment(treatment: Mapping[str, Treatment]) -> str:
    """Return what missing values and values outside the bounds count as, in clauses; or an empty text."""
    more = len(treatment) - MAX_RULES
    rules = [each.rule for each in list(treatment.values())[:MAX_RULES]]
    return "; ".join([*rules, f"{more} more columns have such rules"] if more > 0 else rules)


def _append_treatment(text: str, treatment: Mapping[str, Treatment]) -> str:
    """Return the text with the treatment on a line of its own."""
    rules = describe_treatment(treatment)
    return f"{text}\n{rules}" if rules else text


@render_text.register
def describe_budget(budget: Budget) -> str:
    """Return what is spent, and what the caller can still spend."""
    spent = f"ε = {format_epsilon(budget.epsilon_spent)} of {budget.epsilon_limit:f} spent"
    if budget.allowance is None:
        return spent
    spendable = format_epsilon(budget.spendable, up=False)
    return f"{spent}; you can still spend {spendable} of your {budget.allowance.epsilon_limit:f}"


def describe_remaining(charge: Charge) -> str:
    """Return what is left to spend."""
    of_dataset = f"{format_epsilon(charge.dataset_remaining, up=False)} of the dataset's budget"
    if charge.allowance_remaining is None:
        return f"you have no allowance; {of_dataset} is left"
    return f"{format_epsilon(charge.allowance_remaining, up=False)} of your allowance and {of_dataset} are left"


def describe_cliff(plan: FreePlan) -> str:
    """Return the next cliff of a plan, if it gains clearly more than in proportion to its ε; or an empty text."""
    cliff = plan.cliff
    if cliff is None:
        return ""
    gain, proportion = plan.accuracy.radius / cliff.accuracy, float(cliff.epsilon / plan.privacy.epsilon)
    if gain <= MIN_CLIFF_GAIN * proportion:
        return ""
    error = append_unit(format_radius_number(cliff.accuracy), plan.unit)
    return f"ε = {cliff.epsilon:f} is a better buy than an ε just below it: the error drops to ± {error}"


@render_text.register(FreePlan)
@render_text.register(PlannedItem)
def describe_free_plan(plan: FreePlan | PlannedItem) -> str:
    """Return what a release would promise and cost, and the treatment of missing values."""
    return _append_treatment(describe_promise(plan), plan.treatment)


def describe_promise(plan: FreePlan | PlannedItem) -> str:
    """Return what a release would promise and cost."""
    promise = _format_promise(plan.accuracy, plan)
    return f"{describe_statistic(plan.statistic)}: {promise} for ε = {format_epsilon(plan.privacy.epsilon)}"


def _format_promise(accuracy: Accuracy, plan: FreePlan | PlannedItem) -> str:
    return format_promise(accuracy.radius, accuracy.alpha, plan.unit, each=has_several(plan.statistic))


@render_text.register
def describe_plan(plan: Plan) -> str:
    """Return what a release would promise and cost, and whether the budget covers it."""
    text = _append_treatment(f"{describe_promise(plan)}; {describe_prospect(plan)}", plan.treatment)
    alternative = describe_alternative(plan)
    return f"{text}\n{alternative}" if alternative else text


def describe_alternative(plan: FreePlan) -> str:
    """Return how to leave out missing values, and what it takes, where they count as a number; or an empty text."""
    counted = any(isinstance(each.missing_as, int | float) for each in plan.treatment.values())
    releases = RELEASES_OF_KNOWN.get(plan.statistic["kind"])
    if not counted or releases is None or {"where", "group_by"} & set(plan.statistic):
        return ""
    return f'missing="exclude" leaves missing values out, and takes {releases}'


def describe_prospect(plan: Plan) -> str:
    """Return what a planned release would do to the budget."""
    if plan.reused_accuracy is not None:
        return f"an earlier release answers it at no cost, {_format_promise(plan.reused_accuracy, plan)}"
    if not plan.budget.affordable:
        return "more than you have left"
    return (
        "your budget covers it"
        if plan.budget.repeatable is None
        else f"your budget covers {plan.budget.repeatable} of these"
    )


def mark(answer: Release | Derived | Batch) -> str:
    """Return what the text of a rehearsal begins with; nothing for an answer about the data."""
    return f"{REHEARSAL}: " if answer.rehearsed else ""


@render_text.register
def describe_release(release: Release) -> str:
    """Return a release with its error bar and cost."""
    if isinstance(release, Estimate) and release.value_as_date is not None:
        dates = format_dates(release.value_as_date, *(release.interval_as_date or (None, None)))
        level = format_level(release.accuracy.alpha)
        text = f"{mark(release)}{describe_statistic(release.statistic)}: {dates}, {level}; {describe_cost(release)}"
        return _append_treatment(text, release.treatment)
    accuracy = release.accuracy
    if isinstance(release, Estimate):
        separators = has_separators(release.statistic, release.columns)
        value = format_measured(
            release.value_in_range, accuracy.radius, accuracy.alpha, release.unit, separators=separators
        )
    else:
        many = f"{len(release.value_in_range):,} bins, " if isinstance(release, Histogram) else ""
        value = f"{many}{format_radius(accuracy.radius, accuracy.alpha, release.unit, each=bool(many))}"
    text = f"{mark(release)}{describe_statistic(release.statistic)}: {value}; {describe_cost(release)}"
    return _append_treatment(text, release.treatment)


def describe_cost(release: Release) -> str:
    """Return what a release cost and what remains."""
    paid = "an earlier release, at no cost" if release.reused else f"ε = {format_epsilon(release.budget.charged)} paid"
    if release.rehearsed:
        paid = "nothing paid"
    return f"{paid}; {describe_remaining(release.budget)}"


@render_text.register
def describe_batch(batch: Batch) -> str:
    """Return what the items cost together, as the service says it, which marks a rehearsal itself."""
    return batch.summary


@render_text.register
def describe_batch_plan(plan: BatchPlan) -> str:
    """Return what the items would cost together, as the service says it."""
    return plan.summary


@render_text.register
def describe_derived(derived: Derived) -> str:
    """Return the estimates with their confidence level and cost."""
    charged = derived.budget.charged
    paid = f"ε = {format_epsilon(charged)} paid" if charged else "from earlier releases, at no cost"
    if derived.rehearsed:
        paid = "nothing paid"
    estimates = ", ".join(describe_estimates(derived))
    level = describe_level(derived)
    text = f"{describe_statistic(derived.derived)}: {estimates}, {level}; {paid}; {describe_remaining(derived.budget)}"
    text = f"{mark(derived)}{text}"
    return _append_treatment(text, derived.treatment)


def describe_level(derived: Derived) -> str:
    """Return the confidence level, which several intervals have together."""
    several = sum(len(estimate.rows) for estimate in derived.estimates.values()) > 1
    return f"{format_level(derived.alpha)}{' together' if several else ''}"


def describe_estimates(derived: Derived) -> list[str]:
    """Return a line for each estimate with its interval; of several values, which are in the table, only how many."""
    lines, separators = [], has_separators(derived.derived, derived.columns)
    for name, estimate in derived.estimates.items():
        rows, dates, unit = estimate.rows, estimate.date_rows, derived.units.get(name)
        values = [format_dates(*row) for row in (dates or ())[:1]] or [
            f"{_describe_value(value, lower, upper, unit, separators=separators)}"
            f" ({append_unit(format_interval(lower, upper, separators=separators), unit)})"
            for value, lower, upper in rows[:1]
        ]
        text = f"{len(rows):,} values" if len(rows) > 1 else ", ".join(values)
        lines.append(f"{name_kind(name)} {text}" if len(derived.estimates) > 1 else text)
    return lines


def _describe_value(
    value: float | None, lower: float | None, upper: float | None, unit: str | None, *, separators: bool
) -> str:
    text = format_value(value, lower, upper, separators=separators)
    return text if value is None else append_unit(text, unit)


@render_text.register
def describe_derived_plan(plan: DerivedPlan) -> str:
    """Return the components, and what they would cost."""
    components = ", ".join(
        f"{each.role} ({'known' if each.reused else f'ε = {format_epsilon(each.charged)}'})" for each in plan.components
    )
    verdict = "your budget covers it" if plan.budget.affordable else "more than you have left"
    told = (
        f"{describe_statistic(plan.derived)}: from {components}; ε = {format_epsilon(plan.budget.charged)}, {verdict}"
    )
    expected = describe_expected(plan)
    return _append_treatment(told if expected is None else f"{told}; {expected}", plan.treatment)


def describe_expected(plan: DerivedPlan) -> str | None:
    """Return how wide the interval would be, if the plan knows."""
    if plan.expected is None:
        return None
    condition = "if the guesses are right" if plan.expected.basis == "guesses" else "whatever the data"
    width = plan.expected.half_width
    if width is None:
        return f"no interval with ends {condition}"
    unit = next(iter(plan.units.values()), None)  # of the only estimate, or of the slope
    return f"about {format_radius(width, plan.alpha, unit)} {condition}"


@render_text.register
def describe_facts(facts: DatasetFacts) -> str:
    """Return a dataset in a line, its description and a warning."""
    rows = "1 row" if facts.rows_per_unit == 1 else f"{facts.rows_per_unit:,} rows"
    line = f"{facts.name}: {facts.n:,} rows, {facts.state}; protects each unit, which has at most {rows}"
    return "\n".join(filter(None, (line, facts.description, facts.warning)))


@render_text.register
def describe_me(me: Me) -> str:
    """Return who the caller is."""
    expiry = "" if me.key_expires_at is None else f"; your key expires at {me.key_expires_at:%Y-%m-%d %H:%M} UTC"
    return f"{format_person(me.name, me.display_name)}, {me.role}{expiry}"


@render_text.register
def describe_draft(draft: Draft) -> str:
    """Return what is to be done with a draft."""
    columns = len(draft.metadata.get("columns", ()))
    return f"Draft of {columns} columns: replace what is unconfirmed by what you know without the data"


@render_text.register
def describe_verification(verification: Verification) -> str:
    """Return whether a ledger is valid."""
    if verification.valid:
        return f"valid: all hashes and sums of {verification.entries:,} entries"
    return f"not valid: {len(verification.problems):,} problems in {verification.entries:,} entries"
