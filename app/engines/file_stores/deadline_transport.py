"""An HTTP transport whose reads end at a deadline, however often the server sends a byte."""

import math
import ssl
import threading
import time
from typing import Any

import httpcore
import httpx

_CONNECTIONS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5)
"""What httpx has by default. An idle connection is not kept long, since a router may have forgotten it."""


class Deadline(threading.local):
    """Until when the calling thread may read; each thread has its own."""

    def __init__(self) -> None:
        self._at = math.inf

    def set(self, seconds: float) -> None:
        """Give the calling thread this time from now."""
        self._at = time.monotonic() + seconds

    def bound(self, timeout: float | None) -> float:
        """Return a timeout that ends at the deadline at the latest.

        Raises:
            ReadTimeout: the deadline has passed.
        """
        left = self._at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return min(left, math.inf if timeout is None else timeout)


class DeadlineTransport(httpx.HTTPTransport):
    """Reads responses until a deadline. A timeout of httpx begins anew with each byte, so it bounds no response."""

    def __init__(self, context: ssl.SSLContext, deadline: Deadline) -> None:
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore.ConnectionPool(
            context,
            max_connections=_CONNECTIONS.max_connections,
            max_keepalive_connections=_CONNECTIONS.max_keepalive_connections,
            keepalive_expiry=_CONNECTIONS.keepalive_expiry,
            network_backend=_Backend(deadline),
        )


class _Backend(httpcore.NetworkBackend):
    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._inner = httpcore.SyncBackend()

    def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:  # noqa: ANN401 - as they are
        return _Stream(self._inner.connect_tcp(*args, **kwargs), self._deadline)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline
        self.write = inner.write  # type: ignore[method-assign]
        self.close = inner.close  # type: ignore[method-assign]
        self.get_extra_info = inner.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.bound(timeout))

    def start_tls(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:  # noqa: ANN401 - as they are
        return _Stream(self._inner.start_tls(*args, **kwargs), self._deadline)
