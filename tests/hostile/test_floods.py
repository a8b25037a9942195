"""Floods of connections that are slow on purpose: unread answers, half bodies, drips, pipelines."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from hostile_world import Target
from raw_http import head
from service_world import key_of

SECONDS = 8
BUNDLE = "/docs/assets/swagger-ui-bundle.js"
UNREAD = (BUNDLE, "/web/vendor/d3-shape.min.js", "/openapi.json", "/metrics", "/nowhere")


@contextmanager
def connections(target: Target, count: int, *requests: bytes) -> Iterator[list[socket.socket]]:
    """Connections that send these requests, in turn, and read nothing."""
    with ExitStack() as until_the_end:
        opened = []
        for number in range(count):
            connection = until_the_end.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**12)
            connection.settimeout(20)
            with contextlib.suppress(OSError):
                connection.connect(target.address)
                connection.sendall(requests[number % len(requests)])
            opened.append(connection)
        yield opened


def half_body(key: str, sent: bytes = b'{"statistic": ', size: int = 2**19) -> bytes:
    lines = (f"Content-Length: {size}", "Content-Type: application/json")
    return head("POST", "/v1/plan", *lines, authorization=f"Bearer {key}") + sent


@pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
def test_1500_unread_answers(target: Target) -> None:
    with connections(target, 1_500, head("GET", BUNDLE)):
        time.sleep(SECONDS)


def test_unread_answers_of_every_kind(target: Target) -> None:
    """Files, documents, metrics and refusals, two on each connection; more would cost the processor, not the memory."""
    requests = [head("GET", path) * 2 for path in UNREAD]
    with connections(target, 250, *requests):
        time.sleep(SECONDS)


@pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
def test_half_bodies_of_one_principal(target: Target) -> None:
    """256 and more: as many as there are slots, and all that come after."""
    with connections(target, 512, half_body(key_of(target.table.analyst), b" " * 2**18)):
        time.sleep(SECONDS)


def test_half_bodies_without_a_key_and_with_wrong_ones(target: Target) -> None:
    requests = [half_body(f"wrong-{number}") for number in range(256)]
    requests.append(head("POST", "/v1/plan", "Content-Length: 9999", "Content-Type: application/json") + b"{")
    with connections(target, 1_000, *requests):
        time.sleep(SECONDS)


def test_bodies_and_readers_that_drip(target: Target) -> None:
    """A byte at a time, on all connections."""
    bodies = half_body(key_of(target.table.analyst))
    deadline = time.monotonic() + SECONDS
    with connections(target, 600, bodies, head("GET", BUNDLE)) as opened:
        while time.monotonic() < deadline:
            for number, connection in enumerate(opened):
                with contextlib.suppress(OSError):
                    connection.settimeout(0.001)
                    connection.sendall(b" ") if number % 2 == 0 else connection.recv(1)


def test_more_connections_than_there_may_be(target: Target) -> None:
    """Idle ones, and ones that pipeline what is never read."""
    pipelined = (head("GET", "/healthz") * 15, head("GET", "/docs") * 1_000)
    with connections(target, 3_000, *[b""] * 30, *pipelined):
        time.sleep(SECONDS)


def test_connections_that_come_again_at_once(target: Target) -> None:
    """Who is refused or hung up on comes back, in two threads, with what is slowest."""
    stop = threading.Event()
    requests = (half_body(key_of(target.table.analyst)), head("GET", BUNDLE))

    def attack() -> None:
        while not stop.is_set():
            with connections(target, 20, *requests):
                time.sleep(0.25)

    threads = [threading.Thread(target=attack) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(SECONDS)
    stop.set()
    for thread in threads:
        thread.join()
