"""`kill -9` during an upload: no dataset, no file, and the name is free; or all of it, once it was acknowledged."""

import os
import random
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from service_world import X_COLUMNS, Service, becomes, numbers_csv, serving
from sqlalchemy import text

from app.db.database import Database

METADATA = {"name": "people", "epsilon_limit": 1, "columns": X_COLUMNS}


class Uploads:
    """A service across its lives, and the files that it keeps."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self._settings = {"ADMIN_KEY": secrets.token_urlsafe(32), "SECRET": secrets.token_hex(32)}

    @contextmanager
    def living(self) -> Iterator[Service]:
        with serving(self.folder, self.url, **self._settings) as service:
            service.admin.headers["Authorization"] = f"Bearer {self._settings['ADMIN_KEY']}"
            yield service

    def files(self) -> list[Path]:
        """All but what a living process has for itself, and the lock of reports, which stays."""
        files = (self.folder / "data").rglob("*")
        return [path for path in files if ".partial" not in str(path) and path.name != "reports.lock"]

    def upload_and_kill(self, service: Service, content: bytes, when: Callable[[], None]) -> bool:
        """Whether the upload was acknowledged before its service was killed."""

        def kill() -> None:
            when()
            os.kill(service.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            return service.upload(service.admin, METADATA, content).status_code == 201
        except httpx.TransportError:
            return False
        finally:
            killer.join()


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Nobody can register a table."""
    database = Database(url)
    with database.write() as transaction:
        if url.startswith("postgres"):
            transaction.connection.execute(text("LOCK TABLE datasets IN EXCLUSIVE MODE"))
        yield
    database.close()


@pytest.fixture
def uploads(tmp_path: Path, empty_database_url: str) -> Uploads:
    return Uploads(tmp_path, empty_database_url)


@pytest.mark.slow
def test_a_kill_between_the_file_and_the_commit(uploads: Uploads) -> None:
    with uploads.living() as service, locked(uploads.url):

        def stored() -> None:
            assert becomes(lambda: bool(list(service.data.glob("*.parquet"))))

        assert not uploads.upload_and_kill(service, numbers_csv(50).encode(), stored)
    assert list(service.data.glob("*.parquet"))  # what the next start has to notice
    with uploads.living() as service:
        assert uploads.files() == []
        assert service.admin.get("/v1/datasets/people").status_code == 404
        assert service.upload(service.admin, METADATA, b"x\n1\n2\n").status_code == 201


@pytest.mark.slow
def test_kills_at_any_moment(uploads: Uploads) -> None:
    content, chance = numbers_csv(300_000).encode(), random.Random(7)
    with uploads.living():
        pass
    for _ in range(8):
        with uploads.living() as service:
            pause = chance.uniform(0.05, 1.5)
            acknowledged = uploads.upload_and_kill(service, content, lambda pause=pause: time.sleep(pause))
        with uploads.living() as service:
            found = service.admin.get("/v1/datasets/people").status_code
            assert found == 200 or not acknowledged
            assert len(list(service.data.glob("*.parquet"))) == (found == 200)
            assert not list(service.data.glob("*.pending"))
            if found == 200:
                break
