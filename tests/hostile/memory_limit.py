"""A limit of memory for a process and all of its children: a memory cgroup, or else a limit for each process."""

import itertools
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

MAX_BYTES = 2**30

_numbers = itertools.count()
# Enters the cgroup before it becomes the command, so that not a byte of it is outside.
_ENTER = 'echo $$ > "$0"/cgroup.procs && exec "$@"'


@dataclass(frozen=True)
class MemoryLimit:
    """What runs a command within the limit, and what is known about its memory afterwards."""

    launcher: tuple[str, ...]
    cgroup: Path | None = None

    def kills(self) -> int:
        """How many processes the kernel killed because there was no more memory."""
        if self.cgroup is None:
            return 0
        for name in ("memory.events", "memory.oom_control"):
            if (path := self.cgroup / name).exists() and (
                found := re.search(r"^oom_kill (\d+)", path.read_text(), re.MULTILINE)
            ):
                return int(found[1])
        return 0

    def peak_bytes(self, pid: int) -> int:
        """The most memory that the processes had at once, files in the cache included; of one process if need be."""
        if self.cgroup is not None:
            for name in ("memory.peak", "memory.max_usage_in_bytes"):
                if (path := self.cgroup / name).exists():
                    return int(path.read_text())
        return resident_peak_bytes(pid)


def resident_peak_bytes(pid: int) -> int:
    """The most memory that one process had."""
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


@contextmanager
def limited_memory(max_bytes: int = MAX_BYTES) -> Iterator[MemoryLimit]:
    """A memory cgroup of version 1 or 2; else `prlimit --data` for each process; the test is skipped without either."""
    name = f"snapledger-hostile-{os.getpid()}-{next(_numbers)}"
    for root, limit in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        cgroup = root / name
        try:
            cgroup.mkdir()
        except OSError:
            continue
        try:
            (cgroup / limit).write_text(str(max_bytes))
            if (swap := cgroup / "memory.swap.max").exists():
                swap.write_text("0")
        except OSError:
            cgroup.rmdir()
            continue
        try:
            yield MemoryLimit(("sh", "-c", _ENTER, str(cgroup)), cgroup)
        finally:
            _remove(cgroup)
        return
    if shutil.which("prlimit") is None:
        pytest.skip("neither a memory cgroup can be made (run as root) nor is there prlimit")
    yield MemoryLimit(("prlimit", f"--data={max_bytes}", "--"))


def _remove(cgroup: Path) -> None:
    """Remove the cgroup once its processes have gone."""
    for _ in range(100):
        try:
            cgroup.rmdir()
        except OSError:
            time.sleep(0.05)
        else:
            return
