"""Tables: registered once, described by public facts, deleted for good."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from app.db import datasets
from app.db.clock import now
from app.db.datasets import Dataset
from app.db.principals import Principal
from app.engines.errors import EngineFailure, InvalidFile
from app.errors import DatasetClosedError, InvalidRequestError, NameTakenError, UnavailableError
from app.ledger import accounts
from app.services import access, columns
from app.services.access import Access, Role
from app.services.context import Services
from app.services.documents import Document


@dataclass(frozen=True, slots=True)
class Registration:
    """What an owner says of a table."""

    name: str
    description: str
    epsilon_limit_nano: int
    rows_per_unit: int
    columns: Mapping[str, Mapping[str, Any]]
    null_values: Sequence[str]


def require_owner(services: Services, digest: bytes) -> Principal:
    """The caller, if it may register a dataset."""
    principal = access.authenticate(services.database, digest)
    access.require(principal, Role.OWNER, Role.ADMIN)
    return principal


def register(services: Services, owner: Principal, registration: Registration, upload: BinaryIO) -> Dataset:
    """Take a table in and open its account.

    Raises:
        NameTakenError: the name was given before.
        InvalidRequestError: the columns make no sense, or the file does not hold what they say.
    """
    declared = columns.stored(registration.columns)
    columns.check(declared)
    with services.database.read() as session:
        if datasets.by_name(session, registration.name) is not None:
            raise NameTakenError
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
            )
            accounts.open_account(
                transaction, dataset.id, registration.epsilon_limit_nano, owner.name, dataset.created_at
            )
            outcome_known = False
            transaction.commit()
    except Exception:
        if outcome_known:  # otherwise the dataset may be there, and lack its file for ever
            services.tables.drop(ingested.file_id)
        raise
    return dataset


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
        accounts.close(transaction, account, entered.principal.name, now())
        transaction.commit()
    if entered.dataset.file_id is not None:
        services.tables.drop(entered.dataset.file_id)


def listed(services: Services, digest: bytes, after: str | None, limit: int) -> list[Document]:
    """The datasets that the caller may see, oldest first."""
    with services.database.read() as session:
        principal = access.principal_of(session, digest)
        return [document(dataset) for dataset in datasets.page(session, after, limit, access.viewer(principal))]


def document(dataset: Dataset) -> Document:
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
    }
