"""A collector of the tests' own: takes spans by OTLP over HTTP, as protobuf, or refuses them, or never answers."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Facts = dict[str, Any]


class Received(NamedTuple):
    """A span, and what the process that sent it says of itself."""

    resource: Facts
    span: Span

    @property
    def facts(self) -> Facts:
        return _facts(self.span.attributes)

    @property
    def trace(self) -> str:
        return self.span.trace_id.hex()


def _facts(pairs: Any) -> Facts:
    told: list[KeyValue] = list(pairs)
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in told}


class Collector:
    """What it was sent, and how it answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 200
        self.bodies: list[bytes] = []
        self.odd: list[str] = []
        self.answered = 0
        self.answers = threading.Event()
        self.answers.set()

    def spans(self) -> list[Received]:
        """All that were sent, decoded."""
        found = []
        for body in self.bodies:
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                resource = _facts(group.resource.attributes)
                found += [Received(resource, span) for scope in group.scope_spans for span in scope.spans]
        return found


@contextmanager
def collector() -> Iterator[Collector]:
    """A running collector."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if (self.path, self.headers["Content-Type"]) != ("/v1/traces", "application/x-protobuf"):
                made.odd.append(self.path)
            made.bodies.append(body)
            made.answers.wait()
            made.answered += 1
            self.send_response(made.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        made.answers.set()
        server.shutdown()
        server.server_close()
