"""Ask a service for its health and for a bystander's budget, again and again; a JSON line for each answer.

A process of its own, so that neither the interpreter of the attacker nor its sockets delay what it measures:
`watch_service.py URL BUDGET_PATH SERVICE_PID` with the bystander's key in the environment variable BYSTANDER_KEY. It
ends with the process that started it, or by SIGTERM.

Each line also tells how long the service was ready to run but had no processor while the answer was awaited (the most
of any of its threads, `waited`), and which share of the processors programs other than the test run (the service, the
attacker and the watcher) had in that time (`others`): whoever judges the answer can take off what is not the service's
own.
"""

import http.client
import json
import os
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

PAUSE_SECONDS = {"health": 0.1, "budget": 0.2}
TIMEOUT_SECONDS = 15
SHORTEST_SHARE_SECONDS = 1.0  # over less, ticks are too coarse

_ticks = os.sysconf("SC_CLK_TCK")
_print_lock = threading.Lock()


def read_machine_seconds() -> float:
    """The processor time that all programs have run, or the hypervisor has withheld."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _ticks


def read_tree_seconds(root: int) -> float:
    """The processor time of a process and its descendants, those that it waited for included."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(entry.name)
        parents[pid], seconds[pid] = int(fields[1]), sum(map(int, fields[11:15])) / _ticks

    def is_inside(pid: int) -> bool:
        while pid not in {0, root}:
            pid = parents.get(pid, 0)
        return pid == root

    return sum(seconds[pid] for pid in seconds if is_inside(pid))


class OtherPrograms:
    """The processor time of programs that are not part of the test run."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._samples = [self._sample()]

    def _sample(self) -> tuple[float, float]:
        return time.monotonic(), read_machine_seconds() - read_tree_seconds(self._root)

    def share_since(self, start: float) -> float:
        """Their share of all processors since a time."""
        with self._lock:
            start = min(start, time.monotonic() - SHORTEST_SHARE_SECONDS)
            if time.monotonic() - self._samples[-1][0] > SHORTEST_SHARE_SECONDS / 4:
                self._samples.append(self._sample())
            last, seconds = self._samples[-1]
            first, before = next(
                sample for sample in reversed(self._samples) if sample[0] <= start or sample is self._samples[0]
            )
            self._samples = self._samples[-200:]
        return min(1.0, max(0.0, (seconds - before) / (last - first) / (os.cpu_count() or 1))) if last > first else 0.0


def read_run_delays(root: int) -> dict[str, float]:
    """For each thread of a process and its children, how long it has waited for a processor, in seconds."""
    delays: dict[str, float] = {}
    for task in Path(f"/proc/{root}/task").glob("*"):
        try:
            delays[task.name] = int((task / "schedstat").read_text().split()[1]) / 10**9
            children = (task / "children").read_text().split()
        except OSError:  # it has ended, or this kernel does not tell
            continue
        for child in children:
            delays |= read_run_delays(int(child))
    return delays


def ask(host: str, port: int, path: str, headers: dict[str, str]) -> int | str:
    """The status of an answer on a connection of its own, or what went wrong."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        connection.close()
    return response.status


def watch(kind: str, url: str, path: str, headers: dict[str, str], service: int, others: OtherPrograms) -> None:
    """Ask for ever."""
    parts = urlsplit(url)
    while True:
        before, start = read_run_delays(service), time.monotonic()
        status = ask(parts.hostname or "", parts.port or 80, path, headers)
        seconds, after = time.monotonic() - start, read_run_delays(service)
        line = {
            "kind": kind,
            "status": status,
            "seconds": seconds,
            "waited": max((delay - before.get(task, 0) for task, delay in after.items()), default=0),
            "others": others.share_since(start),
        }
        with _print_lock:
            print(json.dumps(line), flush=True)  # noqa: T201 - that is its output
        time.sleep(PAUSE_SECONDS[kind])


def main() -> None:
    """Watch until the process that started this one has gone."""
    url, budget_path, service = sys.argv[1:]
    parent = os.getppid()
    others = OtherPrograms(parent)
    authorization = {"Authorization": f"Bearer {os.environ['BYSTANDER_KEY']}"}
    for kind, path, headers in (("health", "/healthz", {}), ("budget", budget_path, authorization)):
        arguments = (kind, url, path, headers, int(service), others)
        threading.Thread(target=watch, args=arguments, daemon=True).start()
    while os.getppid() == parent:
        time.sleep(0.5)


if __name__ == "__main__":
    main()
