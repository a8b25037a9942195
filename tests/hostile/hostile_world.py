"""A service with little memory, and people on it: one who attacks, and one who only looks at a budget."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from memory_limit import MemoryLimit, limited_memory, resident_peak_bytes
from service_world import Service, Table, key_of, numbers_csv, serving
from watcher import Watcher, watching

COLUMNS: dict[str, Any] = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "k": {"kind": "category", "categories": ["a", "b", "c"]},
}
TABLE_ROWS = 1_000


@dataclass
class Target:
    """A service to attack; its table has an owner and an analyst, and the bystander has an allowance on it."""

    service: Service
    table: Table
    bystander: httpx.Client
    watcher: Watcher
    memory: MemoryLimit

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        url = httpx.URL(self.service.url)
        return url.host, url.port or 80

    def is_alive(self) -> bool:
        try:
            status = Path(f"/proc/{self.service.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return status not in {"Z", "X"}

    def faults(self) -> list[str]:
        """Everything that must not have happened so far."""
        self.watcher.read()
        faults = self.watcher.faults()
        if not self.is_alive():
            faults.append("the service has ended")
        if kills := self.memory.kills():
            faults.append(f"the kernel killed {kills} of its processes for want of memory")
        return faults

    def summary(self) -> str:
        """What the bystander saw, and the most memory that was used."""
        self.watcher.read()
        resident = resident_peak_bytes(self.service.pid) / 2**20 if self.is_alive() else 0
        peak = self.memory.peak_bytes(self.service.pid) / 2**20
        return f"{self.watcher.summary()}; peak {peak:.0f} MiB with files in the cache, resident {resident:.0f} MiB"


def _rows() -> str:
    header, *lines = numbers_csv(TABLE_ROWS).splitlines()
    return "\n".join([f"{header},k", *(f"{line},{'abc'[i % 3]}" for i, line in enumerate(lines))]) + "\n"


@contextmanager
def start_target(folder: Path, database_url: str, *options: str, **settings: str) -> Iterator[Target]:
    """A running service in a memory limit of its own, watched from when its people and table are made until the end."""
    settings = {"MAX_UPLOAD_BYTES": str(2**30), **settings}
    with (
        limited_memory() as memory,
        serving(folder, database_url, *options, launcher=memory.launcher, **settings) as service,
    ):
        table = service.table(COLUMNS, _rows(), limit="1000000", allowance="1000000")
        _, bystander = table.another("1")
        with watching(folder, service.url, f"{table.path}/budget", key_of(bystander)) as watcher:
            yield Target(service, table, bystander, watcher, memory)
