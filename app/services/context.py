"""What every use case works with."""

from dataclasses import dataclass

from app.config import Settings
from app.db.engine import Database
from app.engines.tables import Tables


@dataclass(frozen=True, slots=True)
class Services:
    """The settings, the database and the tables of one process."""

    settings: Settings
    database: Database
    tables: Tables
