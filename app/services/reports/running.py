"""Carries out the runs of reports: releases each batch as anybody would, and publishes its figures.

A run is released by the ordinary flow. Its state changes in the transaction that debits, under the lock of its report,
so that however often a process dies and however many try at once, it is debited once or not at all. Nothing that a run
tells depends on the data: it is refused only for what a plan would be refused for.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from app import metrics
from app.db.clock import now
from app.db.repositories import principals
from app.db.session import WriteSession
from app.errors import (
    BudgetExhaustedError,
    DatasetClosedError,
    ForbiddenError,
    NotFoundError,
    SnapledgerError,
    UnavailableError,
)
from app.json_text import encode_json
from app.ledger import report_runs, reports
from app.ledger.chain.audit_log import Detail
from app.ledger.chain.keyring import Seal
from app.ledger.report_runs import Run
from app.ledger.reports import Report
from app.ledger.units import epsilon_text
from app.services import access, audit_records
from app.services.access import Access
from app.services.context import Services
from app.services.figures import publishing
from app.services.figures.publishing import Publication
from app.services.releasing import batches
from app.services.releasing.replays import IdempotencyKey
from app.services.rendering.documents import Document
from app.services.rendering.release_answers import SettledRelease
from app.services.reports.defining import report_path
from app.services.reports.definition import (
    Definition,
    ReadDefinition,
    plan_run,
    read_publications,
)

log = structlog.stdlib.get_logger("snapledger.reports")


@dataclass(frozen=True, slots=True)
class Interface:
    """What a run needs of the interface: how requests are read there, and how errors are described."""

    read_definition: ReadDefinition
    describe_problem: Callable[[SnapledgerError], Document]


def carry_out(services: Services, interface: Interface, report_id: int, number: int) -> None:
    """Release a pending run, and publish it. A run that somebody else has ended meanwhile is left as it is.

    Raises:
        UnavailableError: the database or the engine did not answer, or the report was changed meanwhile: the run is
            still to be done.
        SealBrokenError: the run or its report is not what was sealed.
    """
    with services.database.read() as session:
        run = report_runs.find_run(session, services.keyring, report_id, number)
        report = reports.read_report(session, services.keyring, report_id)
    if run is not None and run.state == "pending":
        run = _attempt(services, interface, report, run, partial(_release, services, interface, report, run))
    if run is not None and run.state == "released" and run.problem is None:
        _attempt(services, interface, report, run, partial(_publish, services, interface, report, run))


def _attempt(
    services: Services, interface: Interface, report: Report, run: Run, step: Callable[[], None]
) -> Run | None:
    """Take a step of a run, or note why it is refused; return the run as it is then."""
    try:
        step()
    except UnavailableError:
        raise
    except SnapledgerError as error:
        problem = encode_json(interface.describe_problem(error)).decode()
        _end(services, report, run, problem)
    with services.database.read() as session:
        return report_runs.find_run(session, services.keyring, report.id, run.number)


def _release(services: Services, interface: Interface, report: Report, run: Run) -> None:
    if report.withdrawn_at is not None:
        raise NotFoundError("the report was withdrawn")
    # No caller can send this key: those of requests are ASCII.
    text = f"§ report {report.id} on {run.dataset_id}"
    key = IdempotencyKey(text, hashlib.sha256(text.encode()).digest())
    with services.database.read_without_transaction() as session:
        entered = access.enter_for(session, report.principal_id, run.dataset, key.text)
    if not entered.oversees:  # who does not see the dataset is told nothing that its facts decide
        _require_allowance(report, entered)
    if entered.dataset.closed:
        raise DatasetClosedError
    definition = interface.read_definition(report.definition)
    _require_budget(report, plan_run(services, entered.dataset, definition).cost_nano)
    _require_allowance(report, entered)
    names = [each.figure for each in definition.figures]
    publishing.require_publishable(services, entered, names, public=definition.is_public)
    settle = partial(_settle, services, report, run, entered, definition)
    batches.release_batch(services, entered, definition.batch, key, on_settled=settle)


def _require_allowance(report: Report, entered: Access) -> None:
    if entered.allowance is None:
        raise ForbiddenError(f"{report.principal} has no allowance on this dataset: its owner can grant one.")


def _require_budget(report: Report, cost_nano: int) -> None:
    """Check that a run's cost is within the report's budget.

    Raises:
        BudgetExhaustedError: it is more than one run may cost, or than is left for all runs.
    """
    if cost_nano > report.run_limit_nano:
        raise BudgetExhaustedError("report", cost_nano, report.run_limit_nano, report.run_limit_nano)
    if cost_nano > report.remaining_nano:
        raise BudgetExhaustedError("report", cost_nano, report.remaining_nano, report.total_limit_nano)


def _settle(  # noqa: PLR0913, PLR0917 - what was read before, and what is released now
    services: Services,
    before: Report,
    run: Run,
    entered: Access,
    definition: Definition,
    transaction: WriteSession,
    releases: Sequence[SettledRelease],
) -> None:
    """Note in the transaction that debits that the run is released, if it is still pending and its report unchanged.

    It is recorded as an act there too, so that the run cannot be put back to pending before it is published.
    """
    report = reports.lock_report_of_run(transaction, services.keyring, before.id)
    present = report_runs.find_run(transaction, services.keyring, report.id, run.number)
    if present is None or present.state != "pending" or _terms(report) != _terms(before):
        raise UnavailableError("the run has ended, or its report was changed meanwhile")
    charged_nano = sum(each.charged_nano for each in releases)
    _require_budget(report, charged_nano)
    seal = services.keyring.seal
    reports.save_report(transaction, seal, report._replace(spent_nano=report.spent_nano + charged_nano))
    released = present._replace(
        state="released",
        principal=entered.principal.name,
        figures=definition.text,
        charged_nano=charged_nano,
        release_ids=json.dumps([each.release.release_id for each in releases]),
    )
    report_runs.save_run(transaction, seal, released)
    _record(transaction, seal, report, released)


def _terms(report: Report) -> tuple[object, ...]:
    """Return what a release must not be made without: whose name, which questions, which budget, and in force.

    And when it was defined: it may have been withdrawn and defined again, while others changed what it depends on.
    """
    limits = report.run_limit_nano, report.total_limit_nano
    return report.principal_id, report.definition, *limits, report.withdrawn_at, report.changed_at


def _publish(services: Services, interface: Interface, report: Report, run: Run) -> None:
    assert run.figures is not None  # noqa: S101 - a released run has them
    assert run.release_ids is not None  # noqa: S101
    assert run.principal is not None  # noqa: S101
    with services.database.read_without_transaction() as session:
        principal = principals.find_by_name(session, run.principal)
        principal_id = report.principal_id if principal is None else principal.id
        entered = access.enter_for(session, principal_id, run.dataset, "")
    release_ids = json.loads(run.release_ids)
    for figure, source in read_publications(run.figures, release_ids, interface.read_definition):
        publication = Publication(source, figure.title, figure.note, figure.audience)
        publishing.publish_figure(services, entered, figure.figure, publication)
    _end(services, report, run, None)


def _end(services: Services, before: Report, run: Run, problem: str | None) -> None:
    """Note that a run is done, or the problem for which it is refused or not published. It is recorded as an act.

    A problem is noted only if neither the run nor the report's terms have changed since they were read.
    """
    with services.database.write() as transaction:
        report = reports.lock_report_of_run(transaction, services.keyring, before.id)
        present = report_runs.find_run(transaction, services.keyring, report.id, run.number)
        if present is None or present.state != run.state or present.problem is not None:
            return
        if problem is not None and (present != run or _terms(report) != _terms(before)):
            return  # what it was refused for may have changed: it is tried again
        if problem is None:
            ended = present._replace(state="done", ended_at=now())
        elif present.state == "pending":
            ended = present._replace(state="refused", ended_at=now(), problem=problem)
        else:
            ended = present._replace(problem=problem)
        seal = services.keyring.seal
        report_runs.save_run(transaction, seal, ended)
        told = _record(transaction, seal, report, ended)
        transaction.commit()
    metrics.REPORT_RUNS.labels(ended.state).inc()
    log.info("report", report=report.name, dataset=run.dataset, **told)


def _record(transaction: WriteSession, seal: Seal, report: Report, run: Run) -> dict[str, Detail]:
    """Record what has become of a run, as the last of its transaction, and return it."""
    slug = None if run.problem is None else json.loads(run.problem)["type"].rpartition("/")[2]
    told: dict[str, Detail] = {"charged": epsilon_text(run.charged_nano), "state": run.state, "problem": slug}
    path = report_path(run.dataset, report.name)
    audit_records.record(transaction, seal, audit_records.SERVICE, "report.run", path, run=run.number, **told)
    return told


def list_unfinished(services: Services, after: tuple[int, int], limit: int) -> list[Run]:
    """Return at most `limit` runs that are to be released or published, that follow the report and number `after`."""
    with services.database.read() as session:
        return report_runs.list_unfinished(session, after, limit)
