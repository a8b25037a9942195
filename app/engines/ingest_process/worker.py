"""The process that reads one file within its limits, reports the outcome and ends."""

import errno
import os
import resource
import socket
from pathlib import Path
from typing import BinaryIO

from app.engines.backends.duckdb_engine import DuckDBEngine
from app.engines.errors import InvalidFile
from app.engines.ingest_process.draft_upload import draft_upload
from app.engines.ingest_process.intake import Counting, ingest_file, ingest_parts, ingest_stream
from app.engines.ingest_process.job import Job, Message, receive_job, send_message

_NICENESS = 5
"""Lowers the priority of uploads below that of requests."""

_FILES_WITH_UNITS = 3
"""The staged table, the stored one, and the file to which DuckDB spills."""


def work(connection: socket.socket, upload: BinaryIO) -> None:
    """Read the upload as the job says, and report the outcome: only a draft contains values of the data."""
    _silence()
    job = receive_job(connection.makefile("rb"))
    _limit(job)
    try:
        outcome = _outcome(job, upload)
    except BaseException as error:  # noqa: BLE001 - its text may contain values
        outcome = {"failed": type(error).__name__}
    send_message(connection, outcome)


def _silence() -> None:
    """Discard everything that libraries print, because it may contain values."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    os.close(null)


def _limit(job: Job) -> None:
    """Limit the memory, to what is in use now plus what the job may take, and the size of each file that is written."""
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, _file_bytes(job))
    _lower(resource.RLIMIT_DATA, _data_bytes() + job.limits.memory_bytes)


def _lower(kind: int, limit: int) -> None:
    hard = resource.getrlimit(kind)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (limit, limit))


def _file_bytes(job: Job) -> int:
    return job.limits.disk_bytes // (1 if job.units is None else _FILES_WITH_UNITS)


def _data_bytes() -> int:
    """Return the size of the private writable memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise OSError


def _outcome(job: Job, upload: BinaryIO) -> Message:
    try:
        return draft_upload(job, upload) if job.is_draft else _store(job, upload)
    except InvalidFile as error:
        return {"problems": error.problems}
    except MemoryError:
        return {"exceeded": "memory"}
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        return {"exceeded": "disk"}


def _store(job: Job, upload: BinaryIO) -> Message:
    def open_engine() -> DuckDBEngine:
        return DuckDBEngine(
            job.directory,
            threads=1,
            memory_limit=f"{job.engine_memory_bytes}B",
            max_spilled_bytes=_file_bytes(job),
        )

    counting = Counting(job.directory, open_engine)
    if job.is_stream:
        return {"n": ingest_stream(counting, job.target, upload, job.form, job.columns, job.units)}
    if job.parts:
        return {"n": ingest_parts(counting, job.target, upload, job.parts, job.columns, job.units)}
    n, digest = ingest_file(counting, job.target, upload, job.form, job.columns, job.units)
    return {"n": n, "sha256": digest}
