"""Computes the exact sums of a dataset, and translates engine failures into the errors of the interface."""

from collections.abc import Iterable

from app.db.clock import now
from app.db.repositories.datasets import Dataset
from app.dp.table.sums import Answer, Needs
from app.engines.errors import EngineFailure, StaleTable
from app.errors import DatasetClosedError, DatasetStaleError, UnavailableError
from app.ledger import dataset_states
from app.services.context import Services


def require_open(dataset: Dataset) -> None:
    """Refuse a dataset whose data cannot be queried.

    Raises:
        DatasetClosedError: the dataset is deleted.
        DatasetStaleError: the live table is not the one that was registered.
    """
    if dataset.closed:
        raise DatasetClosedError
    if dataset.stale:
        raise DatasetStaleError


def are_cached(services: Services, dataset: Dataset, needs: Needs) -> bool:
    """Return whether `compute_exact_sums` can answer from the cache."""
    return dataset.file_id is not None and services.tables.are_known(dataset.file_id, needs)


def compute_exact_sums(services: Services, dataset: Dataset, needs: Iterable[Needs]) -> dict[Needs, Answer]:
    """Return the exact integers that statistics need of a dataset, with as few scans as possible.

    Raises:
        DatasetClosedError: the dataset is deleted.
        DatasetStaleError: the live table is no longer the one that was registered. The dataset is marked
            stale and refuses every new question until its owner acts. This is the only refusal that depends on more
            than public facts, and it never tells the number of rows.
        UnavailableError: the engine is busy, cannot be reached, or failed.
    """
    if dataset.file_id is None:
        raise DatasetClosedError
    try:
        return services.tables.all_sums(dataset.file_id, needs)
    except EngineFailure as error:
        raise UnavailableError from error
    except StaleTable:
        with services.database.write() as transaction:
            dataset_states.mark(transaction, services.keyring, dataset.id, now(), stale=True)
            transaction.commit()
    raise DatasetStaleError
