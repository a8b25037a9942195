"""One fork server for all that reads files in this process, not one for each directory of tables that a test opens."""

import socket
import threading
from collections.abc import Iterator

import pytest

from app.engines.ingest_process.job import Limits
from app.engines.ingest_process.pool import IngestProcesses


@pytest.fixture(scope="session", autouse=True)
def share_fork_server() -> Iterator[None]:
    """Forks read files for every directory of tables; starting one takes half a second."""
    start, end = IngestProcesses._serving, IngestProcesses._forget
    shared, one_by_one = IngestProcesses(Limits(0, 0, 0)), threading.Lock()  # each job has limits of its own

    def serve(_: IngestProcesses) -> socket.socket:
        with one_by_one:
            return start(shared)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IngestProcesses, "_serving", serve)
        patch.setattr(IngestProcesses, "_forget", lambda _: None)
        yield
    end(shared)
