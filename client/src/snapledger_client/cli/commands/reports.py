"""`snapledger report …`: batches that are released and published when a dataset succeeds another."""

import json
from functools import partial
from typing import Annotated, Any

import typer

from snapledger_client import Report, ReportPlan, ReportRun
from snapledger_client.cli import output
from snapledger_client.cli.options import IfMatchOf, OnlyNewOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, DatasetName, connect, fail

ReportName = Annotated[str, typer.Argument(help="The report's name, such as monthly.")]


def _show_list(reports: list[Report]) -> None:
    rows = [
        (each.dataset, each.report, each.principal, f"{each.epsilon_per_run:f}", f"{each.epsilon_remaining:f}")
        for each in reports
    ]
    output.print_table(("dataset", "report", "principal", "ε a run", "ε left"), rows, ("ε a run", "ε left"))


def list_reports(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the reports at a dataset: all for its owner, otherwise your own."""
    with connect() as client:
        found = list(client.dataset(dataset).reports())
    output.write_list(output_format, "reports", found, partial(_show_list, found), Report)


def show_report(dataset: DatasetName, report: ReportName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show a report with its figures and its budget."""
    with connect() as client:
        found = client.dataset(dataset).report(report)

    def show() -> None:
        output.print_line(
            f"{found.dataset}/{found.report} is released in the name of {found.principal}, for at most "
            f"ε {found.epsilon_per_run:f} a run; ε {found.epsilon_remaining:f} of {found.epsilon_total:f} is left."
        )
        output.print_table(("figure", "title"), [(each["figure"], each["title"]) for each in found.figures or ()], ())

    output.write(output_format, output.make_tagged(found), show)


def put_report(  # noqa: PLR0913 - what the report has
    dataset: DatasetName,
    report: ReportName,
    file: Annotated[
        typer.FileText,
        typer.Argument(help="The report as JSON: an object with `batch` and `figures`; - reads standard input."),
    ],
    *,
    per_run: Annotated[str | None, typer.Option(help="The most ε that one run may cost, if the file has none.")] = None,
    total: Annotated[str | None, typer.Option(help="The most ε that all runs may cost, if the file has none.")] = None,
    if_match: IfMatchOf = None,
    only_new: OnlyNewOf = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Define or change a report, to be released on each next dataset that succeeds this one. It costs nothing now."""
    asked = _parse_report(file.read())
    limits = {"epsilon_per_run": per_run, "epsilon_total": total}
    asked |= {name: limit for name, limit in limits.items() if limit is not None}
    if missing := [name for name in limits if name not in asked]:
        fail(f"the report has no `{missing[0]}`: give --{missing[0].removeprefix('epsilon_').replace('_', '-')}", USAGE)
    with connect() as client:
        try:
            found = client.dataset(dataset).define_report(report, if_match=if_match, only_new=only_new, **asked)
        except TypeError as error:  # the file has a member that a report does not have
            fail(str(error), USAGE)
    output.write(
        output_format,
        found.to_dict(),
        lambda: output.print_line(
            f"{found.dataset}/{found.report} is defined: ε {found.epsilon_remaining:f} is left for its runs."
        ),
    )


def _parse_report(text: str) -> dict[str, Any]:
    """Return the arguments of `define_report` from the body of its request."""
    try:
        document = json.loads(text, parse_float=str)  # keep each number as the decimal that was written
    except ValueError:
        fail("the report is not valid JSON", USAGE)
    batch = document.get("batch") if isinstance(document, dict) else None
    if not isinstance(batch, dict) or not isinstance(batch.get("items"), list) or "figures" not in document:
        fail("the report must be an object with `batch`, which has a list `items`, and `figures`", USAGE)
    return {name: member for name, member in document.items() if name != "batch"} | batch


def plan_report(dataset: DatasetName, report: ReportName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show what a run would cost and promise, and how many the budget covers: free, and without reading any data."""
    with connect() as client:
        found = client.dataset(dataset).plan_report(report)
    output.write(output_format, found.to_dict(), partial(_print_plan, found), [each.to_dict() for each in found.items])


def _print_plan(found: ReportPlan) -> None:
    for each in found.items:
        output.print_answer(each)
    output.print_line(found.summary)


def list_runs(dataset: DatasetName, report: ReportName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the runs of a report, on all datasets of its series, oldest first."""
    with connect() as client:
        found = list(client.dataset(dataset).report_runs(report))

    def show() -> None:
        rows = [
            (
                each.number,
                each.dataset or "(not yours)",
                f"{each.queued_at:%Y-%m-%d %H:%M}",
                each.state,
                f"{each.charged:f}",
                _why(each),
            )
            for each in found
        ]
        output.print_table(("run", "dataset", "queued", "state", "ε", "problem"), rows, ("run", "ε"))

    output.write_list(output_format, "runs", found, show, ReportRun)


def _why(run: ReportRun) -> str:
    return "" if run.problem is None else str(run.problem["detail"])


def retry(dataset: DatasetName, report: ReportName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Try a run on this dataset again that was refused, or that could not be published."""
    with connect() as client:
        found = client.dataset(dataset).retry_report(report)
    output.write(
        output_format,
        found.to_dict(),
        lambda: output.print_line(f"The run of {found.report} on {found.dataset} is {found.state}."),
    )


def delete(dataset: DatasetName, report: ReportName, *, if_match: IfMatchOf = None) -> None:
    """Withdraw a report: it has no further runs. What it has published stays."""
    with connect() as client:
        client.dataset(dataset).withdraw_report(report, if_match=if_match)
    output.print_line(f"{dataset}/{report} is withdrawn.")
