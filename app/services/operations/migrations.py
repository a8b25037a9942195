"""Migrations as acts of an operator or of the service, on record like every other."""

from functools import partial

from app.config import Settings
from app.db import schema_migration as schema
from app.db.engine import Database
from app.db.repositories import principals
from app.db.session import WriteSession
from app.ledger.chain.audit_log import Actor
from app.services import audit_records, sealing
from app.services.operations import ledger_secrets


def migrate(settings: Settings, database: Database, by: Actor) -> None:
    """Bring the database to the schema of this version, and seal and write down what was, in the same transaction.

    A database that nobody has used yet gets its tables without a record: its first is that of the first principal.

    Raises:
        UnavailableError: the database is away, or another process migrates for too long.
        ValueError: there is something to write down, and the ledger's secret is another or cannot be read.
    """
    schema.migrate(database, then=partial(_record_migration, settings, by))


def _record_migration(settings: Settings, by: Actor, transaction: WriteSession, before: str, after: str) -> None:
    if principals.has_principals(transaction):
        keyring = ledger_secrets.load_or_create_keyring(settings, transaction)
        sealing.seal_ledgers(transaction, keyring)
        audit_records.record(transaction, keyring.seal, by, "database.migrate", None, **{"from": before, "to": after})
