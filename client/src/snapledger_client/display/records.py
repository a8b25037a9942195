"""Lists the rows of frames of answers that are no single release."""

from typing import Any

from snapledger_client.formatting import describe_statistic
from snapledger_client.models.accounts import Budget, DatasetFacts, Draft, Me, Verification
from snapledger_client.models.base import list_records
from snapledger_client.models.batches import Batch, BatchPlan
from snapledger_client.models.derived import DerivedPlan
from snapledger_client.models.plans import FreePlan, Plan
from snapledger_client.models.releases import Estimate, Histogram

ACCOUNT = ("epsilon_limit", "epsilon_spent", "epsilon_remaining")


@list_records.register
def list_estimate(release: Estimate) -> list[dict[str, Any]]:
    """Return one row; a mean of dates is there as dates."""
    lower, upper = release.interval_as_date or release.interval
    return [
        {
            "statistic": describe_statistic(release.statistic),
            "value": release.value_in_range if release.value_as_date is None else release.value_as_date,
            "lower": lower,
            "upper": upper,
            "alpha": release.accuracy.alpha,
            "epsilon": release.privacy.epsilon,
            "charged": release.budget.charged,
        }
    ]


@list_records.register
def list_histogram(release: Histogram) -> list[dict[str, Any]]:
    """Return a row for each bin."""
    return [
        {"bin": label, "value": value, "lower": lower, "upper": upper}
        for label, value, (lower, upper) in zip(release.labels, release.value_in_range, release.interval, strict=True)
    ]


@list_records.register
def list_batch(batch: Batch) -> list[dict[str, Any]]:
    """Return a row for each number of each release, which `item` counts from 0."""
    rows = []
    for item, release in enumerate(batch.items):
        paid = {"epsilon": release.privacy.epsilon, "charged": release.budget.charged}
        for each in list_records(release):
            row = {"item": item, "statistic": describe_statistic(release.statistic), "bin": None} | each
            rows.append(row | {"alpha": release.accuracy.alpha} | paid)
    return rows


@list_records.register
def list_batch_plan(plan: BatchPlan) -> list[dict[str, Any]]:
    """Return a row for each item."""
    return [
        {
            "statistic": describe_statistic(each.statistic),
            "radius": each.accuracy.radius,
            "alpha": each.accuracy.alpha,
            "epsilon": each.privacy.epsilon,
            "charged": each.charged,
            "reused": each.reused,
        }
        for each in plan.items
    ]


@list_records.register
def list_derived_plan(plan: DerivedPlan) -> list[dict[str, Any]]:
    """Return a row for each component."""
    return [
        {
            "component": each.role,
            "statistic": describe_statistic(each.statistic),
            "radius": each.accuracy.radius,
            "charged": each.charged,
            "reused": each.reused,
        }
        for each in plan.components
    ]


@list_records.register
def list_plan(plan: FreePlan) -> list[dict[str, Any]]:
    """Return a row for each point of the curve, or one row of a plan without a curve."""
    if plan.curve is not None:
        return [point.model_dump(exclude_unset=True) for point in plan.curve]
    row = {
        "statistic": describe_statistic(plan.statistic),
        "radius": plan.accuracy.radius,
        "alpha": plan.accuracy.alpha,
        "epsilon": plan.privacy.epsilon,
    }
    return [row | ({"charged": plan.budget.charged} if isinstance(plan, Plan) else {})]


@list_records.register
def list_budget(budget: Budget) -> list[dict[str, Any]]:
    """Return a row for each account that the caller may see."""
    accounts = [("dataset", budget.model_dump(include=set(ACCOUNT)))]
    if budget.allowance is not None:
        accounts.append(("allowance", budget.allowance.model_dump(include=set(ACCOUNT))))
    accounts += [(each.principal or "", each.model_dump(include=set(ACCOUNT))) for each in budget.allowances or ()]
    return [{"account": name} | amounts for name, amounts in accounts]


@list_records.register
def list_me(me: Me) -> list[dict[str, Any]]:
    """Return a row for each dataset that the caller may spend on."""
    return [{"dataset": each.dataset} | each.model_dump(include=set(ACCOUNT)) for each in me.allowances]


@list_records.register
def list_facts(facts: DatasetFacts) -> list[dict[str, Any]]:
    """Return a row for each column."""
    return [{"column": name} | column for name, column in facts.columns.items()]


@list_records.register
def list_draft(draft: Draft) -> list[dict[str, Any]]:
    """Return a row for each drafted column."""
    return [{"column": name} | column for name, column in draft.metadata.get("columns", {}).items()]


@list_records.register
def list_verification(verification: Verification) -> list[dict[str, Any]]:
    """Return a row for each problem."""
    return [{"seq": each.seq, "what": each.what} for each in verification.problems]
