import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "functional"))  # its view of a service, but of one that can be broken

import faulty_world
from faulty_world import Breakable


@pytest.fixture
def breakable(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Breakable]:
    """A service in this process, and a table on it."""
    with faulty_world.running(tmp_path, database_url, monkeypatch) as breakable:
        yield breakable
