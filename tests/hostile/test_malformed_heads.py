"""Floods of connections whose heads are no requests, or never end."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hostile_world import Target

SECONDS = 5
HEADS = (
    b"\x00" * 100,
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n",
    b"POST /v1/plan HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/plan HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
)


@pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
def test_a_flood_of_malformed_heads(target: Target) -> None:
    def attack(number: int) -> int:
        count, deadline = 0, time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            with socket.create_connection(target.address, timeout=20) as connection:
                try:
                    connection.sendall(HEADS[(number + count) % len(HEADS)])
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(2**16):
                        pass
                except OSError:  # hung up on, as it should be
                    pass
            count += 1
        return count

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(attack, range(16))) > 16


def test_500_heads_that_never_end(target: Target) -> None:
    lines = [socket.create_connection(target.address, timeout=20) for _ in range(500)]
    try:
        for line in lines:
            line.sendall(b"GET /healthz HTTP/1.1\r\n")
        time.sleep(3)
    finally:
        for line in lines:
            line.close()
