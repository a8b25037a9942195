"""What HTTPS servers and S3 stores share: one client that reads from one address, and never follows a redirect."""

import logging
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

import httpx

from app.engines.errors import EngineFailure
from app.engines.file_stores.deadline_transport import Deadline, DeadlineTransport
from app.engines.file_stores.file_store import StoredFile, forbid_table, refuse_table

logger = logging.getLogger(__name__)

_CONNECT_SECONDS = 10
_GONE = {404, 410}
_CHANGED = 412
_REFUSED = {401, 403, 405}

Sign = Callable[[str, str], Mapping[str, str]]
"""Returns the headers that authorise a request, from its method and URL."""


class HttpServer:
    """Requests to one server; safe for threads.

    Args:
        base: the URL below which all requests are.
        sign: authorises a request.
        read_seconds: how long a description, a list or the next piece of a file may take.
    """

    def __init__(self, base: str, sign: Sign, read_seconds: float) -> None:
        self._base = base.rstrip("/")
        self._sign = sign
        self._read_seconds = read_seconds
        self._deadline = Deadline()
        self._client = httpx.Client(
            follow_redirects=False,
            trust_env=False,  # no proxy, no .netrc
            transport=DeadlineTransport(ssl.create_default_context(), self._deadline),  # SSL_CERT_FILE is OpenSSL's own
            timeout=httpx.Timeout(read_seconds, connect=_CONNECT_SECONDS),
            headers={"Accept-Encoding": "identity", "User-Agent": "snapledger"},
        )

    def url(self, path: str, query: str = "") -> str:
        """Return the URL of a path below the base. Every character that could mean something is escaped."""
        return f"{self._base}/{quote(path, safe='/')}{query and '?' + query}"

    def start_clock(self) -> None:
        """Give what this thread asks from now on, all together, the time that an answer may take."""
        self._deadline.set(self._read_seconds)

    def describe(self, path: str) -> StoredFile | None:
        """Return a file's size and version, or None if there is none.

        Raises:
            StoreRefusal: the server refuses the request or redirects it.
            EngineFailure: the server is unavailable.
        """
        with self._request("HEAD", self.url(path)) as answer:
            return None if answer.status_code in _GONE else _describe(path, answer)

    @contextmanager
    def open(self, file: StoredFile) -> Iterator[Iterator[bytes]]:
        """Yield the content of a file in pieces.

        Raises:
            InvalidFile: the file is not the one that was found.
            StoreRefusal, EngineFailure: as above.
        """
        tag = file.version or ""
        condition = {"If-Match": tag} if tag.startswith('"') and tag.isascii() else {}
        self.start_clock()
        with self._request("GET", self.url(file.path), condition) as answer:
            if answer.status_code in {*_GONE, _CHANGED} or _describe(file.path, answer) != file:
                raise refuse_table("changed while it was read: try again")
            yield self._pieces(answer)

    def read(self, url: str, most: int) -> bytes:
        """Return the content of a URL, of at most this many bytes.

        Raises:
            StoreRefusal, EngineFailure: as above.
        """
        with self._request("GET", url) as answer:
            if answer.status_code in _GONE:
                raise EngineFailure
            content = bytearray()
            for piece in answer.iter_raw():
                content += piece
                if len(content) > most:
                    raise EngineFailure
            return bytes(content)

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    def _pieces(self, answer: httpx.Response) -> Iterator[bytes]:
        """Yield the content as it arrives: a piece of a fixed size would wait for bytes without looking at the time."""
        for piece in answer.iter_raw():
            yield piece
            self.start_clock()

    @contextmanager
    def _request(self, method: str, url: str, headers: Mapping[str, str] | None = None) -> Iterator[httpx.Response]:
        try:
            with self._client.stream(method, url, headers={**self._sign(method, url), **(headers or {})}) as answer:
                if answer.is_redirect or answer.has_redirect_location:
                    raise forbid_table(
                        "is at another address, to which its server redirects and which is not followed: ask the "
                        "operator to configure the final address"
                    )
                if answer.status_code in _REFUSED:
                    raise forbid_table("does not exist, or the connection may not read it")
                if answer.status_code not in {200, _CHANGED, *_GONE}:
                    raise EngineFailure
                yield answer
        except httpx.HTTPError as error:
            logger.error("a file store failed: %s", type(error).__name__)  # noqa: TRY400 - its text may have the path
        else:
            return
        raise EngineFailure


def _describe(path: str, answer: httpx.Response) -> StoredFile:
    length, encoding = answer.headers.get("Content-Length", ""), answer.headers.get("Content-Encoding", "identity")
    if not length.isascii() or not length.isdigit() or encoding != "identity":
        raise forbid_table("has no known size: its server must send `Content-Length`, and no `Content-Encoding`")
    return StoredFile(path, int(length), answer.headers.get("ETag") or answer.headers.get("Last-Modified"))
