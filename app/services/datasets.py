"""Tables: registered once, described by public facts, deleted for good."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from app.db import datasets
from app.db.clock import now
from app.db.datasets import Dataset, Successor
from app.db.principals import Principal
from app.db.session import ReadSession
from app.engines.errors import EngineFailure, InvalidFile
from app.errors import DatasetClosedError, InvalidRequestError, NameTakenError, UnavailableError
from app.ledger import accounts
from app.services import access, columns
from app.services.access import Access, Role
from app.services.context import Services
from app.services.documents import Document

SAME_PEOPLE = (
    "Another dataset has data of the same people. Each has a budget of its own, and for a person who is in both the "
    "spendings add up."
)


@dataclass(frozen=True, slots=True)
class Registration:
    """What an owner says of a table."""

    name: str
    description: str
    epsilon_limit_nano: int
    rows_per_unit: int
    columns: Mapping[str, Mapping[str, Any]]
    null_values: Sequence[str]
    succeeds: str | None


def require_owner(services: Services, digest: bytes) -> Principal:
    """The caller, if it may register a dataset."""
    principal = access.authenticate(services.database, digest)
    access.require(principal, Role.OWNER, Role.ADMIN)
    return principal


def register(services: Services, owner: Principal, registration: Registration, upload: BinaryIO) -> Dataset:
    """Take a table in and open its account.

    Raises:
        NameTakenError: the name was given before.
        InvalidRequestError: the columns make no sense, the file does not hold what they say, or it succeeds a dataset
            that its owner does not rule.
    """
    declared = columns.stored(registration.columns)
    columns.check(declared)
    with services.database.read() as session:
        if datasets.by_name(session, registration.name) is not None:
            raise NameTakenError
        _require_predecessor(session, owner, registration.succeeds)
    try:
        ingested = services.tables.ingest(upload, list(columns.of(declared).values()), registration.null_values)
    except InvalidFile as error:
        raise InvalidRequestError(*error.problems) from None
    except EngineFailure as error:
        raise UnavailableError from error
    outcome_known = True
    try:
        with services.database.write() as transaction:
            dataset = datasets.insert(
                transaction,
                name=registration.name,
                description=registration.description,
                owner_id=owner.id,
                columns=declared,
                n=ingested.n,
                rows_per_unit=registration.rows_per_unit,
                created_at=now(),
                file_id=ingested.file_id,
                succeeds=registration.succeeds,
            )
            seal, limit_nano = services.keyring.seal, registration.epsilon_limit_nano
            accounts.open_account(transaction, seal, dataset.id, limit_nano, owner.name, dataset.created_at)
            outcome_known = False
            transaction.commit()
    except Exception:
        if outcome_known:  # otherwise the dataset may be there, and lack its file for ever
            services.tables.drop(ingested.file_id)
        raise
    return dataset


def _require_predecessor(session: ReadSession, owner: Principal, name: str | None) -> None:
    """Refuse to succeed what the owner does not rule; that stays so, since owners and names never change."""
    if name is None:
        return
    predecessor = datasets.by_name(session, name)
    if predecessor is None or not Access(owner, predecessor, None).rules:
        raise InvalidRequestError(("succeeds", "names no dataset of yours"))


def close(services: Services, entered: Access) -> None:
    """Delete the data and the sums; the ledger and the releases stay, and the name is never free again.

    Raises:
        DatasetClosedError: it is closed already.
    """
    entered.require_rule()
    with services.database.write() as transaction:
        account = accounts.lock(transaction, entered.dataset.id)
        if not datasets.close(transaction, entered.dataset.id):
            raise DatasetClosedError
        accounts.close(transaction, services.keyring.seal, account, entered.principal.name, now())
        transaction.commit()
    if entered.dataset.file_id is not None:
        services.tables.drop(entered.dataset.file_id)


def listed(services: Services, digest: bytes, after: str | None, limit: int) -> list[Document]:
    """The datasets that the caller may see, oldest first."""
    with services.database.read() as session:
        viewer = access.viewer(access.principal_of(session, digest))
        return _documents(session, datasets.page(session, after, limit, viewer), viewer)


def described(services: Services, entered: Access) -> Document:
    """The public facts of one dataset."""
    with services.database.read() as session:
        return _documents(session, [entered.dataset], access.viewer(entered.principal))[0]


def _documents(session: ReadSession, shown: Sequence[Dataset], viewer: int | None) -> list[Document]:
    """The public facts of datasets that are in the order of their ids. A successor is named to whom may see it."""
    if not shown:
        return []
    successors: dict[str, list[Successor]] = {}
    for successor in datasets.successors(session, shown[0].id, shown[-1].id, viewer):
        successors.setdefault(successor.succeeds, []).append(successor)
    return [document(dataset, successors.get(dataset.name, ())) for dataset in shown]


def document(dataset: Dataset, successors: Sequence[Successor] = ()) -> Document:
    """The public facts of a dataset; none is computed from its values but `n`."""
    return {
        "name": dataset.name,
        "description": dataset.description,
        "n": dataset.n,
        "columns": columns.shown(dataset.columns),
        "neighbours": "replace_one",
        "rows_per_unit": dataset.rows_per_unit,
        "created_at": dataset.created_at,
        "state": dataset.state,
        "succeeds": dataset.succeeds,
        "succeeded_by": [successor.name for successor in successors if successor.seen],
        "warning": SAME_PEOPLE if dataset.succeeds is not None or successors else None,
    }
