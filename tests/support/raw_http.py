"""Bytes on a socket: for what no HTTP client would send."""

import http.client
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from service_world import Service


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Line:
    """A connection to a service."""

    def __init__(self, service: Service, connection: socket.socket) -> None:
        self._service, self._connection = service, connection

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._connection.sendall(piece)

    def hears(self, pieces: Iterable[bytes]) -> bool:
        """Send until the other side hangs up; whether it listens to the end."""
        try:
            self.send(*pieces)
        except OSError:
            return False
        return True

    def is_to_continue(self) -> bool:
        """Whether the service asks for the body of a request that expects to be told to continue."""
        return self._connection.recv(25, socket.MSG_WAITALL) == b"HTTP/1.1 100 Continue\r\n\r\n"

    def answer(self, method: str = "POST") -> Answer:
        """Read one answer; it comes within the connection's time limit or the test fails."""
        response = http.client.HTTPResponse(self._connection, method=method)
        response.begin()
        body = response.read()
        assert response.status < 500
        assert response.headers.get_content_type() in {"application/problem+json", "application/json"}
        return Answer(response.status, response.headers, body)

    def rest(self) -> bytes:
        """All that comes until the other side hangs up."""
        return b"".join(iter(lambda: self._connection.recv(2**16), b""))


@contextmanager
def line(service: Service) -> Iterator[Line]:
    """A new connection, closed at the end of the block."""
    host, _, port = service.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        yield Line(service, connection)


def head(method: str, path: str, *headers: str | bytes, authorization: str | None = None) -> bytes:
    """The head of a request; further headers are lines."""
    lines = [f"{method} {path} HTTP/1.1".encode()]
    if not any(header[:5].lower() in {"host:", b"host:"} for header in headers):
        lines.append(b"Host: service")
    if authorization is not None:
        lines.append(f"Authorization: {authorization}".encode())
    lines += [header if isinstance(header, bytes) else header.encode() for header in headers]
    return b"\r\n".join([*lines, b"", b""])


def chunked(size: int, piece: bytes = b"x" * 2**16) -> Iterator[bytes]:
    """A chunked body of at least so many bytes, without its end."""
    for _ in range(-(-size // len(piece))):
        yield b"%x\r\n" % len(piece) + piece + b"\r\n"
