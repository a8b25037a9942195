"""A program that forks a process for each file, kills those that the service has given up, and reports how they ended.

It is started as `python -m app.engines.ingest_process.fork_server DESCRIPTOR`. The descriptor is a socket on which the
service sends, for each file, the descriptors of a connection and of the file. The program has one thread, so
that forking is safe. When the service ends, for whatever reason, this program and its processes end too.
"""

import ctypes
import gc
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib.abc import MetaPathFinder

import pyarrow as pa

from app.engines.ingest_process.job import send_message
from app.engines.ingest_process.worker import work

_DESCRIPTORS = 2
_SET_PARENT_DEATH_SIGNAL = 1  # of prctl on Linux


class _WithoutPandas(MetaPathFinder):
    """Keeps PyArrow from importing pandas at the first array of each process; nothing here uses pandas."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:  # noqa: ARG002 - the interface
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


class ForkServer:
    """Forks a process for each file that the service sends.

    Args:
        control: the socket on which the service sends descriptors.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._poll = select.poll()
        self._connections: dict[int, socket.socket] = {}  # by process
        self._processes: dict[int, int] = {}  # by descriptor of the connection
        self._wake_end, self._woken_end = os.pipe()
        for end in (self._wake_end, self._woken_end):
            os.set_blocking(end, False)

    def run(self) -> None:
        """Fork a process for each file until the service closes the connection."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._woken_end, warn_on_full_buffer=False)
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._wake_end, select.POLLIN)
        serves = True
        while serves:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    serves = self._start()
                elif descriptor == self._wake_end:
                    os.read(self._wake_end, 2**12)
                    self._reap()
                elif descriptor in self._processes:
                    self._kill(descriptor)
        for process in self._connections:
            os.kill(process, signal.SIGKILL)

    def _start(self) -> bool:
        """Fork a process for the next file; return False if the service has closed the connection."""
        mark, descriptors, _, _ = socket.recv_fds(self._control, 1, _DESCRIPTORS)
        if not mark:
            return False
        connection, upload = socket.socket(fileno=descriptors[0]), descriptors[1]
        process = os.fork()
        if process == 0:
            self._become_worker(connection, upload)
        os.close(upload)
        self._connections[process] = connection
        self._processes[connection.fileno()] = process
        self._poll.register(connection, select.POLLRDHUP)
        return True

    def _become_worker(self, connection: socket.socket, upload: int) -> None:
        """Read one file and exit. This runs in the forked process."""
        status = 1
        try:
            ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            for other in self._connections.values():  # otherwise nobody would notice their end while this process lives
                other.close()
            with os.fdopen(upload, "rb") as file:
                work(connection, file)
            status = 0
        finally:
            os._exit(status)

    def _kill(self, descriptor: int) -> None:
        """Kill a process that the service has given up. It is reaped when it has ended."""
        self._poll.unregister(descriptor)
        os.kill(self._processes[descriptor], signal.SIGKILL)

    def _reap(self) -> None:
        while self._connections:
            process, status, usage = os.wait4(-1, os.WNOHANG)
            if process == 0:
                return
            connection = self._connections.pop(process)
            del self._processes[connection.fileno()]
            with suppress(KeyError):
                self._poll.unregister(connection)
            with suppress(OSError):
                ended = {"status": os.waitstatus_to_exitcode(status), "peak_bytes": usage.ru_maxrss * 1024}
                send_message(connection, ended)
            connection.close()


def main() -> None:
    """Serve the service that started this program."""
    sys.meta_path.insert(0, _WithoutPandas())
    pa.array([0])  # the first array, which tries to import pandas
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        ForkServer(control).run()


if __name__ == "__main__":
    main()
