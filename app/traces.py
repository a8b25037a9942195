"""OpenTelemetry traces, if the extra `snapledger[otel]` is installed and OpenTelemetry's OTEL_… settings ask for them.

A span has the route, the kind of work, the duration and the status. It never has a path, an SQL statement, a body, a
key or the text of an error.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from app.config import traces_asked_for

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_LAST_SECONDS: Final = 5
"""How long the service waits for the collector when it stops."""

_provider: "TracerProvider | None" = None
_tracer: "Tracer | None" = None


def use(provider: "TracerProvider | None") -> None:
    """Set the provider for all further traces; None turns tracing off."""
    global _provider, _tracer  # noqa: PLW0603 - one a process, like the log
    _provider = provider
    _tracer = None if provider is None else provider.get_tracer("snapledger")


def require() -> None:
    """Check that traces can be sent if they are configured.

    Raises:
        ValueError: the extra is not installed, or OpenTelemetry's settings ask for another protocol.
    """
    if not traces_asked_for():
        return
    try:
        from app import otlp  # noqa: PLC0415 - optional
    except ImportError:
        raise ValueError("OTEL_EXPORTER_OTLP_ENDPOINT is set, and snapledger[otel] is not installed") from None
    otlp.require_protocol()


def begin() -> None:
    """Start tracing to OTEL_EXPORTER_OTLP_ENDPOINT if OpenTelemetry's settings ask for it.

    Raises:
        ValueError: the extra is not installed, or OpenTelemetry's settings ask for another protocol.
    """
    require()
    if traces_asked_for():
        from app import otlp  # noqa: PLC0415 - optional

        use(otlp.provider())


def end() -> None:
    """Send the remaining spans, if the collector accepts them in time."""
    if _provider is not None:
        sender = threading.Thread(target=_provider.shutdown, daemon=True)
        sender.start()
        sender.join(_LAST_SECONDS)
    use(None)


_OFF: Final[AbstractContextManager[None]] = nullcontext()


def span(name: str, *, server: bool = False, parent: str | None = None) -> AbstractContextManager["Span | None"]:
    """Open a span around a block; it is None if tracing is off.

    Args:
        name: the kind of work.
        server: whether the span is of a request from outside.
        parent: the value of the request's header `traceparent`.
    """
    return _OFF if _tracer is None else _open_span(_tracer, name, parent, server=server)


@contextmanager
def _open_span(tracer: "Tracer", name: str, parent: str | None, *, server: bool) -> Iterator["Span"]:
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 - optional

    with tracer.start_as_current_span(
        name,
        _context(parent),
        SpanKind.SERVER if server else SpanKind.INTERNAL,
        record_exception=False,  # its text may contain confidential values
        set_status_on_exception=False,
    ) as started:
        try:
            yield started
        except BaseException as error:
            finish(started, {"error.type": type(error).__name__}, failed=True)
            raise


def finish(span: "Span", facts: Mapping[str, str | int], *, failed: bool) -> None:
    """Add the attributes that are known only at the end, and mark a failure."""
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - optional

    span.set_attributes(facts)
    if failed:
        span.set_status(Status(StatusCode.ERROR))


def _context(parent: str | None) -> Any:  # noqa: ANN401 - OpenTelemetry's own
    if parent is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - optional
        TraceContextTextMapPropagator,
    )

    # Ignore the header `tracestate`: a caller could write any text into it.
    return TraceContextTextMapPropagator().extract({"traceparent": parent})
