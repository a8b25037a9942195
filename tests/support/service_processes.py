"""Processes of the service, forked from one that has loaded the program already: a start takes a tenth of the time.

Run as a program, this is the process that forks: each line of its input describes a process, each of its output is the
number of one.
"""

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

_one_by_one = threading.Lock()


class ServiceProcess:
    """A running `snapledger …`, with as much of `subprocess.Popen` as services need."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._descriptor: int | None = os.pidfd_open(pid)
        except ProcessLookupError:  # it has ended already
            self._descriptor = None

    def poll(self) -> int | None:
        """None as long as it runs; what it ended with is not known here."""
        return None if self._runs(0) else 0

    def terminate(self) -> None:
        """Ask it to end."""
        if self._descriptor is not None and self._runs(0):
            signal.pidfd_send_signal(self._descriptor, signal.SIGTERM)

    def wait(self, timeout: float) -> None:
        """Wait until it has ended.

        Raises:
            TimeoutError: it has not within so many seconds.
        """
        if self._runs(timeout):
            raise TimeoutError(f"process {self.pid} still runs after {timeout} seconds")

    def _runs(self, seconds: float) -> bool:
        if self._descriptor is None:
            return False
        poll = select.poll()  # a descriptor may be above 1,023, which select() does not take
        poll.register(self._descriptor, select.POLLIN)
        ended = poll.poll(seconds * 1000)
        if ended:
            os.close(self._descriptor)
            self._descriptor = None
        return not ended


def start(arguments: list[str], environment: dict[str, str], log: Path, folder: Path) -> ServiceProcess:
    """Start `snapledger` with these arguments, in this environment, with its output in a file."""
    order = {"arguments": arguments, "environment": environment, "log": str(log), "folder": str(folder)}
    with _one_by_one:
        forking = _forking_process()
        assert forking.stdin is not None
        assert forking.stdout is not None
        forking.stdin.write(json.dumps(order) + "\n")
        forking.stdin.flush()
        return ServiceProcess(int(forking.stdout.readline()))


@cache
def _forking_process() -> "subprocess.Popen[str]":
    """The process that forks; it ends with this one, whose end closes its input."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
    process = subprocess.Popen(  # noqa: S603 - this file
        [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    atexit.register(process.communicate)
    return process


def _next_to_be() -> dict[str, Any] | None:
    """Fork a process for each line; in such a process its description, and None at the end of the input."""
    for line in iter(sys.stdin.readline, ""):
        pid = os.fork()
        if pid == 0:
            described: dict[str, Any] = json.loads(line)
            return described
        print(pid, flush=True)  # noqa: T201 - the answer
    return None


def _become(described: dict[str, Any]) -> None:
    """Have the arguments, environment, folder and output of the process that is described."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with Path(os.devnull).open("rb") as nothing, Path(described["log"]).open("wb") as log:
        os.dup2(nothing.fileno(), 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.chdir(described["folder"])
    os.environ.clear()
    os.environ.update(described["environment"])
    sys.argv = ["snapledger", *described["arguments"]]


if __name__ == "__main__":
    import app.main  # noqa: F401 - uvicorn imports it in each process
    from app.cli import service_commands

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have ended
    gc.collect()
    gc.freeze()  # so that no process looks through what is loaded, and has a copy of it then
    to_be = _next_to_be()
    if to_be is not None:
        _become(to_be)
        service_commands.main()
