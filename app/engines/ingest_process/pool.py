"""The service's side: start the fork server when it is first needed, send it files, and end what takes too long."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from app.engines.errors import EngineFailure, InvalidFile, Problem
from app.engines.ingest_process.job import Job, Limits, Message, read_messages, send_job

Interrupted: TypeAlias = Callable[[], bool]
"""Returns true when the caller no longer waits for the outcome."""

_LOOK_SECONDS = 0.1
_KILL_SECONDS = 30  # a process that is given up ends in this time, unless the fork server hangs
_MAX_MESSAGE_BYTES = 2**21
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "TZ")
_SETTINGS = {
    # One thread, so that forking is safe. Allocators that reserve little, so that the memory limit is meaningful.
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    # Freed memory is reused, and returned only when the process ends: returning it earlier takes a third more time.
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TRIM_THRESHOLD_": str(2**26),
    "MALLOC_TOP_PAD_": str(2**24),
    "PYTHONDONTWRITEBYTECODE": "1",
}
_MEMORY_SHARE = 0.8
"""A process that crashed with at least this share of its memory in use counts as out of memory."""


class IngestInterrupted(EngineFailure):
    """The caller no longer waits for the outcome; nothing was stored."""


class IngestProcesses:
    """Reads each file in a process of its own; safe for threads.

    Args:
        limits: what each process may use.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._closed = False

    def run(self, job: Job, upload: int, interrupted: Interrupted) -> Message:
        """Have a process store an upload in the job's directory, or draft its columns, and return its message.

        The message has the row count `n`, and `sha256` of a file, or `draft` and `left_out`.
        `upload` is a file descriptor. When this returns or raises, the process has ended, unless the fork server hangs.

        Raises:
            InvalidFile: the file does not match the declaration, or needs more than a limit allows.
            IngestInterrupted: `interrupted` became true.
            EngineFailure: the process failed, or something else ended it.
        """
        deadline = time.monotonic() + job.limits.seconds
        with self._start(upload) as connection:
            send_job(connection, job)
            connection.settimeout(_LOOK_SECONDS)
            content = b""
            given_up: Exception | None = None
            while (piece := _receive(connection)) != b"":
                content = (content + (piece or b""))[:_MAX_MESSAGE_BYTES]
                if given_up is not None:
                    if time.monotonic() > deadline:
                        break
                    continue
                if interrupted():
                    given_up = IngestInterrupted()
                elif time.monotonic() > deadline:
                    given_up = _describe_exceeded_limit("seconds", job.limits)
                if given_up is not None:
                    connection.shutdown(socket.SHUT_WR)  # then the server kills the process
                    deadline = time.monotonic() + _KILL_SECONDS
        if given_up is not None:
            raise given_up
        return _outcome(read_messages(content), job.limits)

    def close(self) -> None:
        """End the server and all processes."""
        with self._lock:
            self._closed = True
            self._forget()

    def _start(self, upload: int) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            if self._closed:
                raise EngineFailure
            try:
                socket.send_fds(self._serving(), [b"j"], [theirs.fileno(), upload])
            except OSError:  # the server was killed; the next call starts another one
                self._forget()
                ours.close()
                raise
        return ours

    def _serving(self) -> socket.socket:
        if self._control is None or self._server is None or self._server.poll() is not None:
            self._forget()
            self._control, theirs = socket.socketpair()
            kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
            path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            module = "app.engines.ingest_process.fork_server"
            with theirs:
                self._server = subprocess.Popen(  # noqa: S603 - no part of it comes from a request
                    [sys.executable, "-P", "-m", module, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    env=kept | path | _SETTINGS,
                    start_new_session=True,
                )
        return self._control

    def _forget(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._server is not None:
            self._server.wait()
            self._server = None


def _receive(connection: socket.socket) -> bytes | None:
    """Return the next bytes from the process: empty at the end, None if nothing came for a while."""
    try:
        return connection.recv(2**16)
    except TimeoutError:
        return None
    except ConnectionError:  # the process ended before it read the job
        return b""


def _outcome(told: Message, limits: Limits) -> Message:
    """Return what a process's messages report, or raise the error that they report."""
    if "n" in told or "draft" in told:
        return told
    if "problems" in told:
        raise InvalidFile([Problem(str(where), str(what)) for where, what in told["problems"]])
    if "exceeded" in told:
        raise _describe_exceeded_limit(told["exceeded"], limits)
    status = told.get("status", -signal.SIGKILL)
    if status >= 0 or status in {-signal.SIGKILL, -signal.SIGTERM}:
        raise EngineFailure  # not because of the file: the machine ran out of memory, or somebody killed the process
    # The readers' own allocators abort a process that gets no more memory, before it has used any of what it asked for.
    if status == -signal.SIGABRT or told["peak_bytes"] > _MEMORY_SHARE * limits.memory_bytes:
        raise _describe_exceeded_limit("memory", limits)
    raise InvalidFile([Problem("file", "could not be read, and may be damaged: the process that read it crashed")])


def _describe_exceeded_limit(what: str, limits: Limits) -> InvalidFile:
    if what == "memory":
        much = (
            f"{_size(limits.memory_bytes)} of memory while it is read: write smaller row groups and pages, delete what "
            "a sheet has far from its table"
        )
        setting = "MEMORY_BYTES"
    elif what == "disk":
        much, setting = (
            f"{_size(limits.disk_bytes)} of disk when it is stored: send fewer rows or columns",
            "DISK_BYTES",
        )
    else:
        much, setting = f"{limits.seconds:,} seconds to be read: send fewer rows or columns", "SECONDS"
    what = f"needs more than {much}, or ask the operator to raise SNAPLEDGER_MAX_UPLOAD_{setting}"
    return InvalidFile([Problem("file", what)])


def _size(number: int) -> str:
    return f"{number // 2**20:,} MiB" if number >= 2**20 else f"{number:,} bytes"
