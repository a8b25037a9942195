"""What an upload may take: memory, disk, time and turns; and what is left when it takes more, or nobody waits."""

import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from service_world import X_COLUMNS, Service, a_name, becomes, numbers_csv, serving
from upload_bombs import (
    TEXTS,
    children_of,
    distinct_texts,
    numbers,
    random_numbers,
    readers_of,
    runs_of_nothing,
    send_upload,
    status_of,
)
from workbooks import MAIN, workbook_of_xml

MEMORY, DISK, OPEN = 96 * 2**20, 2**20, 4
COLUMNS = 20
DRAFTS = "/v1/drafts"
CORNERS = [("A", 1), ("XFD", 1_048_576)]


@pytest.fixture(scope="module")
def limited(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose uploads may take little; the ledger's database has no part in that."""
    folder = tmp_path_factory.mktemp("limited")
    limits = {"MEMORY_BYTES": MEMORY, "DISK_BYTES": DISK, "SECONDS": 600}
    settings = {f"MAX_UPLOAD_{name}": str(value) for name, value in limits.items()}
    settings |= {"MAX_OPEN_UPLOADS": str(OPEN), "MAX_CONCURRENT_UPLOADS": "1", "CONNECTION_WAREHOUSE": postgres_server}
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", **settings) as service:
        yield service


@pytest.fixture
def owner(limited: Service) -> httpx.Client:
    client = limited.principal("owner")[1]
    # So that what is started once and kept is there.
    assert limited.upload(client, metadata(X_COLUMNS), numbers_csv(3).encode()).status_code == 201
    return client


def metadata(columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": a_name("limited"), "epsilon_limit": 1, "columns": columns, **more}


def refused(service: Service, owner: httpx.Client, columns: dict[str, Any], content: bytes, **more: Any) -> str:
    """What a refused upload is told, which leaves nothing; the service goes on as before."""
    what = told_of_refusal(service, owner, columns, content, **more)
    assert service.upload(owner, metadata(X_COLUMNS), numbers_csv(3).encode()).status_code == 201
    return what


def told_of_refusal(service: Service, owner: httpx.Client, columns: dict[str, Any], content: bytes, **more: Any) -> str:
    before = service.resident_bytes()
    with service.unchanged():
        answer = service.upload(owner, metadata(columns, **more), content)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
    assert service.resident_bytes() - before < 2**26
    (problem,) = answer.json()["errors"]
    assert problem["where"] == "file"
    return str(problem["what"])


def test_more_memory_than_an_upload_may_take(limited: Service, owner: httpx.Client) -> None:
    content = distinct_texts(12_000)
    assert len(content) < 2**18
    what = refused(limited, owner, TEXTS, content)
    assert what.startswith("needs more than 96 MiB of memory")
    assert what.endswith("SNAPLEDGER_MAX_UPLOAD_MEMORY_BYTES")


def test_a_sheet_with_cells_far_apart(limited: Service, owner: httpx.Client) -> None:
    head, tail = f'<worksheet xmlns="{MAIN}"><sheetData>', "</sheetData></worksheet>"
    rows = [f'<row r="{number}"><c r="{place}{number}"><v>1</v></c></row>' for place, number in CORNERS]
    what = refused(limited, owner, X_COLUMNS, workbook_of_xml({"S": [head, *rows, tail]}))
    assert what.startswith("needs more than 96 MiB of memory")


@pytest.mark.parametrize("more", [{}, {"unit_column": "c0"}])
def test_more_disk_than_an_upload_may_take(limited: Service, owner: httpx.Client, more: dict[str, str]) -> None:
    what = refused(limited, owner, numbers(1), random_numbers(2**18), **more)
    assert what.startswith("needs more than 1 MiB of disk")
    assert what.endswith("SNAPLEDGER_MAX_UPLOAD_DISK_BYTES")


@pytest.mark.slow
def test_more_time_than_an_upload_may_take(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, url, MAX_UPLOAD_SECONDS="1") as service:
        _, owner = service.principal("owner")
        # No other upload follows: a busy machine may need more than a second for it.
        what = told_of_refusal(service, owner, numbers(COLUMNS), runs_of_nothing(10_000_000, COLUMNS))
        assert what.startswith("needs more than 1 seconds")
        assert what.endswith("SNAPLEDGER_MAX_UPLOAD_SECONDS")
        server = children_of(service.pid)
    assert server
    assert becomes(lambda: not any(Path(f"/proc/{process}").exists() for process in server))


def has_begun(reader: int) -> bool:
    """Whether a reader dies with its server: it handles the ends of children no more after it has asked for that."""
    try:
        status = Path(f"/proc/{reader}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the reader of an upload before, which has ended since
        return False
    caught = re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)
    if "State:\tZ" in status:
        return False
    return caught is not None and not int(caught[1], 16) >> (signal.SIGCHLD - 1) & 1


def begin_long_upload(service: Service, owner: httpx.Client, path: str = "/v1/datasets") -> socket.socket:
    described = {} if path == DRAFTS else metadata(numbers(COLUMNS))
    connection = send_upload(owner, described, runs_of_nothing(10_000_000, COLUMNS), path)
    assert becomes(lambda: list(map(has_begun, readers_of(service.pid))) == [True])
    os.kill(readers_of(service.pid)[0], signal.SIGSTOP)  # so that it does not end, however fast the machine
    return connection


def test_an_upload_whose_client_hangs_up(limited: Service, owner: httpx.Client) -> None:
    with limited.unchanged():
        begin_long_upload(limited, owner).close()
        assert becomes(lambda: not readers_of(limited.pid))
    assert limited.upload(owner, metadata(X_COLUMNS), numbers_csv(3).encode()).status_code == 201


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, 503), (signal.SIGSEGV, 422)])
def test_a_reader_that_dies(limited: Service, owner: httpx.Client, number: int, status: int) -> None:
    with limited.unchanged():
        connection = begin_long_upload(limited, owner)
        reader = readers_of(limited.pid)[0]
        os.kill(reader, number)
        with suppress(ProcessLookupError):  # SIGKILL needs no more, and may have ended it
            os.kill(reader, signal.SIGCONT)
        assert status_of(connection) == status


def test_the_server_of_readers_dies(limited: Service, owner: httpx.Client) -> None:
    with limited.unchanged():
        connection = begin_long_upload(limited, owner)
        os.kill(children_of(limited.pid)[0], signal.SIGKILL)
        assert status_of(connection) == 503
    assert limited.upload(owner, metadata(X_COLUMNS), numbers_csv(3).encode()).status_code == 201


def test_readers_know_no_secret(limited: Service, owner: httpx.Client) -> None:
    connection = begin_long_upload(limited, owner)
    for process in (*children_of(limited.pid), *readers_of(limited.pid)):
        assert b"SNAPLEDGER" not in Path(f"/proc/{process}/environ").read_bytes()
        for link in Path(f"/proc/{process}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed since
                assert "ledger" not in str(link.readlink())
    connection.close()
    assert becomes(lambda: not readers_of(limited.pid))


@pytest.mark.slow
def test_drafts_have_the_same_limits(limited: Service, owner: httpx.Client) -> None:
    """Of memory, and of open uploads; and a draft ends when its client hangs up. Nothing is left."""
    before = limited.resident_bytes()
    with limited.unchanged():
        answer = limited.upload(owner, {}, distinct_texts(12_000), path=DRAFTS)
        assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "file")
        assert answer.json()["errors"][0]["what"].startswith("needs more than 96 MiB of memory")
    assert limited.resident_bytes() - before < 2**26
    many = b"".join(b"c%d," % i for i in range(200_000))
    with limited.unchanged():
        answer = limited.upload(owner, {}, many + b"x\n" + b"1," * 200_000 + b"1\n", path=DRAFTS)
        assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "file")
    with limited.unchanged():
        connection = begin_long_upload(limited, owner, DRAFTS)
        with ExitStack() as stack:
            others = [stack.enter_context(send_upload(owner, {}, b"x\n1\n2\n", DRAFTS)) for _ in range(OPEN)]
            assert status_of(others[-1]) == 503
        connection.close()
        assert becomes(lambda: not readers_of(limited.pid))
    assert becomes(lambda: limited.upload(owner, {}, numbers_csv(3).encode(), path=DRAFTS).status_code == 200)


def requests_in_flight(service: Service) -> float:
    lines = httpx.get(f"{service.url}/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("snapledger_requests_in_flight"))


def test_uploads_wait_for_their_turn_and_no_call_for_them(limited: Service, owner: httpx.Client) -> None:
    _, another = limited.principal("owner")
    answers: list[int] = []

    def upload() -> None:
        answers.append(limited.upload(owner, metadata(X_COLUMNS), numbers_csv(3).encode()).status_code)

    waiting = threading.Thread(target=upload)
    with closing(begin_long_upload(limited, owner)), ExitStack() as halves:

        def overloaded() -> bool:
            # One that is received counts as much as one that waits; what does not come in time is given up.
            halves.enter_context(send_upload(another, metadata(X_COLUMNS), b"x\n1\n", whole=False))
            # Otherwise it would be refused, before it has to wait.
            answer = limited.upload(another, metadata({"x": {"kind": "integer", "bounds": [5, 1]}}), b"x\n1\n2\n")
            assert answer.status_code in {422, 503}
            return answer.status_code == 503 and "retry-after" in answer.headers

        waiting.start()
        assert becomes(overloaded)
        assert readers_of(limited.pid)
        assert not answers
        assert limited.stranger.get("/healthz").status_code == 200
        assert owner.get("/v1/datasets").status_code == 200
    waiting.join(timeout=60)
    assert answers == [201]
    # The places are free again.
    assert becomes(lambda: limited.upload(another, metadata(X_COLUMNS), b"x\n1\n2\n").status_code == 201)


def sourced(owner: httpx.Client, table: str, **more: Any) -> httpx.Response:
    source = {"connection": "warehouse", "table": table, "live": False}
    return owner.post("/v1/datasets", json={**metadata(X_COLUMNS), "source": source, **more})


@pytest.mark.slow
def test_snapshots_have_the_same_limits(limited: Service, owner: httpx.Client, postgres_server: str) -> None:
    statements = (
        "DROP SCHEMA IF EXISTS limits CASCADE",
        "CREATE SCHEMA limits",
        "CREATE TABLE limits.small AS SELECT x FROM generate_series(1, 1000) x",
        "CREATE TABLE limits.large AS SELECT (random() * 2^62)::bigint AS x FROM generate_series(1, 200000)",
        "CREATE VIEW limits.slow AS SELECT x % 101 AS x FROM limits.large UNION ALL SELECT 0 FROM pg_sleep(60)",
        "CREATE VIEW limits.broken AS SELECT (x / (1000 - x))::int AS x FROM limits.small",
    )
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    assert sourced(owner, "limits.small").json()["n"] == 1000
    with limited.unchanged():
        answer = sourced(owner, "limits.large")
        assert (answer.status_code, answer.json()["errors"][0]["what"][:29]) == (422, "needs more than 1 MiB of disk")
        # One that fails half way is not taken for a shorter one.
        answer = sourced(owner, "limits.broken")
        assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "source.table")
        # A reader that waits for rows ends too when its client hangs up.
        hasty = httpx.Client(base_url=owner.base_url, headers=owner.headers, timeout=2)
        with hasty, pytest.raises(httpx.ReadTimeout):
            sourced(hasty, "limits.slow")
        assert becomes(lambda: not readers_of(limited.pid))


@pytest.mark.slow
def test_files_are_read_beside_more_than_a_thousand_connections(limited: Service, owner: httpx.Client) -> None:
    """Whatever waits for a reader must not depend on the number of its descriptor, as select() does."""
    url = httpx.URL(limited.url)
    with ExitStack() as stack:
        for _ in range(1_100):
            stack.enter_context(socket.create_connection((url.host, url.port), timeout=60))
        assert httpx.get(url.join("/healthz"), timeout=60).status_code == 200  # the others were accepted before it
        assert limited.upload(owner, metadata(X_COLUMNS), numbers_csv(3).encode()).status_code == 201
