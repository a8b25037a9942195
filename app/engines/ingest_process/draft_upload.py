"""Draft the columns of an upload, in the process that reads it."""

import json
from pathlib import Path
from typing import BinaryIO

from app.engines.errors import InvalidFile, Problem
from app.engines.ingest.drafting.draft import TOO_MANY_COLUMNS, Draft, DuckDBSettings, draft_file
from app.engines.ingest_process.job import Job, Message

MAX_DRAFT_BYTES = 2**20 - 2**16
"""A longer draft could not be sent to be registered, as it is."""

TOO_LONG = "would make the draft longer than a registration may be"


def draft_upload(job: Job, upload: BinaryIO) -> Message:
    """Return the draft of an upload as a message.

    Raises:
        InvalidFile: it is no readable table, or has too many columns.
        MemoryError: it takes too much memory.
        OSError: DuckDB could not write what it needs.
    """
    settings: DuckDBSettings = {
        "memory_limit": f"{job.engine_memory_bytes}B",
        "threads": 1,
        "temp_directory": str(job.directory),
        "max_temp_directory_size": f"{job.limits.disk_bytes}B",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
    }
    path = Path(f"/proc/self/fd/{upload.fileno()}")
    draft = draft_file(upload, path, job.form, settings, has_header=job.has_header, max_bytes=MAX_DRAFT_BYTES)
    if not draft.columns and not draft.left_out:
        raise InvalidFile([Problem("file", "has no columns: send a table with their names in its first line")])
    _shorten(draft)
    return {"draft": draft.metadata(), "left_out": draft.left_out}


def _shorten(draft: Draft) -> None:
    """Leave out the longest columns of a draft that is too long.

    Raises:
        InvalidFile: the names of the columns alone are too long.
    """
    sizes = {name: _count_bytes({name: column}) for name, column in draft.columns.items()}
    total = _count_bytes(draft.metadata()) + _count_bytes(draft.left_out)
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if total <= MAX_DRAFT_BYTES:
            return
        draft.leave_out(name, TOO_LONG)
        total += _count_bytes({name: TOO_LONG}) - sizes[name]
    if total > MAX_DRAFT_BYTES:
        raise InvalidFile([Problem("file", TOO_MANY_COLUMNS)])


def _count_bytes(value: object) -> int:
    return len(json.dumps(value))
