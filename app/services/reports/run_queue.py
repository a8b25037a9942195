"""Queues the runs of reports when a dataset succeeds another, and wakes this process's worker."""

from threading import Event
from typing import Final

from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import Principal
from app.db.session import WriteSession
from app.ledger import accounts, allowances, report_runs, reports
from app.ledger.units import MAX_EPSILON_NANO, epsilon_text
from app.services import audit_records
from app.services.context import Services

QUEUED: Final = Event()
"""Set when a run may have been queued by this process, so that it does not wait for the worker's next look."""


def lock_predecessor(transaction: WriteSession, name: str | None) -> Dataset | None:
    """Return a predecessor by its name, with its account and reports locked, before a registration records anything.

    All others lock them in this order, and record last.
    """
    predecessor = None if name is None else datasets.find_dataset(transaction, name)
    if predecessor is not None:
        accounts.lock_account(transaction, predecessor.id)
        reports.lock_reports(transaction, predecessor.id)
    return predecessor


def queue_runs(
    services: Services, transaction: WriteSession, owner: Principal, predecessor: Dataset, dataset: Dataset
) -> None:
    """Queue the reports of the predecessor, and let the owner's own spend what their budgets say for one run.

    `lock_predecessor` has locked them. Those of others wait until the owner grants an allowance. Set `QUEUED` after
    the commit.
    """
    keyring, path = services.keyring, audit_records.dataset_path(dataset.name)
    moved = report_runs.move_reports(transaction, keyring, predecessor.id, dataset.id, dataset.created_at)
    own_nano = sum(min(each.run_limit_nano, each.remaining_nano) for each in moved if each.principal_id == owner.id)
    if own_nano:
        own_nano = min(own_nano, MAX_EPSILON_NANO)
        allowances.grant_allowance(transaction, keyring.seal, dataset.id, owner, own_nano, dataset.created_at)
        told = {"epsilon_limit": epsilon_text(own_nano), "window_days": None}
        audit_records.record(
            transaction, keyring.seal, owner, "allowance.grant", f"{path}/allowances/{owner.name}", **told
        )
    for each in moved:
        audit_records.record(
            transaction, keyring.seal, owner, "report.move", f"{path}/reports/{each.name}", succeeds=predecessor.name
        )
