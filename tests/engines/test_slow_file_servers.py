"""Servers of files that send a little from time to time, so that no timeout for silence ends the wait."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from app.engines.errors import EngineFailure
from app.engines.file_stores.file_store import StoredFile
from app.engines.file_stores.http_server import HttpServer

MOST_SECONDS = 60
"""How long a server goes on, so that a test ends that would otherwise wait forever."""

HEAD = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: "\xe9"\r\n\r\n'
FILE = StoredFile("a", 2, '"é"')


@contextmanager
def serve(answer: Callable[[socket.socket], None], read_seconds: float) -> Iterator[HttpServer]:
    """Answer each request on one connection by a function."""

    def run() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                while connection.recv(2**16):
                    answer(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        server = HttpServer(f"http://127.0.0.1:{listener.getsockname()[1]}", lambda *_: {}, read_seconds)
        yield server
        server.close()
        thread.join()


def test_an_answer_that_never_begins_ends() -> None:
    def answer(connection: socket.socket) -> None:
        end = time.monotonic() + MOST_SECONDS
        while time.monotonic() < end:
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        connection.sendall(HEAD)

    with serve(answer, 0.1) as server:
        server.start_clock()
        with pytest.raises(EngineFailure):
            server.describe("a")


def test_pieces_come_as_they_are_sent() -> None:
    """So the time and the client's end are looked at after each."""
    came = threading.Event()

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"x")
        came.wait(MOST_SECONDS)
        connection.sendall(b"y")

    with serve(answer, 60) as server, server.open(FILE) as pieces:
        assert next(pieces) == b"x"
        came.set()
        assert list(pieces) == [b"y"]
