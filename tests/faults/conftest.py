from collections.abc import Iterator
from pathlib import Path

import faulty_world
import pytest
from faulty_world import Breakable
from shared_fork_server import share_fork_server

__all__ = ["share_fork_server"]


@pytest.fixture
def breakable(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Breakable]:
    """A service in this process, and a table on it."""
    with faulty_world.running(tmp_path, database_url, monkeypatch) as breakable:
        yield breakable
