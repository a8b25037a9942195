"""Files and pages that are the same for everybody: with an entity tag, compressed for those who accept it."""

import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Final

from cachetools import LRUCache, cached
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from app.api.responses import SharedResponse

MIN_COMPRESSED_BYTES: Final = 512
MAX_CACHE_BYTES: Final = 2**24
"""The limit on all compressed files of a process together."""

REVALIDATED: Final = {"Cache-Control": "no-cache"}
"""Cached, but revalidated each time, so that a new version shows at once."""

_VARY: Final = {"Vary": "Accept-Encoding"}
_COMPRESSIBLE: Final = re.compile(r"text/.*|application/(?:javascript|json)|image/svg\+xml")
_REFUSED: Final = re.compile(r"\s*q=0(?:\.0{0,3})?\s*")


def accepts_gzip(headers: Headers) -> bool:
    """Whether a response to a request with these headers may be compressed (RFC 9110, 12.5.3)."""
    codings = [coding.partition(";") for coding in headers.get("accept-encoding", "").split(",")]
    weights = {name.strip().lower(): weight for name, _, weight in codings}
    weight = weights.get("gzip", weights.get("*"))
    return weight is not None and _REFUSED.fullmatch(weight) is None


def _compressed_response(content: bytes, status: int, headers: Mapping[str, str], media_type: str | None) -> Response:
    """Return compressed content. Its tag is weak: the same tag, without `W/`, has other bytes."""
    weak = {"ETag": f"W/{headers['etag']}", "Content-Encoding": "gzip"}
    kept = {name: value for name, value in headers.items() if name in {"last-modified", "vary", "cache-control"}}
    return SharedResponse(content, status, {**kept, **weak}, media_type)


class CompressedFiles(StaticFiles):
    """Static files, which are compressed once and then kept while they stay the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, compressed if the client accepts that and it is worth it."""
        response = await super().get_response(path, scope)
        response.headers.update(_VARY)
        if not isinstance(response, FileResponse) or not accepts_gzip(Headers(scope=scope)):
            return response
        status = response.stat_result
        is_small = status is None or status.st_size < MIN_COMPRESSED_BYTES
        media_type = str(response.media_type).partition(";")[0]
        if status is None or is_small or not _COMPRESSIBLE.fullmatch(media_type):
            return response
        content = await run_in_threadpool(_compress_file, str(response.path), status.st_mtime_ns, status.st_size)
        return _compressed_response(content, response.status_code, response.headers, response.media_type)


@cached(LRUCache(MAX_CACHE_BYTES, getsizeof=len), key=lambda *file: file, lock=Lock())
def _compress_file(path: str, _modified_at: int, _size: int) -> bytes:
    """Return a file's content compressed. The time of its last change and its size are parts of the cache's key."""
    return gzip.compress(Path(path).read_bytes(), mtime=0)


@dataclass(frozen=True)
class StaticContent:
    """A page or a document that stays the same while the process runs."""

    content: bytes
    media_type: str

    @cached_property
    def _headers(self) -> Headers:
        return Headers({"etag": f'"{hashlib.sha256(self.content).hexdigest()[:32]}"', **REVALIDATED, **_VARY})

    @cached_property
    def _compressed(self) -> bytes:
        return gzip.compress(self.content, mtime=0)

    def respond(self, request: Headers) -> Response:
        """Return it, compressed if the request accepts that, or 304 if the client has it."""
        known = {tag.strip().removeprefix("W/") for tag in request.get("if-none-match", "").split(",")}
        if "*" in known or self._headers["etag"] in known:
            return NotModifiedResponse(self._headers)
        if accepts_gzip(request) and len(self.content) >= MIN_COMPRESSED_BYTES:
            return _compressed_response(self._compressed, 200, self._headers, self.media_type)
        return SharedResponse(self.content, 200, self._headers, self.media_type)
