"""Registers tables as datasets."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from app.db.clock import now
from app.db.repositories import datasets
from app.db.repositories.principals import Principal
from app.db.session import ReadSession
from app.engines.errors import EngineFailure, InvalidFile
from app.engines.ingest import Units
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.ingest_process.slots import SlotsBusy
from app.engines.storage.connections import TableOrigin
from app.engines.storage.table_intake import Ingested
from app.errors import InvalidRequestError, NameTakenError, OverloadedError, UnavailableError
from app.ledger import accounts
from app.ledger.units import epsilon_text
from app.services import audit_records
from app.services.access import manages
from app.services.context import Services
from app.services.datasets.dataset_facts import dataset_document
from app.services.datasets.registration_report import make_report
from app.services.planning import columns
from app.services.rendering.documents import Document
from app.services.reports.run_queue import QUEUED, lock_predecessor, queue_runs


@dataclass(frozen=True, slots=True)
class Registration:
    """An owner's declarations about a table."""

    name: str
    description: str
    epsilon_limit_nano: int
    rows_per_unit: int
    columns: Mapping[str, Mapping[str, Any]]
    null_values: Sequence[str]
    succeeds: str | None
    form: FileFormat = PLAIN
    units: Units | None = None
    origin: TableOrigin | None = None


def check_registration(services: Services, owner: Principal, registration: Registration) -> None:
    """Check everything that can be checked before the data is read.

    Raises:
        NameTakenError: a dataset with this name exists.
        InvalidRequestError: the columns are not valid, or `succeeds` names a dataset that the caller does not manage.
        UnavailableError: the database did not answer.
    """
    columns.check_columns(columns.encode_columns(registration.columns))
    with services.database.read() as session:
        if datasets.find_dataset(session, registration.name) is not None:
            raise NameTakenError
        _require_predecessor(session, owner, registration.succeeds)


def require_connection(services: Services, origin: TableOrigin) -> None:
    """Check that a table's connection is configured.

    Raises:
        InvalidRequestError: it is not.
    """
    if not services.tables.has_connection(origin.connection):
        raise InvalidRequestError(
            ("source.connection", "is not a configured connection: ask the operator for its name")
        )


def ingest(
    services: Services, registration: Registration, upload: BinaryIO | None, interrupted: Callable[[], bool]
) -> Ingested:
    """Ingest the table of a checked registration, from an upload or from its origin. Call `register_dataset` next.

    This may take long. It ends early when `interrupted` returns true because the client has disconnected.

    Raises:
        InvalidRequestError: the file does not match the columns or needs too many resources, or there is no such
            connection.
        OverloadedError: too many other files are being read.
        UnavailableError: the engine did not answer, or the client has disconnected.
    """
    declared = list(columns.decode_columns(columns.encode_columns(registration.columns)).values())
    origin, units, tables = registration.origin, registration.units, services.tables
    try:
        if upload is not None:
            return tables.intake.ingest(
                upload, declared, registration.null_values, registration.form, units, interrupted
            )
        assert origin is not None  # noqa: S101 - a registration has a file or an origin
        require_connection(services, origin)
        return tables.intake.ingest_from(origin, declared, units, interrupted)
    except InvalidFile as error:
        raise InvalidRequestError(*error.problems) from None
    except SlotsBusy as error:
        raise OverloadedError from error
    except EngineFailure as error:
        raise UnavailableError from error


def register_dataset(services: Services, owner: Principal, registration: Registration, ingested: Ingested) -> Document:
    """Register an ingested table, open its account, and return the owner's view of the dataset, with the report.

    Raises:
        NameTakenError: a dataset with this name was registered meanwhile.
        UnavailableError: the database did not answer.
    """
    declared = columns.encode_columns(registration.columns)
    outcome_known = True
    try:
        report = make_report(services.tables, ingested, list(columns.decode_columns(declared).values()))
        with services.database.write() as transaction:
            predecessor = lock_predecessor(transaction, registration.succeeds)
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
            if predecessor is not None:
                queue_runs(services, transaction, owner, predecessor, dataset)
            outcome_known = False
            transaction.commit()
    except Exception:
        # If the outcome is unknown, the dataset may exist and needs its file.
        (services.tables.drop if outcome_known else services.tables.leave_undecided)(ingested.file_id)
        raise
    services.tables.mark_registered(ingested.file_id)
    QUEUED.set()
    return dataset_document(dataset, owned=True) | {"report": report}


def _source(registration: Registration, ingested: Ingested) -> str:
    """The origin of the data as JSON for its owner. It never contains a URL, which may include a password."""
    origin, units = registration.origin, registration.units
    of_origin = {"sha256": ingested.sha256} if origin is None else origin.describe()
    of_units = {"unit_column": units and units.column, "truncate": units is not None and units.truncate}
    # Names that the file's columns would have are not stored, like the columns that nobody declared.
    declared = {name: value for name, value in registration.form.declared.items() if name != "column_names"}
    of_form = {"format": declared} if declared else {}
    return json.dumps({**of_origin, **of_units, **of_form})


def _require_predecessor(session: ReadSession, owner: Principal, name: str | None) -> None:
    """Check that the owner manages the predecessor. The result stays true because owners and names never change."""
    if name is None:
        return
    predecessor = datasets.find_dataset(session, name)
    if predecessor is None or not manages(owner, predecessor):
        raise InvalidRequestError(("succeeds", "is not a dataset of yours"))
