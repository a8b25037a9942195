"""A bucket of S3, or of a store with the same interface, as a file store."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from urllib.parse import parse_qs, quote, unquote, unquote_plus, urlsplit
from xml.etree import ElementTree as ET

from app.engines.errors import EngineFailure
from app.engines.file_stores.file_store import FilePath, FileStore, StoredFile, is_file_path, select_table_files
from app.engines.file_stores.http_server import HttpServer
from app.engines.file_stores.s3_signature import Credentials, sign_request

_REGION = "us-east-1"
_MAX_PAGES = 100
_MAX_PAGE_BYTES = 2**22  # of at most 1,000 names of 1,024 bytes, escaped


class S3Bucket(FileStore):
    """The objects of a bucket below a prefix.

    Args:
        url: `s3://key:secret@bucket/prefix?region=eu-west-1&endpoint=https://host`; without a key, requests are not
            signed. The default endpoint is Amazon's.
        read_seconds: how long finding a table's files may take, or the next piece of one.
    """

    def __init__(self, url: str, read_seconds: float) -> None:
        parts = urlsplit(url)
        options = {name: values[0] for name, values in parse_qs(parts.query).items()}
        region = options.get("region", _REGION)
        endpoint = options.get("endpoint", f"https://s3.{region}.amazonaws.com")
        bucket = parts.netloc.rpartition("@")[2]
        credentials = None
        if parts.username is not None:
            credentials = Credentials(unquote(parts.username), unquote(parts.password or ""), region)

        def sign(method: str, url: str) -> Mapping[str, str]:
            return {} if credentials is None else sign_request(credentials, method, url)

        prefix = unquote(parts.path).strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._server = HttpServer(f"{endpoint.rstrip('/')}/{bucket}", sign, read_seconds)

    def find_files(self, path: FilePath) -> list[StoredFile]:
        """Return the objects of a table in the order of their paths: the object of this path, or all below it.

        Raises:
            InvalidFile: there is no such table, or it has other objects too.
            StoreRefusal: the store refuses to read it.
            EngineFailure: the store is unavailable.
        """
        self._server.start_clock()
        name = "/".join(path)
        if is_file_path(path) and (found := self._server.describe(self._prefix + name)) is not None:
            return [found._replace(path=name)]
        return select_table_files(self._list(f"{name}/"), path)

    def open(self, file: StoredFile) -> AbstractContextManager[Iterator[bytes]]:
        """Yield the content of an object in pieces.

        Raises:
            InvalidFile: the object is not the one that was found.
            StoreRefusal, EngineFailure: as above.
        """
        return self._server.open(file._replace(path=self._prefix + file.path))

    def close(self) -> None:
        """Close the connections to the store."""
        self._server.close()

    def _list(self, path: str) -> Iterator[StoredFile]:
        """Yield all objects whose names begin with the prefix and a path."""
        wanted, token = self._prefix + path, ""
        for _ in range(_MAX_PAGES):
            query = f"encoding-type=url&list-type=2&prefix={quote(wanted, safe='')}"
            query = f"continuation-token={quote(token, safe='')}&{query}" if token else query
            page = _parse(self._server.read(self._server.url("", query), _MAX_PAGE_BYTES))
            is_escaped = page.findtext("{*}EncodingType") == "url"
            for item in page.iterfind("{*}Contents"):
                key = unquote_plus(_text(item, "Key")) if is_escaped else _text(item, "Key")
                size = _text(item, "Size")
                if not key.startswith(wanted) or not size.isascii() or not size.isdigit():
                    raise EngineFailure
                if not key.endswith("/"):  # a mark that stands for a directory
                    yield StoredFile(key[len(self._prefix) :], int(size), _text(item, "ETag"))
            token = page.findtext("{*}NextContinuationToken", "")
            if not token:
                return
        raise EngineFailure


def _parse(content: bytes) -> ET.Element:
    """Return a list, which is XML in UTF-8 without entities of its own: those could take any amount of memory."""
    try:
        text = content.decode()
        if "<!DOCTYPE" in text:
            raise EngineFailure
        return ET.fromstring(text)  # noqa: S314 - without a document type, there is nothing to expand
    except (ET.ParseError, UnicodeDecodeError):
        raise EngineFailure from None


def _text(item: ET.Element, name: str) -> str:
    found = item.findtext(f"{{*}}{name}")
    if found is None:
        raise EngineFailure
    return found
