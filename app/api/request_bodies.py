"""Reads request bodies. Their bytes are counted during reading, so memory stays bounded."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, Final, NamedTuple

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from app.errors import BodyTooLargeError, InvalidRequestError, UnavailableError, UnsupportedMediaError

MAX_JSON_BYTES: Final = 2**20
_MULTIPART_OVERHEAD_BYTES: Final = 2 * MAX_JSON_BYTES  # the metadata and the part headers
_NEEDED: Final = "must be multipart/form-data with exactly two parts: metadata (JSON) and file (CSV, Parquet or Excel)"


def media_type(headers: Headers) -> str:
    """Return the media type from Content-Type, in lower case and without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def require_media_type(headers: Headers, wanted: str) -> None:
    """Refuse a body unless its Content-Type is `wanted` and it is not compressed.

    Raises:
        UnsupportedMediaError: the headers announce another media type or a content encoding.
    """
    if media_type(headers) != wanted:
        raise UnsupportedMediaError(f"Send the body with the header Content-Type: {wanted}.")
    if any(coding.lower() != "identity" for coding in headers.getlist("content-encoding")):
        raise UnsupportedMediaError("Send the body uncompressed, without the header Content-Encoding.")


async def _chunks(request: Request, most_bytes: int) -> AsyncGenerator[bytes, None]:
    """Yield the body in pieces.

    Raises:
        As `_require_size`, for the announced size before anything is read, and for the pieces.
        ClientDisconnect: the client disconnected before the body was complete.
    """
    size = 0
    _require_size(int(request.headers.get("content-length", 0)), most_bytes)
    async for chunk in request.stream():
        size += len(chunk)
        _require_size(size, most_bytes)
        yield chunk


def _require_size(size: int, most_bytes: int) -> None:
    """Refuse a body that is too large.

    Raises:
        BodyTooLargeError: its size is over the limit.
    """
    if size > most_bytes:
        raise BodyTooLargeError(most_bytes)


async def read_json(request: Request) -> bytes:
    """Return a JSON body, not yet parsed.

    Raises:
        As `_chunks`; the limit is 1 MiB.
    """
    pieces, size = [], 0  # not with `_chunks`: each request would pay for another generator around the stream
    _require_size(int(request.headers.get("content-length", 0)), MAX_JSON_BYTES)
    async for chunk in request.stream():
        size += len(chunk)
        _require_size(size, MAX_JSON_BYTES)
        pieces.append(chunk)
    return b"".join(pieces)


class Upload(NamedTuple):
    """The two parts of an upload, and the name that the sender gave the file."""

    metadata: bytes
    file: BinaryIO
    name: str


class _Parts(MultiPartParser):
    """A multipart parser that limits text parts to the size of a JSON body; large files are stored on disk."""

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        part = self._current_part
        if part.file is None and len(part.data) + end - start > MAX_JSON_BYTES:
            raise BodyTooLargeError(MAX_JSON_BYTES)
        super().on_part_data(data, start, end)


@asynccontextmanager
async def read_upload(request: Request, most_file_bytes: int) -> AsyncIterator[Upload]:
    """Yield the parts of an upload, and delete them at the end of the block.

    Raises:
        BodyTooLargeError: the file is over `most_file_bytes`, or the metadata over 1 MiB.
        InvalidRequestError: the body is malformed, or does not have exactly these two parts.
        UnavailableError: the disk is full.
    """
    # Latin-1 keeps the bytes as they are; the JSON decoder checks later that they are UTF-8.
    headers = Headers({"content-type": f"{request.headers['content-type']}; charset=latin-1"})
    chunks = _chunks(request, most_file_bytes + _MULTIPART_OVERHEAD_BYTES)
    try:
        form = await _Parts(headers, chunks, max_files=2, max_fields=2).parse()
    except MultiPartException:
        raise InvalidRequestError(("body", _NEEDED)) from None
    except OSError as error:  # no room for the temporary file
        raise UnavailableError from error
    try:
        metadata, file = form.get("metadata"), form.get("file")
        if len(form.multi_items()) != 2 or metadata is None or not isinstance(file, UploadFile):
            raise InvalidRequestError(("body", _NEEDED))
        if (file.size or 0) > most_file_bytes:
            raise BodyTooLargeError(most_file_bytes)
        text = metadata.encode("latin-1") if isinstance(metadata, str) else await metadata.read(MAX_JSON_BYTES + 1)
        if len(text) > MAX_JSON_BYTES:
            raise BodyTooLargeError(MAX_JSON_BYTES)
        yield Upload(text, file.file, file.filename or "")
    finally:
        await form.close()
