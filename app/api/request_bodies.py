"""Bodies as they come in. They are counted while they are read, so memory stays bounded."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, Final, NamedTuple

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from app.errors import BodyTooLargeError, InvalidRequestError, UnavailableError, UnsupportedMediaError

MAX_JSON_BYTES: Final = 2**20
_MULTIPART_OVERHEAD_BYTES: Final = 2 * MAX_JSON_BYTES  # the metadata and the part headers
_NEEDED: Final = "must be multipart/form-data with exactly two parts: metadata (JSON) and file (CSV or Parquet)"


def media_type(headers: Headers) -> str:
    """What a body is announced as, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def require_form(headers: Headers, form: str) -> None:
    """Refuse a body of another form than a call reads.

    Raises:
        UnsupportedMediaError: it is announced as another media type, or as encoded.
    """
    if media_type(headers) != form:
        raise UnsupportedMediaError(f"Send the body with the header Content-Type: {form}.")
    if any(coding.lower() != "identity" for coding in headers.getlist("content-encoding")):
        raise UnsupportedMediaError("Send the body uncompressed, without the header Content-Encoding.")


async def _chunks(request: Request, most_bytes: int) -> AsyncGenerator[bytes, None]:
    """The body in pieces.

    Raises:
        BodyTooLargeError: it is announced as over the limit (then none of it is read), or turns out to be.
        ClientDisconnect: it ends before it is complete.
    """
    left = most_bytes
    if int(request.headers.get("content-length", 0)) > left:
        raise BodyTooLargeError(most_bytes)
    async for chunk in request.stream():
        left -= len(chunk)
        if left < 0:
            raise BodyTooLargeError(most_bytes)
        yield chunk


async def read_json(request: Request) -> bytes:
    """A body of JSON, not yet parsed.

    Raises:
        BodyTooLargeError: it is over 1 MiB.
    """
    return b"".join([chunk async for chunk in _chunks(request, MAX_JSON_BYTES)])


class Upload(NamedTuple):
    """The two parts of an upload."""

    metadata: bytes
    file: BinaryIO


class _Parts(MultiPartParser):
    """Keeps texts in memory up to the limit of JSON, and files on the disk once they are larger than that."""

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        part = self._current_part
        if part.file is None and len(part.data) + end - start > MAX_JSON_BYTES:
            raise BodyTooLargeError(MAX_JSON_BYTES)
        super().on_part_data(data, start, end)


@asynccontextmanager
async def read_upload(request: Request, most_file_bytes: int) -> AsyncIterator[Upload]:
    """The parts of an upload, which are gone at the end of the block.

    Raises:
        BodyTooLargeError: the file is over its limit, or the metadata over that of JSON.
        InvalidRequestError: it is malformed, or has other parts than these two.
        UnavailableError: there is no room for it.
    """
    # As Latin-1 a text is its bytes; whether they are UTF-8 is for the JSON decoder to say.
    headers = Headers({"content-type": f"{request.headers['content-type']}; charset=latin-1"})
    chunks = _chunks(request, most_file_bytes + _MULTIPART_OVERHEAD_BYTES)
    try:
        form = await _Parts(headers, chunks, max_files=2, max_fields=2).parse()
    except MultiPartException:
        raise InvalidRequestError(("body", _NEEDED)) from None
    except OSError as error:  # no room for the file, where it waits until it is checked
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
        yield Upload(text, file.file)
    finally:
        await form.close()
