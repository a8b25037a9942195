"""Describes datasets by their public facts."""

import json
from collections.abc import Sequence

from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset, Successor
from app.db.repositories.principals import Principal
from app.db.session import ReadSession
from app.services import access
from app.services.access import Access, Credential, manages
from app.services.context import Services
from app.services.planning import columns
from app.services.rendering.documents import Document

SAME_PEOPLE = (
    "Another dataset has data of the same people. Each has a budget of its own, and for a person who is in both the "
    "spendings add up."
)


def list_datasets(
    services: Services, credential: Credential, after: str | None, limit: int, *, newest: bool
) -> list[Document]:
    """Return a page of the datasets that the caller may see, oldest or newest first."""
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        page = datasets.page_of_datasets(session, after, limit, access.get_dataset_filter(principal), newest=newest)
        return describe_datasets(session, page, principal)


def describe_dataset(services: Services, entered: Access) -> Document:
    """Return the public facts of one dataset."""
    with services.database.read() as session:
        return describe_datasets(session, [entered.dataset], entered.principal)[0]


def describe_datasets(session: ReadSession, shown: Sequence[Dataset], principal: Principal) -> list[Document]:
    """Return the public facts of datasets, which must be in the order of their ids or in the opposite one.

    Predecessors and successors that the principal may not see are not named.
    """
    if not shown:
        return []
    viewer = access.get_dataset_filter(principal)
    first_id, last_id = sorted((shown[0].id, shown[-1].id))
    predecessors = datasets.list_predecessors(session, first_id, last_id, viewer)
    successors: dict[str, list[Successor]] = {}
    for successor in datasets.list_successors(session, first_id, last_id, viewer):
        successors.setdefault(successor.succeeds, []).append(successor)
    documents = []
    for dataset in shown:
        document = dataset_document(dataset, successors.get(dataset.name, ()), owned=manages(principal, dataset))
        documents.append(document if dataset.succeeds in predecessors else document | {"succeeds": None})
    return documents


def dataset_document(dataset: Dataset, successors: Sequence[Successor] = (), *, owned: bool) -> Document:
    """Return a dataset's public facts. Only `n` is computed from the data. The owner also sees the source."""
    facts = {
        "name": dataset.name,
        "description": dataset.description,
        "n": dataset.n,
        "columns": columns.columns_document(dataset.columns),
        "neighbours": "replace_one",
        "rows_per_unit": dataset.rows_per_unit,
        "created_at": dataset.created_at,
        "state": dataset.state,
        "succeeds": dataset.succeeds,
        "succeeded_by": [successor.name for successor in successors if successor.seen],
        "warning": SAME_PEOPLE if dataset.succeeds is not None or successors else None,
    }
    return facts | {"source": dataset.source and json.loads(dataset.source)} if owned else facts
