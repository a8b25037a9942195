"""Small files that take gigabytes, or hours, to read."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hostile_world import Target
from service_world import a_name, becomes, numbers_csv
from upload_bombs import (
    TEXTS,
    children_of,
    distinct_texts,
    numbers,
    readers_of,
    runs_of_nothing,
    send_upload,
    wide_header,
)

COLUMNS = 20
ROWS = 50_000_000


def metadata(columns: dict[str, Any]) -> dict[str, Any]:
    return {"name": a_name("bomb"), "epsilon_limit": 1, "columns": columns}


@pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
def test_four_files_of_a_gigabyte_of_texts(target: Target) -> None:
    """600 kB each, which took 12.5 GiB together."""
    content = distinct_texts(100_000, groups=10)
    assert len(content) < 2**20
    owner = target.table.owner

    def upload(_: int) -> int:
        return target.service.upload(owner, metadata(TEXTS), content).status_code

    before = target.service.resident_bytes()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(upload, range(4))) <= {201, 422, 503}
    assert target.service.resident_bytes() - before < 2**27
    assert not readers_of(target.service.pid)


@pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
def test_drafts_of_files_that_take_gigabytes_or_very_long(target: Target) -> None:
    """Drafts look at all values, and are made by the same processes with the same limits."""
    contents = [distinct_texts(100_000, groups=10), runs_of_nothing(ROWS, COLUMNS, groups=50), wide_header(1_000_000)]
    assert max(map(len, contents)) < 2**23
    owner, service = target.table.owner, target.service
    assert service.upload(owner, {}, numbers_csv(3).encode(), path="/v1/drafts").status_code == 200
    before = service.resident_bytes()
    with service.unchanged():
        with ThreadPoolExecutor(3) as pool:
            answers = pool.map(lambda content: service.upload(owner, {}, content, path="/v1/drafts"), contents)
            assert {answer.status_code for answer in answers} <= {200, 422, 503}
        for content in contents:
            send_upload(owner, {}, content, "/v1/drafts").close()
        assert becomes(lambda: not readers_of(service.pid))
    assert service.resident_bytes() - before < 2**27


def test_files_that_take_very_long_and_clients_that_hang_up(target: Target) -> None:
    content = runs_of_nothing(ROWS, COLUMNS, groups=50)
    assert len(content) < 2**22
    owner, service = target.table.owner, target.service
    assert service.upload(owner, metadata(numbers(1)), numbers_csv(3).replace("x", "c0").encode()).status_code == 201
    with service.unchanged():
        for _ in range(5):
            connections = [send_upload(owner, metadata(numbers(COLUMNS)), content) for _ in range(4)]
            assert becomes(lambda: len(readers_of(service.pid)) == 1)
            time.sleep(1)
            for connection in connections:
                connection.close()
            assert becomes(lambda: not readers_of(service.pid))


def test_readers_end_with_their_service(target: Target) -> None:
    content = runs_of_nothing(ROWS, COLUMNS, groups=50)
    owner, service = target.table.owner, target.service
    connection = send_upload(owner, metadata(numbers(COLUMNS)), content)
    assert becomes(lambda: len(readers_of(service.pid)) == 1)
    servers, readers = children_of(service.pid), readers_of(service.pid)
    os.kill(servers[0], signal.SIGKILL)  # and with the server between them
    assert becomes(lambda: not any(Path(f"/proc/{process}").exists() for process in readers))
    connection.close()
