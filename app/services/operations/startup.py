"""Opens the services from the settings, and closes them."""

from contextlib import suppress
from pathlib import Path

import structlog

from app import metrics
from app.config import Settings
from app.db.database import Database
from app.db.dialects import durability
from app.db.repositories import relocation_state
from app.db.schema_migration import is_current
from app.engines.ingest_process.job import Limits
from app.engines.ingest_process.reader import IngestReader
from app.engines.storage.file_tables import CopyLimits
from app.engines.storage.tables import Tables
from app.errors import UnavailableError
from app.ledger import caller_lookup
from app.ledger.chain.keyring import Keyring
from app.services import audit_records
from app.services.context import Services
from app.services.identity import principals
from app.services.operations import checkpoints, databases, ledger_secrets, migrations, offline_ledger

log = structlog.stdlib.get_logger("snapledger.startup")


def open_services(settings: Settings) -> Services:
    """Open the database and the tables. The database is migrated first if the setting `auto_migrate` is on.

    Raises:
        UnavailableError: the database does not answer.
        ValueError: the database's URL is wrong, or its server could lose acknowledged commits; the ledger was sealed
            under another secret, or the secret cannot be read; or the database is the retired source or the unfinished
            target of a move.
    """
    database, keyring = _open_ledger(settings)
    configured = settings.admin_key
    key = configured.get_secret_value() if configured else None
    try:
        principals.create_first_admin(database, keyring.seal, settings.data_dir, key)
        with database.read() as session:  # another process with another secret may have written first
            keyring = ledger_secrets.keyring_for_ledger(settings, session)
            _report_mismatches(caller_lookup.find_mismatches(session, keyring))
    except BaseException:
        database.close()
        raise
    connections = {name: url.get_secret_value() for name, url in settings.connection.items()}
    tables = Tables(
        settings.data_dir,
        connections=connections,
        statement_seconds=settings.source_timeout_seconds,
        reader=_reader(settings),
        copy_limits=CopyLimits(settings.max_upload_bytes, settings.max_upload_seconds),
    )
    tables.drop_unregistered(lambda file_id: databases.is_registered(database, file_id))
    return Services(settings, database, tables, keyring)


def _reader(settings: Settings) -> IngestReader:
    limits = Limits(settings.max_upload_memory_bytes, settings.max_upload_disk_bytes, settings.max_upload_seconds)
    return IngestReader(settings.data_dir, limits, settings.max_concurrent_uploads)


def _report_mismatches(names: list[str]) -> None:
    """Log the datasets that were changed without the secret, whose requests are rejected."""
    for name in names:
        log.error("a dataset was changed after it was sealed", dataset=name)
    if names:
        metrics.LEDGERS_INVALID.set(len(names))


def require_ledger(settings: Settings) -> None:
    """Check for permanent errors before any worker starts. If the database does not answer, the workers wait for it.

    Raises:
        ValueError: as `open_services`.
    """
    with suppress(UnavailableError):
        _open_ledger(settings)[0].close()


def _open_ledger(settings: Settings) -> tuple[Database, Keyring]:
    database = _open_migrated_database(settings)
    try:
        with database.read() as session:
            relocation_state.require_not_relocated(session)
            return database, ledger_secrets.load_or_create_keyring(settings, session)
    except BaseException:
        database.close()
        raise


def _open_migrated_database(settings: Settings) -> Database:
    """Open the database, and migrate it if the setting `auto_migrate` is on."""
    database = databases.open_database(settings)
    try:
        if settings.auto_migrate:
            migrations.migrate(settings, database, audit_records.SERVICE)
    except BaseException:
        database.close()
        raise
    return database


def is_ready(services: Services) -> bool:
    """Whether the database takes part in no move, has this version's schema, and keeps acknowledged commits.

    Raises:
        UnavailableError: the database is busy or does not answer.
    """
    if not is_current(services.database):
        return False
    with services.database.read() as session:
        return relocation_state.find_relocation(session) is None and durability.find_fault(session) is None


def require_checkpoint(settings: Settings, path: Path) -> None:
    """Check that the ledger is not behind a checkpoint. It is migrated first if the setting `auto_migrate` is on.

    Raises:
        UnavailableError: the database does not answer.
        ValueError: the ledger is behind the checkpoint, or the checkpoint is not one of this ledger.
    """
    checkpoint = checkpoints.read(path, ledger_secrets.load_keyring(settings).public_keys)
    _open_migrated_database(settings).close()
    with offline_ledger.open_ledger_snapshot(settings) as session:
        checkpoints.require(session, checkpoint)


def close_services(services: Services) -> None:
    """Close all connections."""
    services.tables.close()
    services.database.close()
