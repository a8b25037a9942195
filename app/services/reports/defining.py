"""Defines and withdraws reports, and tries their runs again."""

import hashlib

from app.db.clock import now
from app.db.session import WriteSession
from app.errors import ForbiddenError, InvalidRequestError, NotFoundError
from app.ledger import accounts, report_runs, reports
from app.ledger.chain import facts
from app.ledger.reports import Report
from app.ledger.units import epsilon_text
from app.services import audit_records
from app.services.access import Access
from app.services.context import Services
from app.services.figures import publishing
from app.services.names import require_name
from app.services.preconditions import Precondition
from app.services.releasing.bulkhead import enter_if_many
from app.services.rendering.documents import Document
from app.services.reports.definition import Terms, plan_run, require_affordable
from app.services.reports.report_documents import (
    full_document,
    is_seen,
    report_document,
    require_seen,
    run_document,
)
from app.services.reports.run_queue import QUEUED

MAX_REPORTS = 100
"""Of a dataset: each of them is run when it is succeeded."""

MAX_DEFINITION_CHARACTERS = 65_536
"""Of a report's batch and figures."""


def require_definer(entered: Access) -> None:
    """Allow those who may publish figures: the dataset's owner, admins, and analysts with an allowance.

    Raises:
        ForbiddenError: the principal is somebody else.
    """
    if not (entered.manages or entered.allowance):
        raise ForbiddenError("The dataset's owner, admins and analysts with an allowance define reports.")


def define_report(
    services: Services, entered: Access, name: str, terms: Terms, wanted: Precondition
) -> tuple[Document, bool]:
    """Define a report in the caller's name, or change it from its next run on. The same again changes nothing.

    Returns:
        The report, and whether there was none in force.

    Raises:
        ForbiddenError: the principal may not define reports, or this one is another analyst's, or a figure is public.
        InvalidRequestError: the batch is not valid here, or the budget covers no run or less than was spent.
        PreconditionFailedError, AlreadyExistsError: the report is not as `wanted`.
        SealBrokenError: the report or the dataset's facts are not what was sealed.
    """
    _check(services, entered, terms)
    principal, dataset, seal = entered.principal, entered.dataset, services.keyring.seal
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_account(transaction, dataset.id))
        before = reports.lock_report(transaction, services.keyring, dataset.id, require_name(name))
        wanted.require_document(full_document(entered, before) if is_seen(before, entered) else None)
        _require_own(entered, before)
        is_new = before is None or before.withdrawn_at is not None
        changed = _change(entered, name, before, terms)
        if is_new:
            _require_room(transaction, entered, before)
        if before is None:
            changed = reports.insert_report(transaction, seal, changed)
        elif changed._replace(changed_at=before.changed_at) == before:
            return report_document(entered, before), False
        else:
            changed = reports.save_report(transaction, seal, changed)
        audit_records.record(
            *(transaction, seal, principal, "report.define", report_path(dataset.name, name)),
            epsilon_per_run=epsilon_text(terms.run_limit_nano),
            epsilon_total=epsilon_text(terms.total_limit_nano),
            definition_sha256=hashlib.sha256(terms.definition.text.encode()).hexdigest(),
        )
        transaction.commit()
    return report_document(entered, changed), is_new


def _check(services: Services, entered: Access, terms: Terms) -> None:
    """Check what does not depend on what is stored of the report."""
    require_definer(entered)
    facts.require_match(services.keyring, entered.dataset, entered.account)
    definition = terms.definition
    if definition.is_public and not entered.manages:
        raise ForbiddenError(publishing.ONLY_MANAGERS)
    if len(definition.text) > MAX_DEFINITION_CHARACTERS:
        raise InvalidRequestError(("batch", f"has more than {MAX_DEFINITION_CHARACTERS:,} characters: make it shorter"))
    with enter_if_many(services.database, len(definition.batch.items), entered.principal.id):
        cost_nano = plan_run(services, entered.dataset, definition).cost_nano
    require_affordable(cost_nano, terms)


def _require_room(transaction: WriteSession, entered: Access, before: Report | None) -> None:
    """Check the limits: withdrawn reports count only for who made them, so that nobody uses up the names of others."""
    in_force, own = reports.count_reports(transaction, entered.dataset.id, entered.principal.id)
    if in_force >= MAX_REPORTS:
        raise InvalidRequestError(("report", f"would be one of more than {MAX_REPORTS} reports of this dataset"))
    if before is None and own >= MAX_REPORTS:
        what = f"would be one of more than {MAX_REPORTS} that you have defined here, with those that are withdrawn"
        raise InvalidRequestError(("report", f"{what}: define it under the name of one of these"))


def _require_own(entered: Access, before: Report | None) -> None:
    if before is not None and not entered.manages and before.principal_id != entered.principal.id:
        raise ForbiddenError("Only the principal that defined this report, the dataset's owner and admins change it.")


def _change(entered: Access, name: str, before: Report | None, terms: Terms) -> Report:
    """Return the report as it is to be."""
    dataset, principal = entered.dataset, entered.principal
    at, limits = now(), (terms.run_limit_nano, terms.total_limit_nano)
    if before is None:
        return Report(
            0, dataset.id, name, principal.id, terms.definition.text, *limits, 0, at, None, b"", principal.name
        )
    if terms.total_limit_nano < before.spent_nano:
        raise InvalidRequestError(("epsilon_total", "is less than the report's runs have spent"))
    return before._replace(
        principal_id=principal.id,
        principal=principal.name,
        definition=terms.definition.text,
        run_limit_nano=terms.run_limit_nano,
        total_limit_nano=terms.total_limit_nano,
        changed_at=at,
        withdrawn_at=None,
    )


def withdraw_report(services: Services, entered: Access, name: str, wanted: Precondition) -> None:
    """Withdraw a report: it has no further runs, and one that is pending is refused. It can be defined again.

    Raises:
        NotFoundError: there is no such report in force, or the caller may not see it.
        PreconditionFailedError: the report is not as `wanted`.
        SealBrokenError: the report is not what was sealed.
    """
    require_definer(entered)
    with services.database.write() as transaction:
        before = reports.lock_report(transaction, services.keyring, entered.dataset.id, require_name(name))
        report, seal = require_seen(before, entered), services.keyring.seal
        wanted.require_document(full_document(entered, report))
        reports.save_report(transaction, seal, report._replace(withdrawn_at=now()))
        path = report_path(entered.dataset.name, name)
        audit_records.record(transaction, seal, entered.principal, "report.withdraw", path)
        transaction.commit()


def retry_run(services: Services, entered: Access, name: str) -> Document:
    """Queue a report's run on this dataset again, unless it is done, also if it is just being refused; return it.

    Raises:
        NotFoundError: there is no such report in force, or it has no run on this dataset, or the caller may not see it.
        SealBrokenError: the report or the run is not what was sealed.
    """
    require_definer(entered)
    with services.database.write() as transaction:
        before = reports.lock_report(transaction, services.keyring, entered.dataset.id, require_name(name))
        report = require_seen(before, entered)
        run = report_runs.find_run_on(transaction, services.keyring, report.id, entered.dataset.id)
        if run is None:
            raise NotFoundError("the report has no run here: it runs on the next dataset that succeeds this one")
        if run.state == "done":
            return run_document(report, run)
        seal, path = services.keyring.seal, report_path(entered.dataset.name, name)
        run = report_runs.save_run(transaction, seal, report_runs.queue_again(run))
        audit_records.record(transaction, seal, entered.principal, "report.retry", path, run=run.number)
        transaction.commit()
    QUEUED.set()
    return run_document(report, run)


def report_path(dataset: str, name: str) -> str:
    """Return the path that identifies a report in the audit log."""
    return f"{audit_records.dataset_path(dataset)}/reports/{name}"
