"""Runs migrations and records them in the audit log as acts of an operator or of the service."""

from functools import partial

from app.config import Settings
from app.db import schema_migration as schema
from app.db.database import Database
from app.db.repositories import principals
from app.db.session import WriteSession
from app.ledger.chain.audit_log import Actor
from app.services import audit_records, sealing
from app.services.operations import ledger_secrets


def migrate(settings: Settings, database: Database, by: Actor) -> None:
    """Migrate the database to this version's schema, and in the same transaction seal old ledgers and add a record.

    A database without principals is migrated without a record. Its first record is that of the first principal.

    Raises:
        UnavailableError: the database does not answer, or another process's migration takes too long.
        ValueError: a record is needed, but the ledger's secret is another one or cannot be read.
    """
    schema.migrate(database, then=partial(_record_migration, settings, by))


def _record_migration(settings: Settings, by: Actor, transaction: WriteSession, before: str, after: str) -> None:
    if principals.has_principals(transaction):
        keyring = ledger_secrets.load_or_create_keyring(settings, transaction)
        sealing.seal_ledgers(transaction, keyring)
        audit_records.record(transaction, keyring.seal, by, "database.migrate", None, **{"from": before, "to": after})
