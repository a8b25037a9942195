"""From a dataset to exact sums. What an engine cannot answer becomes one of the interface's refusals here."""

from collections.abc import Iterable

from app.db.clock import now
from app.db.repositories.datasets import Dataset
from app.dp.table.sums import Answer, Needs
from app.engines.errors import EngineFailure, StaleTable
from app.errors import DatasetClosedError, DatasetStaleError, UnavailableError
from app.ledger import dataset_states
from app.services.context import Services


def require_open(dataset: Dataset) -> None:
    """Refuse a dataset whose data cannot be asked.

    Raises:
        DatasetClosedError: it is deleted.
        DatasetStaleError: its live table is not the one that was registered.
    """
    if dataset.closed:
        raise DatasetClosedError
    if dataset.stale:
        raise DatasetStaleError


def are_cached(services: Services, dataset: Dataset, needs: Needs) -> bool:
    """Whether `compute_exact_sums` would answer at once."""
    return dataset.file_id is not None and services.tables.are_known(dataset.file_id, needs)


def compute_exact_sums(services: Services, dataset: Dataset, needs: Iterable[Needs]) -> dict[Needs, Answer]:
    """The exact integers that statistics need of a dataset, by as few scans as can be.

    Raises:
        DatasetClosedError: there is no data any more.
        DatasetStaleError: the live table has another number of rows than was registered. From then on nobody is
            answered until its owner acts: the one refusal that depends on more than public facts, and it never tells
            the number.
        UnavailableError: the engine is busy, away or failed.
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
