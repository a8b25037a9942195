"""Traces for OpenTelemetry, with the extra `snapledger[otel]` and where its own OTEL_… settings ask for them.

A span tells which route, which kind of work, how long and with which status: never a path, a statement, a body, a key,
or the text of an error.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from app.config import traces_asked_for

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_LAST_SECONDS: Final = 5
"""For what is left to send when the service stops. Whoever stops it is not kept waiting for a collector."""

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
    """Trace if that is asked for, to where OTEL_EXPORTER_OTLP_ENDPOINT says.

    Raises:
        ValueError: as `require`.
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


@contextmanager
def span(name: str, *, server: bool = False, parent: str | None = None) -> Iterator["Span | None"]:
    """A span around a block; None where nothing is traced.

    Args:
        name: of the kind of work.
        server: whether it is the answer to a call from outside.
        parent: a header `traceparent` that the call came with.
    """
    if _tracer is None:
        yield None
        return
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 - optional

    with _tracer.start_as_current_span(
        name,
        _context(parent),
        SpanKind.SERVER if server else SpanKind.INTERNAL,
        record_exception=False,  # its text may hold what must not be told
        set_status_on_exception=False,
    ) as started:
        try:
            yield started
        except BaseException as error:
            finish(started, {"error.type": type(error).__name__}, failed=True)
            raise


def finish(span: "Span", facts: Mapping[str, str | int], *, failed: bool) -> None:
    """Add the attributes that are known at the end."""
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

    # Without the header `tracestate`, in which a stranger could write what it likes.
    return TraceContextTextMapPropagator().extract({"traceparent": parent})
