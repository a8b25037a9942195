"""Small files that take much to read, and requests that send them."""

import io
import json
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from service_world import key_of

TEXTS: dict[str, Any] = {"t": {"kind": "category", "categories": ["a"]}}


def _written(groups: list[pa.Table], **options: Any) -> bytes:
    file = io.BytesIO()
    with pq.ParquetWriter(file, groups[0].schema, compression="zstd", **options) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=group.num_rows)
    return file.getvalue()


@cache
def distinct_texts(rows: int, groups: int = 1) -> bytes:
    """Texts of 10,000 characters, all different, in the dictionaries of row groups: 6 bytes each in the file."""
    filling = "x" * 9_992

    def group(number: int) -> pa.Table:
        first = number * rows // groups
        return pa.table({"t": [f"{first + i:08d}{filling}" for i in range(rows // groups)]})

    return _written([group(number) for number in range(groups)], dictionary_pagesize_limit=2**30)


@cache
def runs_of_nothing(rows: int, columns: int, groups: int = 10) -> bytes:
    """Columns of missing values `c0`, `c1` and so on: next to nothing in the file, and as long to read as any."""
    group = pa.table({f"c{i}": pa.nulls(rows // groups, pa.int64()) for i in range(columns)})
    return _written([group] * groups)


@cache
def random_numbers(rows: int) -> bytes:
    """A column `c0` of numbers that no compression makes smaller."""
    return _written([pa.table({"c0": np.random.default_rng(5).integers(0, 2**62, rows)})])


@cache
def wide_header(columns: int) -> bytes:
    """A CSV of one row with very many columns."""
    return b",".join(b"%x" % i for i in range(columns)) + b"\n" + b",".join([b"1"] * columns) + b"\n"


def numbers(columns: int) -> dict[str, Any]:
    """The declarations of `c0`, `c1` and so on."""
    return {f"c{i}": {"kind": "integer", "bounds": [0, 9]} for i in range(columns)}


def send_upload(
    client: httpx.Client,
    metadata: dict[str, Any],
    content: bytes,
    path: str = "/v1/datasets",
    *,
    whole: bool = True,
) -> socket.socket:
    """A connection on which an upload was sent, whole or without its end, and whose answer nobody has read."""
    mark = "f58d3c2a"
    parts = [("metadata", json.dumps(metadata).encode()), ("file", content)]
    body = b"".join(
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"{"; filename=f" * (name == "file")}\r\n\r\n'.encode()
        + part
        + b"\r\n"
        for name, part in parts
    )
    body += f"--{mark}--\r\n".encode()
    url = urlsplit(str(client.base_url))
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {key_of(client)}\r\n"
        f"Content-Type: multipart/form-data; boundary={mark}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.create_connection((url.hostname or "", url.port or 80), timeout=60)
    connection.sendall(head.encode() + (body if whole else body[:-10]))
    return connection


def status_of(connection: socket.socket) -> int:
    """The status of the answer that comes on a connection."""
    with connection, connection.makefile("rb") as answer:
        return int(answer.readline().split()[1])


def children_of(pid: int) -> list[int]:
    """The processes that a process started and that live, in the order of the threads that started them."""
    children: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda thread: int(thread.name)):
            with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended since
                children += map(int, thread.joinpath("children").read_text().split())
    return children


def readers_of(pid: int) -> list[int]:
    """The processes in which a service reads files now."""
    return [reader for server in children_of(pid) for reader in children_of(server)]
