import ledger_world
import pytest
from ledger_world import World

from app.db.database import Database


@pytest.fixture
def world(database: Database) -> World:
    return ledger_world.create(database)
