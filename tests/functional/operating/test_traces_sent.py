"""Traces as a collector gets them of running services: all of them, of every worker, and no answer waits for them."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from collector import Collector, collector
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from service_world import Service, Table, becomes, key_of, serving

pytestmark = pytest.mark.slow

COLUMNS = {"x": {"kind": "integer", "bounds": [0, 10**9]}}
MEAN = {"kind": "mean", "column": "x", "bounds": [0, 5 * 10**8]}  # not the declared bounds, whose sums are prepared
VALUE = 314_159_265
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)
    with collector() as made:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", made.url)
        yield made


def a_table(service: Service) -> Table:
    return service.table(COLUMNS, f"x\n{VALUE}\n1\n2\n", limit="1000", allowance="1000")


def calls(service: Service, count: int) -> list[str]:
    """The ids of that many calls, each by a connection of its own, so that every worker gets some."""

    def call(number: int) -> str:
        with httpx.Client(verify=False, timeout=60) as client:  # noqa: S501 - there is no TLS, and its context takes long
            answer = client.get(f"{service.url}/v1/me", headers={"X-Request-Id": f"call-{number}"})
            assert answer.status_code == 401
            return str(answer.headers["x-request-id"])

    with ThreadPoolExecutor(8) as hands:
        return list(hands.map(call, range(count)))


def test_a_collector_gets_what_every_worker_did(running: Collector, tmp_path: Path) -> None:
    """Down to what was answered just before the service was told to stop."""
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", "--workers", "2") as service:
        table = a_table(service)
        assert table.plan(MEAN, epsilon="0.5").status_code == 200
        headers = {"traceparent": PARENT, "Idempotency-Key": "my-own-key", "X-Request-Id": "the-release"}
        body = {"statistic": MEAN, "epsilon": "100"}  # so that no value is 0, which is in everything
        release = table.analyst.post(f"{table.path}/releases", json=body, headers=headers)
        assert release.status_code == 201
        hidden = [VALUE, table.name, table.owner_name, table.analyst_name, "my-own-key", release.json()["value"]]
        hidden += [service.admin_key, key_of(table.owner), key_of(table.analyst), release.json()["id"]]
        made = calls(service, 60)
    spans = running.spans()
    assert running.odd == []
    requests = {span.facts["snapledger.request_id"]: span for span in spans if "http.route" in span.facts}
    assert {"the-release", *made} <= set(requests)  # none was lost …
    assert len(requests) == sum("http.route" in span.facts for span in spans)  # … and none came twice
    named = {span.span.name for span in requests.values()}
    assert {"POST /v1/datasets", "POST /v1/datasets/{name}/plan", "GET unrouted"} <= named  # 401 is before any route

    answer = requests["the-release"]
    assert answer.facts == {
        "http.request.method": "POST",
        "http.route": "/v1/datasets/{name}/releases",
        "http.response.status_code": 201,
        "snapledger.request_id": "the-release",
    }
    assert (answer.trace, answer.span.parent_span_id.hex()) == (TRACE, PARENT.split("-")[2])
    assert answer.span.kind == Span.SPAN_KIND_SERVER
    within = [span for span in spans if span.span.parent_span_id == answer.span.span_id]
    assert {"database read", "database write", "engine"} <= {span.span.name for span in within}
    assert {span.trace for span in within} == {TRACE}

    for span in spans:
        assert (span.resource["service.name"], span.resource["service.version"]) == (
            "snapledger",
            version("snapledger"),
        )
    assert len({span.resource["service.instance.id"] for span in spans}) == 2
    everything = b"".join(running.bodies)
    for word in hidden:
        assert str(word).encode() not in everything, word


def test_nobody_waits_for_a_collector_that_does_not_answer(
    running: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the first batch to the end, longer than any caller here waits, and the queue is short."""
    running.answers.clear()
    settings = {"EXPORTER_OTLP_TIMEOUT": 600, "BSP_SCHEDULE_DELAY": 50}
    settings |= {"BSP_MAX_QUEUE_SIZE": 16, "BSP_MAX_EXPORT_BATCH_SIZE": 8}
    for name, value in settings.items():
        monkeypatch.setenv(f"OTEL_{name}", str(value))
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", "--workers", "2") as service:
        assert becomes(lambda: len(running.bodies) >= 2), "both workers send"
        a_table(service).fresh(MEAN, epsilon="0.5")
        assert len(calls(service, 60)) == 60
    assert running.answered == 0, "the service stops while its spans are still held"


def test_operators_are_told_that_spans_are_lost(
    running: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once when it begins, and once when it ends; and what the service is called is theirs to say."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "statistics-of-ours")
    running.status = 400
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3") as service:
        for count in (1, 2):
            assert becomes(lambda count=count: running.answered >= count)  # type: ignore[misc]
            calls(service, 5)
        running.status = 200
        assert becomes(lambda: bool(calls(service, 1)) and "takes spans again" in service.log.read_text())
        told = [line for line in service.log.read_text().splitlines() if '"snapledger.traces"' in line]
    assert len(told) == 2
    assert "does not take spans" in told[0]
    assert "again; 0 were" not in told[1]
    assert {span.resource["service.name"] for span in running.spans()} == {"statistics-of-ours"}


def test_calls_beyond_what_there_is_room_for_are_traced_too(running: Collector, tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", MAX_CONCURRENT_REQUESTS="1") as service:

        def slowly() -> Iterator[bytes]:
            yield b"{"
            assert becomes(lambda: httpx.get(f"{service.url}/v1/me").status_code == 503)
            yield b"]"

        headers = {"Authorization": f"Bearer {service.admin_key}", "Content-Type": "application/json"}
        answer = httpx.post(f"{service.url}/v1/principals", content=slowly(), headers=headers, timeout=60)
        assert answer.status_code in {400, 408, 503}
    refused = [span for span in running.spans() if span.facts.get("http.response.status_code") == 503]
    assert refused
    assert {span.span.status.code for span in refused} == {Status.STATUS_CODE_ERROR}


def test_another_protocol_is_refused_in_a_line(
    running: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    monkeypatch.setenv("SNAPLEDGER_DATABASE_URL", f"sqlite:///{tmp_path}/ledger.sqlite3")
    command = [sys.executable, "-m", "app.cli.service_commands", "serve", "--port", "0", "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)  # noqa: S603
    assert done.returncode == 1
    assert done.stderr == "snapledger: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf: spans are sent by no other\n"
    assert running.bodies == []
