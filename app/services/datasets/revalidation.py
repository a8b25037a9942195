"""Checks live tables again, and opens their datasets or marks them stale."""

import json

from app.db.clock import now
from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset
from app.engines.errors import EngineFailure
from app.engines.ingest import Units
from app.engines.storage.connections import TableOrigin
from app.errors import DatasetClosedError, DatasetStaleError, UnavailableError
from app.ledger import dataset_states, report_runs
from app.services import audit_records
from app.services.access import Access
from app.services.context import Services
from app.services.datasets.dataset_facts import describe_datasets
from app.services.planning import columns
from app.services.rendering.documents import Document
from app.services.reports.run_queue import QUEUED


def revalidate_dataset(services: Services, entered: Access) -> Document:
    """Check a live table again and mark the dataset open if the table matches its registration, or stale if not.

    Raises:
        DatasetClosedError: the data is deleted.
        DatasetStaleError: the number of rows or the type of a column has changed, a column has missing values, or a
            unit has too many rows. The error does not say which.
        SealBrokenError: the dataset's facts do not match their seal.
        UnavailableError: the engine is busy, does not answer or failed.
    """
    entered.require_manager()
    if entered.dataset.file_id is None:
        raise DatasetClosedError
    try:
        stale = _is_stale(services, entered.dataset, entered.dataset.file_id)
    except EngineFailure as error:
        raise UnavailableError from error
    with services.database.write() as transaction:
        principal = entered.principal.name
        dataset_states.mark(transaction, services.keyring, entered.dataset.id, now(), stale=stale, principal=principal)
        if not stale:
            report_runs.queue_unfinished(transaction, services.keyring, entered.dataset.id)
        target, found = audit_records.dataset_path(entered.dataset.name), "stale" if stale else "open"
        audit_records.record(
            transaction, services.keyring.seal, entered.principal, "dataset.revalidate", target, state=found
        )
        transaction.commit()
    if stale:
        raise DatasetStaleError
    QUEUED.set()
    with services.database.read() as session:
        seen = datasets.find_dataset(session, entered.dataset.name) or entered.dataset
        return describe_datasets(session, [seen], entered.principal)[0]


def _is_stale(services: Services, dataset: Dataset, file_id: str) -> bool:
    """Whether a dataset's table is live and no longer matches its registration.

    Raises:
        EngineFailure: the engine is busy, does not answer or failed.
    """
    source = json.loads(dataset.source or "{}")
    origin = None
    if "connection" in source:
        origin = TableOrigin(source["connection"], source["table"], source["live"], source.get("prepare", False))
    unit = source.get("unit_column")
    units = None if unit is None else Units(unit, dataset.rows_per_unit)
    return services.tables.is_stale(file_id, origin, list(columns.decode_columns(dataset.columns).values()), units)
