"""The calls of the API about reports and their runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from snapledger_client.calls import Call, Match, Pages, _list_pages, _make_body, _make_path, _read_nothing
from snapledger_client.models.reports import Report, ReportPlan, ReportRun
from snapledger_client.numbers import Number, decimal_text


def report_figure(
    figure: str, title: str, *, items: Sequence[int] | None = None, note: str | None = None, public: bool = False
) -> dict[str, Any]:
    """A figure of a report: each run publishes some of its releases under this name, or all.

    Args:
        figure: the figure's name, the same on each dataset.
        title: what it shows.
        items: the positions of the report's items that it shows, from 0; all by default.
        note: what readers should know.
        public: let everybody read it who reaches the service, without a key; for owners.

    Examples:
        >>> from snapledger_client import report_figure
        >>> report_figure("body-mass", "Body mass", items=[0])
        {'figure': 'body-mass', 'title': 'Body mass', 'items': [0]}
    """
    members = {"figure": figure, "title": title, "items": None if items is None else list(items), "note": note}
    shown = {name: member for name, member in members.items() if member is not None}
    return shown | ({"audience": "public", "confirm_public": True} if public else {})


def list_reports(dataset: str) -> Pages[Report]:
    """List the reports at a dataset."""
    return _list_pages(_make_path("datasets", dataset, "reports"), "reports", Report.model_validate)


def get_report(dataset: str, report: str) -> Call[Report]:
    """Get a report with its batch and figures."""
    return Call("GET", _make_path("datasets", dataset, "reports", report), Report.parse)


def define_report(  # noqa: PLR0913, PLR0917 - the members of the request
    dataset: str,
    report: str,
    items: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    figures: Sequence[Mapping[str, Any]],
    epsilon_per_run: Number,
    epsilon_total: Number,
    if_match: Match | None,
    *,
    only_new: bool,
) -> Call[Report]:
    """Define or change a report; the same again changes nothing."""
    limits = {"epsilon_per_run": decimal_text(epsilon_per_run), "epsilon_total": decimal_text(epsilon_total)}
    body = {"batch": _make_body(options, items=list(items)), "figures": [dict(each) for each in figures], **limits}
    call = Call("PUT", _make_path("datasets", dataset, "reports", report), Report.parse)
    return call.with_json(body).only_if(if_match).only_if_new(only_new)


def withdraw_report(dataset: str, report: str, if_match: Match | None) -> Call[None]:
    """Withdraw a report: it has no further runs."""
    path = _make_path("datasets", dataset, "reports", report)
    return Call("DELETE", path, _read_nothing, repeatable=False).only_if(if_match)


def plan_report(dataset: str, report: str) -> Call[ReportPlan]:
    """Get what a run would cost and promise, and how many the budget covers."""
    return Call("POST", _make_path("datasets", dataset, "reports", report, "plan"), ReportPlan.parse)


def list_report_runs(dataset: str, report: str, *, newest: bool = False) -> Pages[ReportRun]:
    """List the runs of a report."""
    path = _make_path("datasets", dataset, "reports", report, "runs")
    return _list_pages(path, "runs", ReportRun.model_validate, newest=newest)


def retry_report(dataset: str, report: str) -> Call[ReportRun]:
    """Try the run on a dataset again, if it was refused or could not be published."""
    return Call("POST", _make_path("datasets", dataset, "reports", report, "runs"), ReportRun.parse)
