"""A load generator with keep-alive connections that uses little processor time, so that it measures the server."""

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

MIN_REQUESTS = 2  # of each connection, however slow the machine is: without them there are no quantiles


@dataclass(frozen=True)
class Measured:
    """Requests per second, and latencies in milliseconds."""

    rate: float
    p50: float
    p99: float


def request(path: str, key: str, body: bytes, headers: str = "") -> bytes:
    """Return an HTTP request that posts JSON, as bytes."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    ).encode() + body


def poll(path: str, headers: str = "") -> bytes:
    """Return an HTTP request that reads, as bytes."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


async def _connection(
    port: int, make: Callable[[], bytes], deadline: float, most: int, accepted: set[int], latencies: list[float]
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**30)
    sent = 0
    while len(latencies) < most and (sent < MIN_REQUESTS or time.perf_counter() < deadline):
        sent += 1
        started = time.perf_counter()
        writer.write(make())
        head = await reader.readuntil(b"\r\n\r\n")
        _, _, after = head.lower().partition(b"content-length: ")
        length = int(after.split(b"\r\n")[0]) if after else 0  # a 304 has none
        body = await reader.readexactly(length)
        status = int(head[9:12])
        assert status in accepted, (status, body[:500])
        latencies.append(time.perf_counter() - started)
    writer.close()


async def _all(
    port: int, make: Callable[[], bytes], clients: int, seconds: float, most: int, accepted: set[int]
) -> Measured:
    latencies: list[float] = []
    started = time.perf_counter()
    deadline = started + seconds
    await asyncio.gather(*(_connection(port, make, deadline, most, accepted, latencies) for _ in range(clients)))
    elapsed = time.perf_counter() - started
    cuts = statistics.quantiles(latencies, n=100, method="inclusive")
    return Measured(len(latencies) / elapsed, 1000 * cuts[49], 1000 * cuts[98])


def measure(
    port: int,
    make: Callable[[], bytes],
    *,
    clients: int,
    seconds: float = 3600,
    most: int = 10**9,
    accepted: frozenset[int] = frozenset({200, 201}),
) -> Measured:
    """Send the requests of `make` over several connections until a limit is reached.

    Args:
        port: the server's port on this machine.
        make: returns the next request.
        clients: the number of connections.
        seconds: the maximum duration, but each connection sends two requests.
        most: the maximum number of requests.
        accepted: the expected statuses; any other stops the measurement with an error.
    """
    return asyncio.run(_all(port, make, clients, seconds, most, set(accepted)))
