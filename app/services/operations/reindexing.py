"""Computes the codes and the prepared sums of datasets again, for the operator; the service may be running."""

from collections.abc import Iterator, Sequence

from app.config import Settings
from app.db.database import Database
from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset
from app.engines.errors import EngineFailure
from app.engines.storage.tables import Tables
from app.errors import UnavailableError
from app.services.operations import databases, offline_ledger
from app.services.planning.columns import decode_columns

_PAGE = 100


def reindex(settings: Settings, names: Sequence[str]) -> Iterator[Dataset]:
    """Reindex the named datasets, or all whose data the service has, and yield each when it is done.

    Raises:
        ValueError: there is no such dataset, its data is deleted or stays in its database, or the ledger cannot be
            opened.
        UnavailableError: the database does not answer, a table cannot be read or written, or it is being reindexed.
    """
    with offline_ledger.open_database(settings) as database:
        chosen = [*_choose(database, names)]
        tables = Tables(settings.data_dir)
        try:
            for dataset in chosen:
                file_id = dataset.file_id
                if file_id is None:
                    continue
                columns = [*decode_columns(dataset.columns).values()]
                try:
                    tables.reindex(file_id, columns, lambda known: databases.is_registered(database, known))
                except EngineFailure as error:
                    raise UnavailableError from error
                yield dataset
        finally:
            tables.close()


def _choose(database: Database, names: Sequence[str]) -> Iterator[Dataset]:
    with database.read() as session:
        for name in names:
            found = datasets.find_dataset(session, name)
            if found is None:
                raise ValueError(f"there is no dataset {name}")
            if not _is_stored(found):
                raise ValueError(f"the service has no data of {name}: they are deleted, or stay in their database")
            yield found
        page = [] if names else datasets.page_of_datasets(session, None, _PAGE, None)
        while page:
            yield from filter(_is_stored, page)
            page = datasets.page_of_datasets(session, page[-1].name, _PAGE, None)


def _is_stored(dataset: Dataset) -> bool:
    return dataset.file_id is not None and Tables.is_stored(dataset.file_id)
