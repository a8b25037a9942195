"""Traces: which route, which kind of work, and never what was asked, answered or held."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra snapledger[otel] is not installed")
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from app import traces
from app.config import Settings, traces_asked_for
from app.main import create_app

KEY = "the-key-of-the-admin-of-this-test"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
COLUMNS = {"x": {"kind": "integer", "bounds": [0, 10**9]}}
VALUE = 314_159_265


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces.use(provider)
    yield exporter
    traces.use(None)


def told(exporter: InMemorySpanExporter, folder: Path, calls: list[dict[str, Any]]) -> list[ReadableSpan]:
    """What is exported of these calls of a service in this process."""

    async def story() -> None:
        settings = Settings(
            database_url=f"sqlite:///{folder}/ledger.sqlite3", data_dir=folder / "data", admin_key=KEY, rate_limit="off"
        )
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            exporter.clear()  # what the start has done
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                for call in calls:
                    await client.request(**call)
            spans.extend(exporter.get_finished_spans())

    spans: list[ReadableSpan] = []
    asyncio.run(story())
    return spans


def test_what_a_trace_tells(exporter: InMemorySpanExporter, tmp_path: Path) -> None:
    key = {"Authorization": f"Bearer {KEY}"}
    metadata = json.dumps({"name": "hidden-name", "epsilon_limit": "10", "columns": COLUMNS})
    files = {"metadata": (None, metadata), "file": ("t.csv", f"x\n{VALUE}\n1\n2\n")}
    path = "/v1/datasets/hidden-name"
    # At other bounds than those of the declaration, whose sums are prepared.
    question = {"statistic": {"kind": "mean", "column": "x", "bounds": [0, 5 * 10**8]}, "epsilon": "0.5"}
    headers = key | {"traceparent": PARENT, "tracestate": "odd=word-of-a-stranger", "Idempotency-Key": "my-own-key"}
    spans = told(
        exporter,
        tmp_path,
        [
            {"method": "POST", "url": "/v1/datasets", "headers": key, "files": files},
            {"method": "PUT", "url": f"{path}/allowances/admin", "headers": key, "json": {"epsilon_limit": "5"}},
            {"method": "POST", "url": f"{path}/releases", "headers": headers, "json": question},
            {"method": "GET", "url": "/v1/odd-path?secret=word", "headers": key},
            {"method": "BREW", "url": "/v1/me", "headers": {"Authorization": "Bearer wrong-one"}},
        ],
    )
    requests = {span.name: span for span in spans if span.name.partition(" ")[2].startswith(("/", "unrouted"))}
    assert set(requests) == {
        *("POST /v1/datasets", "PUT /v1/datasets/{name}/allowances/{principal}", "GET unrouted", "other unrouted"),
        "POST /v1/datasets/{name}/releases",
    }
    release = requests["POST /v1/datasets/{name}/releases"]
    assert release.attributes is not None
    assert (release.attributes["http.route"], release.attributes["http.response.status_code"]) == (
        *("/v1/datasets/{name}/releases", 201),
    )
    assert release.context is not None
    assert f"{release.context.trace_id:032x}" == PARENT.split("-")[1]
    within = [span.name for span in spans if span.context.trace_id == release.context.trace_id]  # type: ignore[union-attr]
    assert {"database read", "database write", "engine"} <= set(within)
    text = "".join(span.to_json() for span in spans)
    for hidden in (KEY, "hidden-name", str(VALUE), "my-own-key", "word-of-a-stranger", "odd-path", "wrong-one", "BREW"):
        assert hidden not in text, hidden


def test_an_error_is_told_by_its_class_alone(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(LookupError), traces.span("engine"):
        raise LookupError("a value of the data")
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code, span.status.description, list(span.events)) == (StatusCode.ERROR, None, [])
    assert dict(span.attributes or {}) == {"error.type": "LookupError"}


def test_nothing_is_traced_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    assert not traces_asked_for()
    traces.begin()
    with traces.span("request") as span:
        assert span is None
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    assert traces_asked_for()
    for name, value in (("OTEL_TRACES_EXPORTER", "none"), ("OTEL_SDK_DISABLED", "true")):
        monkeypatch.setenv(name, value)
        assert not traces_asked_for()
        monkeypatch.delenv(name)
