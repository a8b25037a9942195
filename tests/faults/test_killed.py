"""`kill -9` under load, again and again: what was acknowledged is there, and a retry is never charged twice."""

import os
import random
import secrets
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv, serving

CYCLES = int(os.environ.get("KILL_CYCLES", "8"))
CLIENTS = 8
MEAN = {"kind": "mean", "column": "x"}
MICRO = 1_000_000  # each release costs ε = 10⁻⁶


class Killed:
    """A table, across the lives of its service."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self._folder, self._url = folder, database_url
        self._settings = {"ADMIN_KEY": secrets.token_urlsafe(32), "SECRET": secrets.token_hex(32)}
        self.acknowledged: dict[str, bytes] = {}
        self.attempted: set[str] = set()
        with self._alive() as service:
            table = service.table(X_COLUMNS, numbers_csv(50), limit="1000000", allowance="1000000")
        self._names = table.name, table.owner_name, table.analyst_name
        self._keys = [
            client.headers["Authorization"].removeprefix("Bearer ") for client in (table.owner, table.analyst)
        ]

    @contextmanager
    def _alive(self) -> Iterator[Service]:
        with serving(self._folder, self._url, **self._settings) as service:
            service.admin.headers["Authorization"] = f"Bearer {self._settings['ADMIN_KEY']}"
            yield service

    @contextmanager
    def living(self) -> Iterator[Table]:
        with self._alive() as service:
            name, owner_name, analyst_name = self._names
            owner, analyst = map(service.client, self._keys)
            yield Table(service, name, owner_name, owner, analyst_name, analyst)

    def ask(self, table: Table, key: str) -> httpx.Response:
        self.attempted.add(key)
        return table.release(MEAN, key=key, epsilon="0.000001", reuse=False)

    def load_until_killed(self, table: Table, seconds: float) -> set[str]:
        """Ask until the service is killed; the keys that got no answer."""
        in_doubt: set[str] = set()

        def client(_: int) -> None:
            while True:
                key = secrets.token_hex(8)
                in_doubt.add(key)
                try:
                    answer = self.ask(table, key)
                except httpx.TransportError:
                    return
                assert answer.status_code == 201, answer.text
                self.acknowledged[key] = answer.content
                in_doubt.remove(key)

        with ThreadPoolExecutor(CLIENTS) as pool:
            threading.Timer(seconds, os.kill, (table.service.pid, signal.SIGKILL)).start()
            list(pool.map(client, range(CLIENTS)))
        return in_doubt

    def spent(self, table: Table) -> int:
        """How many releases are paid."""
        budget = table.budget()
        assert budget["epsilon_spent"] == budget["allowances"][0]["epsilon_spent"]
        return int(Decimal(budget["epsilon_spent"]) * MICRO)

    def assert_replayed(self, table: Table, keys: set[str]) -> None:
        def replay(key: str) -> None:
            answer = self.ask(table, key)
            assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (201, "true")
            assert answer.content == self.acknowledged[key]

        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(replay, keys))

    def assert_nothing_is_lost(self, table: Table, since: set[str], in_doubt: set[str]) -> None:
        """Acknowledged <= spent <= attempted; and once all that was in doubt is retried, each key is paid once."""
        assert len(self.acknowledged) <= self.spent(table) <= len(self.attempted)
        self.assert_replayed(table, since)
        for key in in_doubt:
            answer = self.ask(table, key)
            assert answer.status_code == 201
            self.acknowledged[key] = answer.content
        self.assert_replayed(table, in_doubt)
        assert self.spent(table) == len(self.attempted) == len(self.acknowledged)
        assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"] is True


@pytest.mark.slow
@pytest.mark.timeout(60 + 30 * CYCLES)
def test_what_was_acknowledged_outlives_every_kill(tmp_path: Path, empty_database_url: str) -> None:
    killed, chance = Killed(tmp_path, empty_database_url), random.Random(1)
    since: set[str] = set()
    in_doubt: set[str] = set()
    for _ in range(CYCLES):
        with killed.living() as table:
            killed.assert_nothing_is_lost(table, since, in_doubt)
            before = set(killed.acknowledged)
            in_doubt = killed.load_until_killed(table, chance.uniform(0.05, 0.5))
            since = set(killed.acknowledged) - before
    with killed.living() as table:
        killed.assert_nothing_is_lost(table, since, in_doubt)
        killed.assert_replayed(table, set(killed.acknowledged))
    assert len(killed.acknowledged) > CYCLES
