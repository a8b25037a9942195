"""A service that carries out no runs, and the same ledger opened in this process, which does."""

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest
from service_world import Service, serving

from app.config import Settings
from app.services.context import Services
from app.services.operations import startup
from app.services.operations.report_worker import LOCK_FILE


@pytest.fixture
def idle(tmp_path: Path, database_url: str) -> Iterator[Service]:
    """A service that carries out no runs, since this process holds the lock."""
    (tmp_path / "data").mkdir(mode=0o700)
    with (tmp_path / "data" / LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with serving(tmp_path, database_url) as service:
            yield service


@pytest.fixture
def replicas(idle: Service) -> Iterator[list[Services]]:
    """The same ledger in this process, twice."""
    opened = [startup.open_services(Settings(database_url=idle.database_url, data_dir=idle.data)) for _ in range(2)]
    yield opened
    for each in opened:
        startup.close_services(each)
