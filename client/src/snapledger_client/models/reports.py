"""Answers about reports: batches that are released and published when a dataset succeeds another."""

from typing import Any

from snapledger_client.models.base import Answer, Exact, TaggedAnswer, Time
from snapledger_client.models.batches import PlannedItem


class Report(TaggedAnswer):
    """A report and its budget. Only a report that is read has its `batch`, its `figures` and an `etag`.

    Examples:
        >>> questions = [item(mean("body_mass_g"), epsilon="0.2")]
        >>> figures = [{"figure": "mass", "title": "Body mass"}]
        >>> report = penguins.define_report("weekly", questions, figures, epsilon_per_run="0.2", epsilon_total=2)
        >>> report.epsilon_remaining
        Decimal('2')
        >>> penguins.withdraw_report("weekly")
    """

    dataset: str
    report: str
    principal: str
    epsilon_per_run: Exact
    epsilon_total: Exact
    epsilon_spent: Exact
    epsilon_remaining: Exact
    changed_at: Time
    batch: dict[str, Any] | None = None
    figures: tuple[dict[str, Any], ...] | None = None


class ReportPlan(Answer):
    """What a run of a report would cost and promise on a dataset with the public facts of this one.

    Examples:
        >>> questions = [item(mean("body_mass_g"), epsilon="0.2")]
        >>> figures = [{"figure": "mass", "title": "Body mass"}]
        >>> _ = penguins.define_report("daily", questions, figures, epsilon_per_run="0.2", epsilon_total=2)
        >>> plan = penguins.plan_report("daily")
        >>> plan.epsilon, plan.runs
        (Decimal('0.2'), 10)
        >>> penguins.withdraw_report("daily")
    """

    dataset: str
    report: str
    epsilon: Exact
    runs: int
    epsilon_remaining: Exact
    summary: str
    items: tuple[PlannedItem, ...]


class ReportRun(Answer):
    """What a report did, or is to do, on one dataset.

    Its `state` is pending, released (debited, and to be published), done, or refused (nothing was debited, and
    `problem` says why).

    Examples:
        >>> questions = [item(mean("body_mass_g"), epsilon="0.2")]
        >>> figures = [{"figure": "mass", "title": "Body mass"}]
        >>> _ = penguins.define_report("rarely", questions, figures, epsilon_per_run="0.2", epsilon_total=2)
        >>> list(penguins.report_runs("rarely"))  # none before the dataset is succeeded
        []
        >>> penguins.withdraw_report("rarely")
    """

    report: str
    number: int
    dataset: str | None
    state: str
    principal: str | None
    queued_at: Time
    ended_at: Time | None
    charged: Exact
    releases: tuple[str, ...]
    figures: tuple[str, ...]
    problem: dict[str, Any] | None
