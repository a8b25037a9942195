"""Two replicas on one volume and one Postgres, with one storage of rates, behind the proxy."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from build_context import ROOT
from service_world import X_COLUMNS, Service, free_port, key_of, numbers_csv, serving
from sqlalchemy import make_url

pytestmark = [pytest.mark.container, pytest.mark.timeout(300)]

MEAN = {"kind": "mean", "column": "x"}
RATE = 150  # a minute
ALONE = "the shared rate-limit storage does not answer: "
SECRETS = {"ADMIN_KEY": "an-admin-key-that-nobody-can-guess-0123", "SECRET": "s" * 32}


@dataclass
class Fleet:
    """The replicas, and the first of them as it looks through the proxy."""

    replicas: list[Service]
    through: Service
    rates: "subprocess.Popen[bytes]"

    def logs(self) -> str:
        return "".join(replica.log.read_text() for replica in self.replicas)

    def answered(self) -> list[float]:
        """How many requests about the caller each replica answered with 200."""
        text = [httpx.get(f"{replica.url}/metrics").text for replica in self.replicas]
        wanted = 'snapledger_requests_total{method="GET",route="/v1/me",status="200"} '
        return [
            float(next((line[len(wanted) :] for line in each.splitlines() if line.startswith(wanted)), "0"))
            for each in text
        ]


@contextmanager
def program(*command: str, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        command, env=os.environ | variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, postgres_server: str, postgres_template: str) -> Iterator[Fleet]:
    for needed in ("caddy", "redis-server"):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is not here")
    import psycopg  # noqa: PLC0415 - nothing else here needs it

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE fleet TEMPLATE {postgres_template} STRATEGY FILE_COPY")
    url = make_url(postgres_server).set(database="fleet").render_as_string(hide_password=False)
    shared, storage = tmp_path_factory.mktemp("shared"), free_port()
    settings = {
        **SECRETS,
        "AUTO_MIGRATE": "false",
        "DATA_DIR": str(shared),
        "RATE_LIMIT": f"{RATE}/minute",
        "RATE_LIMIT_STORAGE": f"redis://127.0.0.1:{storage}",
    }
    with ExitStack() as until_the_end:
        rates = until_the_end.enter_context(
            program("redis-server", "--port", str(storage), "--save", "", "--bind", "127.0.0.1")
        )
        replicas = []
        for number in range(2):
            folder = tmp_path_factory.mktemp(f"replica-{number}")
            replica = until_the_end.enter_context(serving(folder, url, **settings))
            replica.data = shared
            replicas.append(replica)
        port = free_port()
        folder = tmp_path_factory.mktemp("proxy")
        behind = " ".join(replica.url.removeprefix("http://") for replica in replicas)
        variables = {"SNAPLEDGER_SITE": f":{port}", "SNAPLEDGER_REPLICAS": behind, "HOME": str(folder)}
        configuration = str(ROOT / "deploy/Caddyfile")
        until_the_end.enter_context(
            program("caddy", "run", "--adapter", "caddyfile", "--config", configuration, **variables)
        )
        first = replicas[0]
        through = Service(
            f"http://127.0.0.1:{port}", SECRETS["ADMIN_KEY"], shared, first.log, url, first.pid, first.contract
        )
        _until(lambda: httpx.get(f"{through.url}/readyz").status_code == 200)
        yield Fleet(replicas, through, rates)
        for client in through.clients:
            client.close()


def _until(true, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if true():
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _stored(fleet: Fleet) -> set[Path]:
    """The files of tables, and the sums that are kept beside them."""
    return {path for path in fleet.through.data.rglob("*") if path.suffix in {".parquet", ".json", ".pending"}}


def test_both_answer_with_one_volume_and_one_ledger(fleet: Fleet) -> None:
    of_others = _stored(fleet)
    reals = {"x": {"kind": "real", "bounds": [0, 100]}}  # whose histograms are not counted at registration
    table = fleet.through.table(reals, numbers_csv(20), limit="100", allowance="100")
    before = fleet.answered()
    with ThreadPoolExecutor(8) as hands:
        assert {answer.status_code for answer in hands.map(lambda _: table.analyst.get("/v1/me"), range(40))} == {200}
    assert all(now > then for now, then in zip(fleet.answered(), before, strict=True))
    direct = [replica.client(key_of(table.analyst)) for replica in fleet.replicas]
    first, second = (table.release(MEAN, key="one", client=client, epsilon=1, reuse=False) for client in direct)
    assert (first.status_code, second.headers["idempotency-replayed"]) == (201, "true")
    assert first.content == second.content
    assert {answer.headers["location"] for answer in (first, second)} == {f"/v1/releases/{first.json()['id']}"}
    listed = table.analyst.get(f"{table.path}/releases", params={"order": "newest", "limit": 1})
    assert listed.links["first"]["url"] == f"{table.path}/releases?order=newest&limit=1"
    path = f"{table.path}/allowances/{table.analyst_name}"
    tag = {"If-Match": table.owner.get(path).headers["etag"]}
    for status in (200, 412):  # the second one is not what was read any more
        assert table.owner.put(path, json={"epsilon_limit": "99"}, headers=tag).status_code == status
    histograms = [{"kind": "histogram", "column": "x", "bins": bins} for bins in range(2, 10)]
    with ThreadPoolExecutor(8) as hands:  # the same sums at the same time, kept on the same volume
        for histogram in histograms:
            answers = list(
                hands.map(
                    lambda number, asked=histogram: table.release(asked, client=direct[number % 2], epsilon="0.1"),
                    range(4),
                )
            )
            assert max(answer.status_code for answer in answers) in {200, 201}
    assert not any("sums cannot be kept" in replica.log.read_text() for replica in fleet.replicas)
    assert len([path for path in _stored(fleet) - of_others if path.suffix == ".json"]) == len(histograms)
    assert table.owner.delete(table.path).status_code == 204
    for client in direct:
        assert table.release(MEAN, client=client, epsilon=2).status_code == 409
    assert _stored(fleet) == of_others


def test_ids_go_through_and_addresses_are_not_believed(fleet: Fleet) -> None:
    told = {"X-Request-Id": "through-the-proxy", "X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9"}
    assert fleet.through.stranger.get("/healthz", headers=told).headers["x-request-id"] == "through-the-proxy"
    _until(lambda: "through-the-proxy" in fleet.logs())  # a line follows its answer
    assert "203.0.113.9" not in fleet.logs()
    assert fleet.through.stranger.get("/healthz").headers["content-type"] == "application/json"
    assert httpx.get(f"{fleet.through.url}/metrics").status_code == 404
    packed = httpx.get(f"{fleet.through.url}/openapi.json")
    assert (packed.headers["content-encoding"], packed.headers["etag"][:3]) == ("gzip", 'W/"')
    known = {"If-None-Match": packed.headers["etag"]}
    assert httpx.get(f"{fleet.through.url}/openapi.json", headers=known).status_code == 304


def test_bodies_that_are_too_large_are_told_so(fleet: Fleet) -> None:
    _, owner = fleet.through.principal("owner")
    answer = owner.post("/v1/principals", content=b"{" + b" " * 2**20, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")
    metadata = {"name": "large", "epsilon_limit": 1, "columns": X_COLUMNS}
    answer = fleet.through.upload(owner, metadata, b"x\n" + b"1\n" * 2**24)
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")


def test_the_replicas_count_calls_together(fleet: Fleet) -> None:
    told = -1
    while fleet.logs().count(ALONE) != told:  # again, if a machine that stood still made a replica count alone
        told = fleet.logs().count(ALONE)
        _, eager = fleet.through.principal("analyst")
        with ThreadPoolExecutor(16) as hands:
            statuses = list(hands.map(lambda _, eager=eager: eager.get("/v1/me").status_code, range(300)))
    assert (statuses.count(200), statuses.count(429)) == (RATE, 300 - RATE)
    refused = eager.get("/v1/me")
    assert refused.headers["ratelimit"].startswith(f'"{RATE}-per-minute";r=0;t=')
    assert refused.headers["ratelimit-policy"] == f'"{RATE}-per-minute";q={RATE};w=60'
    os.kill(fleet.rates.pid, signal.SIGSTOP)
    try:  # a storage that does not answer lets each count alone
        assert {eager.get("/v1/me").status_code for _ in range(4)} <= {200, 429}
        _, other = fleet.through.principal("analyst")
        assert other.get("/v1/me").status_code == 200
    finally:
        os.kill(fleet.rates.pid, signal.SIGCONT)
    assert fleet.logs().count(ALONE) > told


def _answers_at_once(client: httpx.Client, times: int) -> bool:
    return all(client.get("/v1/me", timeout=1).status_code == 200 for _ in range(times))


def test_one_replica_is_enough_and_none_is_a_problem(fleet: Fleet) -> None:
    table = fleet.through.table(X_COLUMNS, numbers_csv(20), limit="100", allowance="100")
    assert table.release(MEAN, key="before", epsilon=1, reuse=False).status_code == 201
    stopped = []
    try:
        for replica in fleet.replicas:
            os.kill(replica.pid, signal.SIGSTOP)
            stopped.append(replica.pid)
            if len(stopped) == 1:
                _until(lambda: _answers_at_once(table.analyst, 10))  # the proxy has noticed
                asked = [table.release(MEAN, key=f"k{n}", epsilon="0.1", reuse=False).status_code for n in range(10)]
                assert asked == [201] * 10
        # The proxy looks for a replica for five seconds before it says so.
        _until(lambda: table.analyst.get("/v1/me", timeout=20).status_code == 503)
        answer = table.analyst.get("/v1/me")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.json()["type"] == "/problems/unavailable"
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    _until(lambda: table.analyst.get("/v1/me").status_code == 200)
    debits = [entry for entry in table.entries() if entry["kind"] == "debit"]
    assert len(debits) == 11
    assert json.loads(table.owner.get(f"{table.path}/ledger/verification").content)["valid"] is True
