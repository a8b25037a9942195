import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "functional"))  # its command line

import ledger_world
from ledger_world import World

from app.db.engine import Database


@pytest.fixture
def world(database: Database) -> World:
    return ledger_world.create(database)
