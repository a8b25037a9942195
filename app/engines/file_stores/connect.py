"""Open the file stores that the operator has configured."""

from urllib.parse import unquote, urlsplit

from app.engines.file_stores.file_store import FileStore
from app.engines.file_stores.https_server import HttpsServer
from app.engines.file_stores.local_directory import LocalDirectory
from app.engines.file_stores.s3_bucket import S3Bucket

SCHEMES = {"file", "https", "s3"}


def open_store(url: str, read_seconds: float) -> FileStore:
    """Return the store of a URL whose scheme is one of `SCHEMES`; nothing is read yet."""
    scheme = urlsplit(url).scheme
    if scheme == "file":
        return LocalDirectory(unquote(urlsplit(url).path))
    return (S3Bucket if scheme == "s3" else HttpsServer)(url, read_seconds)
