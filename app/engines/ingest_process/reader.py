"""Read files and streams into stored tables, each in a process of its own, when a slot is free."""

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

from app.dp.table.columns import Column
from app.engines.atomic_files import remove, sync_directory
from app.engines.ingest import Units
from app.engines.ingest.drafting.draft import DraftedColumns
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.ingest.parquet.parquet_parts import Part
from app.engines.ingest_process.job import Job, Limits
from app.engines.ingest_process.pool import IngestInterrupted, IngestProcesses, Interrupted
from app.engines.ingest_process.slots import hold_slot
from app.engines.prepared_sums import prepared_file

MAX_WAIT_SECONDS = 60
"""How long a file waits for a free slot."""

_PIECE_BYTES = 2**16
_LOOK_SECONDS = 0.1


def never() -> bool:
    """Return False: the caller waits until the file is read."""
    return False


class IngestReader:
    """Reads files within limits; safe for threads.

    Args:
        directory: the directory of the tables. Processes that share it share the limit `concurrent`.
        limits: what reading a file may take.
        concurrent: how many files are read at once; others wait.
    """

    def __init__(self, directory: Path, limits: Limits, concurrent: int) -> None:
        self._directory = directory.resolve()
        self._concurrent = concurrent
        self._processes = IngestProcesses(limits)

    def read_file(  # noqa: PLR0913, PLR0917 - what a file is and how it is declared
        self,
        target: Path,
        upload: BinaryIO,
        form: FileFormat,
        columns: Sequence[Column],
        units: Units | None,
        interrupted: Interrupted,
    ) -> tuple[int, str]:
        """Store the declared columns of a file as `target`; return the row count and the SHA-256 of the file.

        If this raises, no file remains.

        Raises:
            InvalidFile: the file does not match the declaration, or needs more than a limit allows.
            SlotsBusy, IngestInterrupted, EngineFailure, OSError: the file was not stored.
        """
        descriptor = upload.fileno()  # this moves an upload that is in memory to the disk
        upload.flush()
        with hold_slot(self._directory, self._concurrent, MAX_WAIT_SECONDS, interrupted) as slot:
            job = Job(slot, columns, units, form, self._processes.limits)
            told = self._processes.run(job, descriptor, interrupted)
            _publish(job.target, target)
            return int(told["n"]), str(told["sha256"])

    def read_parts(  # noqa: PLR0913, PLR0917 - as above
        self,
        target: Path,
        upload: BinaryIO,
        parts: Sequence[Part],
        columns: Sequence[Column],
        units: Units | None,
        interrupted: Interrupted,
    ) -> int:
        """Store the declared columns of Parquet files, which stand one after the other; return the row count.

        Raises:
            As `read_file`.
        """
        with hold_slot(self._directory, self._concurrent, MAX_WAIT_SECONDS, interrupted) as slot:
            job = Job(slot, columns, units, PLAIN, self._processes.limits, parts=parts)
            told = self._processes.run(job, upload.fileno(), interrupted)
            _publish(job.target, target)
            return int(told["n"])

    def read_stream(  # noqa: PLR0913, PLR0917 - as above
        self,
        target: Path,
        stream: BinaryIO,
        cancel: Callable[[], None],
        form: FileFormat,
        columns: Sequence[Column],
        units: Units | None,
        interrupted: Interrupted,
    ) -> int:
        """Store the declared columns of a CSV stream as `target`; return the row count.

        `cancel` makes a blocked read of the stream fail. The process never learns where the stream comes from.

        Raises:
            As `read_file`, or as the stream does.
        """
        with hold_slot(self._directory, self._concurrent, MAX_WAIT_SECONDS, interrupted) as slot:
            job = Job(slot, columns, units, form, self._processes.limits, is_stream=True)
            with _Pump(stream, cancel) as pump:
                try:
                    told = self._processes.run(job, pump.source, lambda: pump.failure is not None or interrupted())
                except IngestInterrupted:
                    if pump.failure is None:
                        raise
                finally:
                    pump.stop()
                if pump.failure is not None:
                    raise pump.failure
            _publish(job.target, target)
            return int(told["n"])

    def draft_file(
        self, upload: BinaryIO, form: FileFormat, interrupted: Interrupted, *, has_header: bool
    ) -> DraftedColumns:
        """Return a draft of the columns of a file, which is read as an upload is; nothing is stored.

        Raises:
            As `read_file`.
        """
        descriptor = upload.fileno()
        upload.flush()
        with hold_slot(self._directory, self._concurrent, MAX_WAIT_SECONDS, interrupted) as slot:
            job = Job(slot, (), None, form, self._processes.limits, is_draft=True, has_header=has_header)
            told = self._processes.run(job, descriptor, interrupted)
            return DraftedColumns(told["draft"], told["left_out"])

    def close(self) -> None:
        """End all processes."""
        self._processes.close()


def _publish(stored: Path, target: Path) -> None:
    """Move a complete table and its prepared sums to their place; the table last, since it is what counts."""
    try:
        prepared_file(stored).rename(prepared_file(target))
        stored.rename(target)
        sync_directory(target.parent)
    except BaseException:
        remove(prepared_file(target))
        remove(target)
        raise


class _Pump:
    """Copies a stream into a pipe, in a thread: `source` is the pipe's other end.

    If the stream fails, the pipe stays open, so that the reader does not take an incomplete stream for a complete one.
    """

    def __init__(self, stream: BinaryIO, cancel: Callable[[], None]) -> None:
        self.failure: Exception | None = None
        self._stream = stream
        self._cancel = cancel
        self.source, self._sink = os.pipe()
        self._thread = threading.Thread(target=self._copy, name="ingest-pump", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop copying, and close both ends of the pipe."""
        if self.source < 0:
            return
        os.close(self.source)
        self.source = -1
        self._thread.join(_LOOK_SECONDS)
        if self._thread.is_alive():  # it is waiting for the stream
            with suppress(Exception):
                self._cancel()
            self._thread.join()
        if self._sink >= 0:
            os.close(self._sink)
            self._sink = -1

    def _copy(self) -> None:
        try:
            while piece := self._stream.read(_PIECE_BYTES):
                view = memoryview(piece)
                while view:
                    view = view[os.write(self._sink, view) :]
        except BrokenPipeError:  # the reader has ended
            return
        except Exception as error:  # noqa: BLE001 - for the thread that reads
            self.failure = error
            return
        os.close(self._sink)
        self._sink = -1
