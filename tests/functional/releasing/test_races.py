"""Many clients and several API processes on one ledger: what is promised holds to the unit."""

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv, serving
from sqlalchemy import make_url

MEAN = {"kind": "mean", "column": "x"}
FRESH = {"statistic": MEAN, "epsilon": "0.1", "reuse": False}
LIMIT = "10"  # of which each release costs a hundredth


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(50), limit=LIMIT, allowance=LIMIT)


@dataclass(frozen=True)
class Processes:
    """API processes on one database, and what every process on it is started with."""

    services: list[Service]
    database_url: str
    settings: dict[str, str]

    def client_of(self, service: Service, table: Table) -> httpx.Client:
        """The table's analyst, as a client of this process."""
        return service.client(table.analyst.headers["Authorization"].removeprefix("Bearer "))


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def processes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Four API processes that were started at once on an empty database, and share it, the data and the secret."""
    place = tmp_path_factory.mktemp("processes")
    url = f"sqlite:///{place}/ledger.sqlite3"
    if request.param == "postgres":
        server = request.getfixturevalue("postgres_server")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE four_processes")
        url = make_url(server).set(database="four_processes").render_as_string(hide_password=False)
    admin_key = secrets.token_urlsafe(32)
    settings = {"DATA_DIR": str(place / "data"), "ADMIN_KEY": admin_key, "SECRET": secrets.token_hex(32)}
    folders = [place / str(number) for number in range(4)]
    for folder in folders:
        folder.mkdir()
    with ExitStack() as running, ThreadPoolExecutor(4) as pool:
        starting = [serving(folder, url, **settings) for folder in folders]
        services = list(pool.map(running.enter_context, starting))
        for service in services:
            service.admin.headers["Authorization"] = f"Bearer {admin_key}"
        yield Processes(services, url, settings)


def drain(ask: Callable[[int], httpx.Response], clients: int, each: int) -> Counter[int]:
    """The statuses that so many simultaneous clients got for so many requests each."""
    start = threading.Barrier(clients)

    def client(number: int) -> Counter[int]:
        start.wait(60)
        return Counter(ask(number).status_code for _ in range(each))

    with ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(client, range(clients)), Counter())


def assert_exactly_the_limit_is_spent(table: Table) -> None:
    budget = table.budget()
    assert (budget["epsilon_spent"], budget["epsilon_remaining"]) == (LIMIT, "0")
    assert budget["allowances"][0]["epsilon_spent"] == LIMIT
    entries = table.entries()
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
    debits = [entry for entry in entries if entry["kind"] == "debit"]
    stored = table.owner.get(f"{table.path}/releases", params={"limit": 1000}).json()["releases"]
    assert len(debits) == len({entry["release_id"] for entry in debits} & {release["id"] for release in stored}) == 100


@pytest.mark.slow
def test_sixteen_threads_of_fifty_requests_get_exactly_one_hundred_releases(table: Table) -> None:
    statuses = drain(lambda _: table.release(MEAN, epsilon="0.1", reuse=False), 16, 50)
    assert statuses == {201: 100, 409: 700}
    assert_exactly_the_limit_is_spent(table)


@pytest.mark.slow
def test_four_processes_of_thirty_two_clients_get_exactly_one_hundred_releases(processes: Processes) -> None:
    """They migrated an empty database at once, too, and each knows the admin that one of them made."""
    table = processes.services[0].table(X_COLUMNS, numbers_csv(50), limit=LIMIT, allowance=LIMIT)
    clients = [processes.client_of(service, table) for service in processes.services]

    def ask(number: int) -> httpx.Response:
        headers = {"Idempotency-Key": secrets.token_hex(8)}
        return clients[number % 4].post(f"{table.path}/releases", json=FRESH, headers=headers)

    assert drain(ask, 128, 2) == {201: 100, 409: 156}
    assert_exactly_the_limit_is_spent(table)


@pytest.mark.slow
def test_keys_and_reuse_hold_across_processes_and_outlive_them(processes: Processes, tmp_path: Path) -> None:
    table = processes.services[0].table(X_COLUMNS, numbers_csv(50))
    clients = [processes.client_of(service, table) for service in processes.services]
    start = threading.Barrier(32)

    def twin(number: int) -> bytes:
        start.wait(60)
        answer = table.release(MEAN, key="one", client=clients[number % 4], epsilon="0.1", reuse=False)
        assert answer.status_code == 201
        return answer.content

    with ThreadPoolExecutor(32) as pool:
        (content,) = set(pool.map(twin, range(32)))
    assert table.budget()["epsilon_spent"] == "0.1"
    reused = [table.release(MEAN, key=f"reuse {i}", client=client, epsilon="0.1") for i, client in enumerate(clients)]
    assert {(answer.status_code, answer.json()["reused"]) for answer in reused} == {(200, True)}
    assert len({answer.json()["id"] for answer in reused}) == 1
    other = table.release(MEAN, key="one", client=clients[3], epsilon="0.2", reuse=False)
    assert other.json()["type"] == "/problems/key-reused"
    with serving(tmp_path, processes.database_url, **processes.settings) as later:
        client = processes.client_of(later, table)
        again = table.release(MEAN, key="one", client=client, epsilon="0.1", reuse=False)
        assert (again.status_code, again.content) == (201, content)
        assert again.headers["Idempotency-Replayed"] == "true"
        again = table.release(MEAN, key="reuse 2", client=client, epsilon="0.1")
        assert (again.status_code, again.content) == (200, reused[2].content)
        anew = table.release(MEAN, key="anew", client=client, epsilon="0.1")
        assert (anew.status_code, anew.json()["id"]) == (200, reused[0].json()["id"])


def test_fifty_requests_with_new_bounds_make_one_scan(service: Service) -> None:
    table = service.table(X_COLUMNS, numbers_csv(20_000), limit="1000", allowance="1000")
    before = service.scans()
    wide = {"column": "x", "bounds": [-1000, 1000]}
    statuses = drain(lambda _: table.release({"kind": "variance", **wide}, epsilon="0.1", reuse=False), 50, 1)
    assert statuses == {201: 50}
    assert service.scans() - before == 1
    # What is known needs no scan: a variance takes the sum that a mean needs.
    assert table.release({"kind": "mean", **wide}, epsilon="0.1", reuse=False).status_code == 201
    assert service.scans() - before == 1
