"""Four workers on Postgres, under load, while what they stand on breaks.

Refusals are 503 or 429, what was debited has an answer, and five seconds after the cause's end every call is answered.
"""

import itertools
import os
import secrets
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import httpx
import psutil
import pytest
from postgres_machine import Machine
from service_world import X_COLUMNS, Table, becomes, numbers_csv, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CLIENTS = 16
MEAN = {"kind": "mean", "column": "x"}
RECOVERY_SECONDS = 5  # what is promised: the one time that a test holds against a clock


@dataclass
class Load:
    """Clients that ask without a pause, each key until it is answered."""

    table: Table
    statuses: Counter[int] = field(default_factory=Counter)
    answered: dict[str, bytes] = field(default_factory=dict)
    lost: int = 0
    last_failure: float = 0.0
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _patient_until: float = float("inf")
    _ending: threading.Event = field(default_factory=threading.Event)

    def _client(self) -> None:
        while not self._ending.is_set():
            key = f"key {next(self._numbers)}"
            while key not in self.answered and time.monotonic() < self._patient_until:
                self._ask(key)

    def _ask(self, key: str) -> None:
        try:
            answer = self.table.release(MEAN, key=key, epsilon="0.000001", reuse=False)
        except httpx.TransportError:
            self.lost += 1
            self.last_failure = time.monotonic()
            time.sleep(0.05)
            return
        self.statuses[answer.status_code] += 1
        if answer.status_code == 201:
            self.answered[key] = answer.content
            return
        assert int(answer.headers["retry-after"]) >= 1
        self.last_failure = time.monotonic()
        time.sleep(0.05)

    @contextmanager
    def running(self) -> Iterator["Load"]:
        clients = [threading.Thread(target=self._client) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            time.sleep(1)
            yield self
        finally:
            self._patient_until = time.monotonic() + 60
            self._ending.set()
            for client in clients:
                client.join()

    def recover(self) -> None:
        """Go on until well after the time that recovery may take; every failure was before its end."""
        ended = time.monotonic()
        time.sleep(RECOVERY_SECONDS + 2)
        after = max(0.0, self.last_failure - ended)
        print(f"recovered after {after:.1f} s; answers {dict(self.statuses)}, {self.lost} lost")  # noqa: T201
        assert after < RECOVERY_SECONDS

    def assert_paid_once(self, *, lost: bool = False) -> None:
        """Refusals were what they may be, and each key was debited once and has its answer."""
        assert self.statuses.keys() <= {201, 429, 503}
        assert lost or self.lost == 0
        assert len(self.answered) == next(self._numbers)
        budget = self.table.budget()
        assert Decimal(budget["epsilon_spent"]) * 10**6 == len(self.answered)
        for key in list(self.answered)[:: max(1, len(self.answered) // 50)]:
            replayed = self.table.release(MEAN, key=key, epsilon="0.000001", reuse=False)
            assert (replayed.content, replayed.headers["idempotency-replayed"]) == (self.answered[key], "true")
        assert self.table.owner.get(f"{self.table.path}/ledger/verification").json()["valid"] is True


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with _machine(Path("/tmp") / f"snapledger-faults-{secrets.token_hex(4)}") as opened:  # noqa: S108
        yield opened


@contextmanager
def _machine(folder: Path) -> Iterator[Machine]:
    """In a directory of its own: that of pytest is closed to the user that the server runs as."""
    folder.mkdir(exist_ok=True)
    opened = Machine(folder)
    try:
        yield opened
    finally:
        opened.close()
        subprocess.run(["rm", "-rf", *folder.iterdir()], check=True)  # noqa: S603, S607
        if not folder.is_mount():
            folder.rmdir()


@contextmanager
def loaded(folder: Path, machine: Machine) -> Iterator[Load]:
    with serving(folder, machine.url, "--workers", "4") as service:
        table = service.table(X_COLUMNS, numbers_csv(50), limit="1000000", allowance="1000000")
        yield Load(table)


def _busiest_worker(service: int) -> int:
    """That of most clients. One that was killed before may vanish while it is looked at."""
    connections: dict[int, int] = {}
    for process in psutil.Process(service).children():
        with suppress(psutil.Error):
            connections[process.pid] = len(process.net_connections("tcp"))
    return max(connections, key=connections.__getitem__)


def test_a_worker_is_killed(tmp_path: Path, machine: Machine) -> None:
    with loaded(tmp_path, machine) as load:
        with load.running():
            for _ in range(3):
                os.kill(_busiest_worker(load.table.service.pid), signal.SIGKILL)
                time.sleep(2)
            load.recover()
        load.assert_paid_once(lost=True)
        assert 0 < load.lost <= 3 * CLIENTS
        # A request is counted until a moment after its answer, and those of the killed workers are forgotten.
        address = f"{load.table.service.url}/metrics"
        assert becomes(lambda: "\nsnapledger_requests_in_flight 1.0" in httpx.get(address).text), httpx.get(
            address
        ).text


def test_the_database_is_killed(tmp_path: Path, machine: Machine) -> None:
    with loaded(tmp_path, machine) as load:
        with load.running():
            for _ in range(2):
                with machine.killed():
                    pass
                load.recover()
        load.assert_paid_once()
        assert load.statuses[503] > 0


def test_the_database_is_frozen(tmp_path: Path, machine: Machine) -> None:
    with loaded(tmp_path, machine) as load:
        with load.running():
            with machine.frozen():
                before = load.statuses.total()
                for _ in range(10):
                    time.sleep(1)
                    assert httpx.get(f"{load.table.service.url}/healthz", timeout=5).status_code == 200
                assert load.statuses.total() <= before + CLIENTS
            load.recover()
        load.assert_paid_once()


def test_connections_are_exhausted(tmp_path: Path, machine: Machine) -> None:
    with loaded(tmp_path, machine) as load:
        with load.running():
            with machine.crowded():
                time.sleep(3)
            load.recover()
        load.assert_paid_once()
        assert load.statuses[503] > 0


@contextmanager
def _small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "snapledger-faults", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:  # noqa: S603
        folder.rmdir()
        pytest.skip("a small disk of its own needs root, and the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)  # noqa: S603, S607
        folder.rmdir()


def test_the_disk_of_the_database_is_full(tmp_path: Path) -> None:
    with (
        _small_disk(Path("/tmp") / f"snapledger-faults-{secrets.token_hex(4)}", "300m") as disk,  # noqa: S108
        _machine(disk) as machine,
        loaded(tmp_path, machine) as load,
    ):
        with load.running():
            with machine.full():
                time.sleep(5)
            load.recover()
        load.assert_paid_once()
        assert load.statuses[503] > 0


def test_the_disk_of_the_data_is_full(tmp_path: Path, machine: Machine) -> None:
    with _small_disk(tmp_path / "data", "4m") as data, serving(tmp_path, machine.url) as service:
        _, owner = service.principal("owner")
        metadata = {"name": "large", "epsilon_limit": 1, "columns": {"x": {"kind": "real", "bounds": [0, 1]}}}
        content = "x\n" + "\n".join(str(1 / number) for number in range(1, 700_000))
        with service.unchanged():
            answer = service.upload(owner, metadata, content.encode())
            assert (answer.status_code, answer.headers.get("retry-after")) == (503, "1")
        filler = data / "filler"
        with pytest.raises(OSError, match="No space left"):
            filler.write_bytes(b"x" * 2**24)
        small = service.upload(owner, metadata, b"x\n0.5\n0.25\n")
        assert small.status_code == 503
        filler.unlink()
        assert service.upload(owner, metadata, b"x\n0.5\n0.25\n").status_code == 201
