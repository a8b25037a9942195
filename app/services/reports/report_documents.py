"""Describes reports, their runs, and what a run would cost."""

import json
from typing import TypeGuard

from app.db.repositories import datasets
from app.db.session import Session
from app.errors import NotFoundError
from app.json_text import encode_json, join_object
from app.ledger import report_runs, reports
from app.ledger.chain import facts
from app.ledger.report_runs import Run
from app.ledger.reports import Report
from app.ledger.units import epsilon_text, format_rounded_epsilon
from app.services import access
from app.services.access import Access
from app.services.context import Services
from app.services.names import require_name
from app.services.releasing.batches import encode_item
from app.services.releasing.bulkhead import enter_if_many
from app.services.rendering.documents import Document
from app.services.reports.definition import ReadDefinition, list_published, plan_run, show_definition


def list_reports(services: Services, entered: Access, after: str | None, limit: int) -> list[Document]:
    """Return a page of the reports at a dataset, by name: all for those who oversee it, else the caller's own."""
    own = None if entered.oversees else entered.principal.id
    with services.database.read() as session:
        found = reports.page_of_reports(session, entered.dataset.id, after, limit, own)
    return [report_document(entered, each) for each in found]


def describe_report(services: Services, entered: Access, name: str) -> Document:
    """Return a report with its batch and figures.

    Raises:
        NotFoundError: there is no such report in force, or the caller may not see it.
        SealBrokenError: the report is not what was sealed.
    """
    return full_document(entered, _find_report(services, entered, name))


def plan_report(services: Services, entered: Access, name: str, read_definition: ReadDefinition) -> bytes:
    """Return the JSON of what a run would cost and promise on a dataset with this one's public facts.

    It reads no data, and debits nothing. Earlier releases are not counted on: a new dataset has none.

    Raises:
        NotFoundError: there is no such report in force, or the caller may not see it.
        InvalidRequestError: the batch is not valid here, since the dataset has other columns than the one before.
        SealBrokenError: the report or the dataset's facts are not what was sealed.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    report = _find_report(services, entered, name)
    definition = read_definition(report.definition)
    with enter_if_many(services.database, len(definition.batch.items), entered.principal.id):
        planned = plan_run(services, entered.dataset, definition)
        items = [encode_item(plan, None, charged) for plan, charged in zip(planned.plans, planned.charges, strict=True)]
    cost_nano = planned.cost_nano
    runs = report.remaining_nano // cost_nano if cost_nano <= report.run_limit_nano else 0
    told = {
        "dataset": entered.dataset.name,
        "report": report.name,
        "epsilon": epsilon_text(cost_nano),
        "runs": runs,
        "epsilon_remaining": epsilon_text(report.remaining_nano),
        "summary": _summarise(cost_nano, runs),
    }
    members = {member: encode_json(value) for member, value in told.items()}
    return join_object(members | {"items": b"[%b]" % b",".join(items)})


def _summarise(cost_nano: int, runs: int) -> str:
    cost = f"Each run would cost ε = {format_rounded_epsilon(cost_nano)}."
    if runs == 0:
        return f"{cost} The report's budget covers none: define it again with a higher limit."
    return f"{cost} The report's budget covers {runs:,} more {'run' if runs == 1 else 'runs'}."


def list_runs(  # noqa: PLR0913 - whose, and which page
    services: Services, entered: Access, name: str, after: int | None, limit: int, *, newest: bool
) -> list[Document]:
    """Return a page of a report's runs, oldest or newest first.

    Raises:
        NotFoundError: there is no such report in force, or the caller may not see it.
    """
    report = _find_report(services, entered, name)
    with services.database.read() as session:
        found = report_runs.page_of_runs(session, report.id, after, limit, newest=newest)
        return [run_document(report, each, is_named=_may_name(session, entered, each.dataset_id)) for each in found]


def _may_name(session: Session, entered: Access, dataset_id: int) -> bool:
    """Whether the caller sees another dataset of the series, and so may be told its name."""
    principal = entered.principal
    return access.sees_every_dataset(principal) or datasets.is_visible(session, dataset_id, principal.id)


def _find_report(services: Services, entered: Access, name: str) -> Report:
    with services.database.read() as session:
        found = reports.find_report(session, services.keyring, entered.dataset.id, require_name(name))
    return require_seen(found, entered)


def require_seen(report: Report | None, entered: Access) -> Report:
    """Return a report in force that the caller defined, or that is at a dataset that the caller oversees.

    Raises:
        NotFoundError: there is none.
    """
    if not is_seen(report, entered):
        raise NotFoundError("there is no such report here; it may have moved on to a dataset that succeeds this one")
    return report


def is_seen(report: Report | None, entered: Access) -> TypeGuard[Report]:
    """Whether it is a report in force that the caller defined, or that is at a dataset that the caller oversees."""
    if report is None or report.withdrawn_at is not None:
        return False
    return entered.oversees or report.principal_id == entered.principal.id


def report_document(entered: Access, report: Report) -> Document:
    """Return a report as JSON, without its batch and figures."""
    return {
        "dataset": entered.dataset.name,
        "report": report.name,
        "principal": report.principal,
        "epsilon_per_run": epsilon_text(report.run_limit_nano),
        "epsilon_total": epsilon_text(report.total_limit_nano),
        "epsilon_spent": epsilon_text(report.spent_nano),
        "epsilon_remaining": epsilon_text(report.remaining_nano),
        "changed_at": report.changed_at,
    }


def full_document(entered: Access, report: Report) -> Document:
    """Return a report as JSON, with its batch and figures."""
    return report_document(entered, report) | show_definition(report.definition)


def run_document(report: Report, run: Run, *, is_named: bool = True) -> Document:
    """Return a run as JSON, with the name of its dataset only if `is_named`."""
    published = [] if run.figures is None else list_published(run.figures)
    return {
        "report": report.name,
        "number": run.number,
        "dataset": run.dataset if is_named else None,
        "state": run.state,
        "principal": run.principal,
        "queued_at": run.queued_at,
        "ended_at": run.ended_at,
        "charged": epsilon_text(run.charged_nano),
        "releases": [] if run.release_ids is None else json.loads(run.release_ids),
        "figures": published,
        "problem": None if run.problem is None else json.loads(run.problem),
    }
