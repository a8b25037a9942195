"""Tables to upload: files, streams and data frames, as files that httpx sends without holding them in memory."""

import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any, Protocol, cast

from snapledger_client.frames import import_pyarrow

Progress = Callable[[int], object]
"""A function that is called with the number of bytes of each piece that is sent, such as `tqdm(…).update`."""


class Frame(Protocol):
    """A data frame of pandas or polars, an Arrow table, or anything else that exports Arrow's C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the frame as a capsule of Arrow's C stream interface."""


Table = bytes | IO[bytes] | IO[str] | Frame


class UploadStream:
    """A file whose length httpx does not ask for: that of a pipe is 0, and that of a compressed file is another one."""

    def __init__(self, source: IO[bytes], progress: Progress | None) -> None:
        self._source, self._progress = source, progress

    def read(self, size: int = -1) -> bytes:
        """Read a piece, and report its size."""
        piece = self._source.read(size)
        if self._progress is not None:
            self._progress(len(piece))
        return piece

    def seek(self, offset: int) -> int:
        """Go back, as httpx does before it sends a file; a pipe is read on from where it is."""
        return self._source.seek(offset) if self.can_be_sent_again else 0

    @property
    def can_be_sent_again(self) -> bool:
        """Whether the source can be read from its beginning again."""
        return self._source.seekable()


class SizedUploadStream(UploadStream):
    """A regular file, whose length httpx may ask for."""

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._source.fileno()


@contextmanager
def open_table(table: Table, progress: Progress | None = None) -> Iterator[IO[bytes]]:
    """Yield a table as a file to send. A data frame is written to a temporary Parquet file, which is deleted.

    Args:
        table: the content of a CSV, Parquet or Excel file, an open file or stream, or a data frame. The index
            of a pandas frame is not sent.
        progress: is called with the size of each piece.

    Raises:
        TypeError: it is none of these.
        ImportError: a data frame needs pyarrow, which is not installed.
    """
    if isinstance(table, io.StringIO):
        table = table.getvalue().encode()
    if isinstance(table, bytes):
        table = io.BytesIO(table)
    if hasattr(table, "read"):
        yield _as_stream(cast("IO[bytes]", getattr(table, "buffer", table)), progress)
    elif hasattr(table, "__arrow_c_stream__"):
        with TemporaryFile() as file:
            _write_parquet(table, file)
            file.seek(0)
            yield _as_stream(file, progress)
    else:
        raise TypeError(f"register takes an open file, its bytes or a data frame, not {type(table).__name__}")


def _as_stream(file: IO[bytes], progress: Progress | None) -> IO[bytes]:
    if progress is None and isinstance(file, io.BytesIO):
        return file  # its length is known
    stream = SizedUploadStream if _is_regular(file) else UploadStream
    return cast("IO[bytes]", stream(file, progress))  # with the part of the protocol that httpx uses


def _is_regular(file: object) -> bool:
    if not isinstance(file, io.BufferedReader | io.BufferedRandom | io.FileIO):
        return False  # the descriptor of a gzip file is that of the compressed one
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _write_parquet(frame: Any, file: IO[bytes]) -> None:  # noqa: ANN401 - any Frame
    pyarrow = import_pyarrow()
    if hasattr(frame, "reset_index"):  # pandas would send its index as a column
        frame = frame.reset_index(drop=True)
    reader = pyarrow.RecordBatchReader.from_stream(frame)
    with pyarrow.parquet.ParquetWriter(file, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
