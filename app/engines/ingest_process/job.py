"""The job that the service sends to a process, and the messages that come back."""

import json
import pickle
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from app.dp.table.columns import Column
from app.engines.ingest import Units
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.parquet.parquet_parts import Part

Message: TypeAlias = dict[str, Any]

_LENGTH = struct.Struct(">Q")


class Limits(NamedTuple):
    """The resources that reading one file may take; `disk_bytes` is for all files that it writes."""

    memory_bytes: int
    disk_bytes: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read.

    Attributes:
        directory: the directory to which everything is written.
        is_stream: whether the file is a CSV that can be read only once, and has no digest.
        parts: the Parquet files that the file consists of, if it is several, one after the other.
        is_draft: whether the columns are to be drafted, and nothing is stored.
        has_header: whether a line of a file that is drafted has the names of the columns.
    """

    directory: Path
    columns: Sequence[Column]
    units: Units | None
    form: FileFormat
    limits: Limits
    is_stream: bool = False
    parts: Sequence[Part] = ()
    is_draft: bool = False
    has_header: bool = True

    @property
    def target(self) -> Path:
        """The stored table."""
        return self.directory / "table.parquet"

    @property
    def engine_memory_bytes(self) -> int:
        """What DuckDB may take as it counts, which is less than it takes."""
        return self.limits.memory_bytes * 2 // 5


def send_job(connection: socket.socket, job: Job) -> None:
    """Send a job to a process, pickled. The service never unpickles what the process sends."""
    content = pickle.dumps(job)
    connection.sendall(_LENGTH.pack(len(content)) + content)


def receive_job(connection: BinaryIO) -> Job:
    """Return the job that the service sent.

    Raises:
        EOFError: the service closed the connection.
    """
    head = connection.read(_LENGTH.size)
    content = connection.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    job = pickle.loads(content)  # noqa: S301 - it comes from the service
    assert isinstance(job, Job)  # noqa: S101
    return job


def send_message(connection: socket.socket, message: Message) -> None:
    """Send a message to the service as one line of JSON."""
    connection.sendall(json.dumps(message).encode() + b"\n")


def read_messages(content: bytes) -> Message:
    """Return the members of all messages as one dictionary."""
    told: Message = {}
    for line in content.splitlines():
        told.update(json.loads(line))
    return told
