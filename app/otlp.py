"""Sends spans by OTLP over HTTP, in batches from a background thread; needs the extra `snapledger[otel]`."""

import logging
import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final
from uuid import uuid4

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

_PROTOCOL: Final = "http/protobuf"
_PROTOCOLS: Final = (
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
)  # the first one that is set applies

log = logging.getLogger("snapledger.traces")


class LoggingExporter(SpanExporter):
    """An exporter that logs when its failures begin and when they end, since our log drops the library's messages."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch; a batch that the collector does not accept is lost."""
        result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            if not self._lost:
                log.warning("the collector does not take spans; they are lost until it does")
            self._lost += len(spans)
        elif self._lost:
            log.warning("the collector takes spans again; %d were lost", self._lost)
            self._lost = 0
        return result

    def shutdown(self) -> None:
        """Stop sending."""
        self._exporter.shutdown()


def require_protocol() -> None:
    """Check that OpenTelemetry's settings ask for the protocol that is supported here.

    Raises:
        ValueError: they ask for another protocol.
    """
    wanted = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), _PROTOCOL)
    if wanted != _PROTOCOL:
        raise ValueError(f"OTEL_EXPORTER_OTLP_PROTOCOL must be {_PROTOCOL}: spans are sent by no other")


def provider() -> TracerProvider:
    """Return a new provider that sends to OTEL_EXPORTER_OTLP_ENDPOINT, as OpenTelemetry's own settings say."""
    ours = {"service.name": "snapledger", "service.version": version("snapledger"), "service.instance.id": str(uuid4())}
    resource = Resource.create(ours).merge(OTELResourceDetector().detect())  # the operator's own names win
    made = TracerProvider(resource=resource, shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(LoggingExporter(OTLPSpanExporter())))
    return made
