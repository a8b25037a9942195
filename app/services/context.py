"""The objects that every use case needs."""

from dataclasses import dataclass

from app.config import Settings
from app.db.database import Database
from app.engines.storage.tables import Tables
from app.ledger.chain.keyring import Keyring


@dataclass(frozen=True, slots=True)
class Services:
    """The settings, the database, the tables and the ledger's keys of one process."""

    settings: Settings
    database: Database
    tables: Tables
    keyring: Keyring
