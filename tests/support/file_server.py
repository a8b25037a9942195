"""A server of files for tests: plain HTTPS with basic authentication, or the part of S3 that reading needs."""

import base64
import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, quote_plus, unquote, urlsplit
from xml.sax.saxutils import escape

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from app.engines.file_stores.s3_signature import Credentials, sign_request

USER, SECRET = "reader", "kept/out+of every:answer"
CREDENTIALS = Credentials(USER, SECRET, "eu-west-1")
BUCKET = "tables"
PAGE = 2
"""How many objects a page of a list has, so that a list of three has two pages."""


@dataclass
class FileServer:
    """The files by their paths, and what was asked.

    Attributes:
        answers: by path, a status and headers that are sent instead of the file.
        lists: what is sent instead of the next lists of objects.
        encodes: whether names in lists are escaped when that is asked for; spaces become `+`, as from Amazon.
        tags: whether entity tags are sent.
        dates: whether dates are sent.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    lists: list[bytes] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    encodes: bool = True
    tags: bool = True
    dates: bool = True

    @property
    def connection(self) -> str:
        """The URL for a connection."""
        secret = f"{USER}:{quote(SECRET, safe='')}"
        if self.url.startswith("https"):
            return self.url.replace("https://", f"https://{secret}@") + "/in/side/"
        return f"s3://{secret}@{BUCKET}/in/side?region={CREDENTIALS.region}&endpoint={self.url}"

    def put(self, name: str, content: bytes) -> None:
        """Store a file below the prefix."""
        self.files[f"in/side/{name}"] = content

    def tag(self, path: str) -> str:
        """The entity tag of a file."""
        return f'"{md5(self.files[path], usedforsecurity=False).hexdigest()}"'


def _handler(server: FileServer) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class with its methods
    is_s3 = server.url.startswith("http:")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            server.asked.append(f"{self.command} {self.path}")
            path = unquote(urlsplit(self.path).path).lstrip("/")
            if is_s3:
                path = path.removeprefix(f"{BUCKET}/")
            if path in server.answers:
                return self.send(*server.answers[path])
            if not self.is_allowed():
                return self.send(403, {})
            query = parse_qs(urlsplit(self.path).query)
            if is_s3 and "list-type" in query:
                return self.send(200, {}, server.lists.pop() if server.lists else self.list(query))
            if path not in server.files:
                return self.send(404, {})
            tag = server.tag(path)
            if self.headers.get("If-Match", tag) != tag:
                return self.send(412, {})
            headers = {"ETag": tag} if server.tags else {}
            if server.dates:
                headers["Last-Modified"] = "Sun, 01 Nov 2026 10:00:00 GMT"
            return self.send(200, headers, server.files[path])

        do_HEAD = do_GET  # noqa: N815 - of http.server

        def is_allowed(self) -> bool:
            if not is_s3:
                secret = base64.b64encode(f"{USER}:{SECRET}".encode()).decode()
                return self.headers["Authorization"] == f"Basic {secret}"
            at = dt.datetime.strptime(self.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
            signed = sign_request(CREDENTIALS, self.command, f"http://{self.headers['Host']}{self.path}", at)
            return self.headers["Authorization"] == signed["authorization"]

        def list(self, query: dict[str, list[str]]) -> bytes:
            names = sorted(name for name in server.files if name.startswith(query["prefix"][0]))
            start = int(query.get("continuation-token", ["0"])[0])
            items = "".join(
                f"<Contents><Key>{escape(quote_plus(name) if server.encodes else name)}</Key>"
                f"<Size>{len(server.files[name])}</Size><ETag>{escape(server.tag(name))}</ETag></Contents>"
                for name in names[start : start + PAGE]
            )
            more = f"<NextContinuationToken>{start + PAGE}</NextContinuationToken>" if names[start + PAGE :] else ""
            space = "http://s3.amazonaws.com/doc/2006-03-01/"
            kind = "<EncodingType>url</EncodingType>" if server.encodes else ""
            return f'<ListBucketResult xmlns="{space}">{kind}{items}{more}</ListBucketResult>'.encode()

        def send(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
            self.send_response_only(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return Handler


@contextmanager
def serve_files(tls: ssl.SSLContext | None = None) -> Iterator[FileServer]:
    """Serve files over HTTPS, or as S3 without TLS, until the block ends."""
    files = FileServer()
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as http:
        http.daemon_threads = True
        files.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{http.server_port}"
        http.RequestHandlerClass = _handler(files)
        if tls is not None:
            http.socket = tls.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield files
        finally:
            http.shutdown()
            thread.join()


def make_certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Make a certificate for 127.0.0.1; return its file, which clients must trust, and the server's context."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    trusted, private = folder / "certificate.pem", folder / "key.pem"
    trusted.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, private)
    return trusted, context
