"""An HTTPS server as a file store. It cannot list directories, so a table is one file."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import AbstractContextManager
from urllib.parse import unquote, urlsplit

from app.engines.file_stores.file_store import FilePath, FileStore, StoredFile, is_file_path, refuse_table
from app.engines.file_stores.http_server import HttpServer


class HttpsServer(FileStore):
    """The files below a URL.

    Args:
        url: `https://host/prefix/`, with `user:password@` for basic authentication.
        read_seconds: how long finding a table's files may take, or the next piece of one.
    """

    def __init__(self, url: str, read_seconds: float) -> None:
        parts = urlsplit(url)
        headers = {}
        if parts.username is not None:
            secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Authorization"] = f"Basic {b64encode(secret.encode()).decode()}"
        place = parts.netloc.rpartition("@")[2]
        self._server = HttpServer(f"https://{place}{parts.path}", lambda _method, _url: headers, read_seconds)

    def find_files(self, path: FilePath) -> list[StoredFile]:
        """Return the file of this path.

        Raises:
            InvalidFile: there is no such file.
            StoreRefusal: the server refuses to send it.
            EngineFailure: the server is unavailable.
        """
        if not is_file_path(path):
            raise refuse_table("must be one file whose name ends in `.parquet`: an HTTPS server lists no directories")
        self._server.start_clock()
        found = self._server.describe("/".join(path))
        if found is None:
            raise refuse_table("does not exist, or the connection may not read it")
        return [found]

    def open(self, file: StoredFile) -> AbstractContextManager[Iterator[bytes]]:
        """Yield the content of a file in pieces.

        Raises:
            InvalidFile: the file is not the one that was found.
            StoreRefusal, EngineFailure: as above.
        """
        return self._server.open(file)

    def close(self) -> None:
        """Close the connections to the server."""
        self._server.close()
