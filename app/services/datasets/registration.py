"""Tables: registered once, described by public facts, deleted for good."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from app.db.clock import now
from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset, Successor
from app.db.repositories.principals import Principal
from app.db.session import ReadSession
from app.engines.errors import EngineFailure, InvalidFile
from app.engines.ingest import Units
from app.engines.ingest_process.slots import SlotsBusy
from app.engines.storage.connections import TableOrigin
from app.engines.storage.tables import Ingested
from app.errors import (
    DatasetClosedError,
    DatasetStaleError,
    InvalidRequestError,
    NameTakenError,
    OverloadedError,
    UnavailableError,
)
from app.ledger import accounts, dataset_states
from app.ledger.units import epsilon_text
from app.roles import Role
from app.services import access, audit_records
from app.services.access import Access, Credential, rules
from app.services.context import Services
from app.services.planning import columns
from app.services.rendering.documents import Document

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
    delimiter: str | None = None
    units: Units | None = None
    origin: TableOrigin | None = None


def require_owner(services: Services, credential: Credential) -> Principal:
    """The caller, if it may register a dataset."""
    principal = access.authenticate(services.database, credential)
    access.require(principal, Role.OWNER, Role.ADMIN)
    return principal


def check_registration(services: Services, owner: Principal, registration: Registration) -> None:
    """Refuse what need not be read to be refused.

    Raises:
        NameTakenError: the name was given before.
        InvalidRequestError: the columns make no sense, or it succeeds a dataset that its owner does not rule.
        UnavailableError: the database did not answer.
    """
    columns.check_columns(columns.encode_columns(registration.columns))
    with services.database.read() as session:
        if datasets.find_dataset(session, registration.name) is not None:
            raise NameTakenError
        _require_predecessor(session, owner, registration.succeeds)


def ingest(
    services: Services, registration: Registration, upload: BinaryIO | None, interrupted: Callable[[], bool]
) -> Ingested:
    """Take the table of a checked registration in, from an upload or from its origin; `register` must follow.

    This may take long, and ends early once `interrupted` says that nobody waits any more.

    Raises:
        InvalidRequestError: the file does not hold what the columns say or takes too much to read, or there is no such
            connection.
        OverloadedError: too many others are being read.
        UnavailableError: the engine did not answer, or nobody waits.
    """
    declared = list(columns.decode_columns(columns.encode_columns(registration.columns)).values())
    origin, units, tables = registration.origin, registration.units, services.tables
    try:
        if upload is not None:
            delimiter = registration.delimiter
            return tables.ingest(upload, declared, registration.null_values, delimiter, units, interrupted)
        if origin is None or not tables.has_connection(origin.connection):
            raise InvalidRequestError(
                ("source.connection", "is not a configured connection: ask the operator for its name")
            )
        return tables.ingest_from(origin, declared, units, interrupted)
    except InvalidFile as error:
        raise InvalidRequestError(*error.problems) from None
    except SlotsBusy as error:
        raise OverloadedError from error
    except EngineFailure as error:
        raise UnavailableError from error


def register_dataset(services: Services, owner: Principal, registration: Registration, ingested: Ingested) -> Document:
    """Register a table that was taken in, and open its account; the owner's view of it.

    Raises:
        NameTakenError: the name was given meanwhile.
        UnavailableError: the database did not answer.
    """
    declared = columns.encode_columns(registration.columns)
    outcome_known = True
    try:
        with services.database.write() as transaction:
            dataset = datasets.insert_dataset(
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
                source=_source(registration, ingested),
            )
            seal, limit_nano = services.keyring.seal, registration.epsilon_limit_nano
            accounts.open_account(transaction, seal, dataset, limit_nano, owner.name, dataset.created_at)
            audit_records.record(
                *(transaction, seal, owner, "dataset.register", audit_records.dataset_path(dataset.name)),
                epsilon_limit=epsilon_text(limit_nano),
                rows_per_unit=registration.rows_per_unit,
            )
            outcome_known = False
            transaction.commit()
    except Exception:
        # Otherwise the dataset may be there, and would lack its file for ever.
        (services.tables.drop if outcome_known else services.tables.leave)(ingested.file_id)
        raise
    services.tables.settle(ingested.file_id)
    return dataset_document(dataset, owned=True)


def _source(registration: Registration, ingested: Ingested) -> str:
    """Where the data came from, as its owner is shown it: never a URL, which may hold a password."""
    origin, units = registration.origin, registration.units
    of_origin = {"sha256": ingested.sha256} if origin is None else origin._asdict()
    of_units = {"unit_column": units and units.column, "truncate": units is not None and units.truncate}
    return json.dumps({**of_origin, **of_units})


def _require_predecessor(session: ReadSession, owner: Principal, name: str | None) -> None:
    """Refuse to succeed what the owner does not rule; that stays so, since owners and names never change."""
    if name is None:
        return
    predecessor = datasets.find_dataset(session, name)
    if predecessor is None or not rules(owner, predecessor):
        raise InvalidRequestError(("succeeds", "is not a dataset of yours"))


def close_dataset(services: Services, entered: Access) -> None:
    """Delete the data and the sums; the ledger and the releases stay, and the name is never free again.

    Raises:
        DatasetClosedError: it is closed already.
    """
    entered.require_rule()
    with services.database.write() as transaction:
        principal, seal = entered.principal, services.keyring.seal
        dataset_states.close(transaction, services.keyring, entered.dataset.id, principal.name, now())
        audit_records.record(
            transaction, seal, principal, "dataset.close", audit_records.dataset_path(entered.dataset.name)
        )
        transaction.commit()
    if entered.dataset.file_id is not None:
        services.tables.drop(entered.dataset.file_id)


def revalidate_dataset(services: Services, entered: Access) -> Document:
    """Look at a live table as when it was registered: it is open if it is what was registered then, else stale.

    Raises:
        DatasetClosedError: there is no data any more.
        DatasetStaleError: it has another number of rows, a column another type or values that are missing, or a unit
            too many rows; which of them is not told.
        SealBrokenError: its facts are not what was sealed.
        UnavailableError: the engine is busy, away or failed.
    """
    entered.require_rule()
    if entered.dataset.file_id is None:
        raise DatasetClosedError
    try:
        stale = _is_stale(services, entered.dataset, entered.dataset.file_id)
    except EngineFailure as error:
        raise UnavailableError from error
    with services.database.write() as transaction:
        principal = entered.principal.name
        dataset_states.mark(transaction, services.keyring, entered.dataset.id, now(), stale=stale, principal=principal)
        target, found = audit_records.dataset_path(entered.dataset.name), "stale" if stale else "open"
        audit_records.record(
            transaction, services.keyring.seal, entered.principal, "dataset.revalidate", target, state=found
        )
        transaction.commit()
    if stale:
        raise DatasetStaleError
    with services.database.read() as session:
        seen = datasets.find_dataset(session, entered.dataset.name) or entered.dataset
        return _dataset_documents(session, [seen], entered.principal)[0]


def _is_stale(services: Services, dataset: Dataset, file_id: str) -> bool:
    """Whether a dataset's table is live and no longer what its registration says.

    Raises:
        EngineFailure: the engine is busy, away or failed.
    """
    source = json.loads(dataset.source or "{}")
    origin = TableOrigin(source["connection"], source["table"], source["live"]) if "connection" in source else None
    unit = source.get("unit_column")
    units = None if unit is None else Units(unit, dataset.rows_per_unit)
    return services.tables.is_stale(file_id, origin, list(columns.decode_columns(dataset.columns).values()), units)


def list_datasets(services: Services, credential: Credential, after: str | None, limit: int) -> list[Document]:
    """The datasets that the caller may see, oldest first."""
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        return _dataset_documents(
            session, datasets.page_of_datasets(session, after, limit, access.viewer_id(principal)), principal
        )


def describe_dataset(services: Services, entered: Access) -> Document:
    """The public facts of one dataset."""
    with services.database.read() as session:
        return _dataset_documents(session, [entered.dataset], entered.principal)[0]


def _dataset_documents(session: ReadSession, shown: Sequence[Dataset], principal: Principal) -> list[Document]:
    """The public facts of datasets that are in the order of their ids. A successor is named to whom may see it."""
    if not shown:
        return []
    viewer = access.viewer_id(principal)
    successors: dict[str, list[Successor]] = {}
    for successor in datasets.list_successors(session, shown[0].id, shown[-1].id, viewer):
        successors.setdefault(successor.succeeds, []).append(successor)
    return [
        dataset_document(dataset, successors.get(dataset.name, ()), owned=rules(principal, dataset))
        for dataset in shown
    ]


def dataset_document(dataset: Dataset, successors: Sequence[Successor] = (), *, owned: bool) -> Document:
    """The public facts of a dataset; none is computed from its values but `n`. Its owner also sees its source."""
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
