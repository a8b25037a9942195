"""What operators rely on: metrics, request ids, the log, rate limits, bounds and headers."""

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from service_world import X_COLUMNS, Service, becomes, key_of, numbers_csv, serving
from sqlalchemy import text

from app.db.database import Database

MEAN = {"kind": "mean", "column": "x"}
REALS = {"x": {"kind": "real", "bounds": [0, 100]}}
SCANNED = MEAN | {"bounds": [0, 99]}  # the sums at the declared bounds are prepared, and need no scan


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("limited")
    settings = {"RATE_LIMIT": "8/minute", "CORS_ORIGINS": "https://board.example, https://other.example"}
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", **settings) as service:
        yield service


def metrics(service: Service, key: str | None = None) -> httpx.Response:
    return httpx.get(f"{service.url}/metrics", headers={} if key is None else {"Authorization": f"Bearer {key}"})


def logged(service: Service, **wanted: object) -> list[dict[str, Any]]:
    """The lines of the log with these members, without what the server prints when it starts."""
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if wanted.items() <= line.items()]


def samples(service: Service, key: str | None = None) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = metrics(service, key)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def rise(after: dict[Any, float], before: dict[Any, float], name: str, **labels: str) -> float:
    key = (name, tuple(sorted(labels.items())))
    return after.get(key, 0) - before.get(key, 0)


def test_metrics_count_what_happens(one_service: Service) -> None:
    table = one_service.table(REALS, numbers_csv(20))
    before = samples(one_service)
    table.fresh(SCANNED, epsilon="0.5")
    assert table.release(SCANNED, epsilon="0.25").status_code == 200
    assert table.release({"kind": "mean", "column": "y"}, epsilon=1).status_code == 422
    assert table.release({"kind": "histogram", "column": "x", "bins": 4}, epsilon="9.75").status_code == 409
    after = samples(one_service)
    route = "/v1/datasets/{name}/releases"
    for status, count in {"201": 1, "200": 1, "422": 1, "409": 1}.items():
        assert rise(after, before, "snapledger_requests_total", method="POST", route=route, status=status) == count
    assert rise(after, before, "snapledger_request_seconds_count", method="POST", route=route) == 4
    assert rise(after, before, "snapledger_releases_total", statistic="mean", outcome="fresh") == 1
    assert rise(after, before, "snapledger_releases_total", statistic="mean", outcome="reused") == 1
    assert rise(after, before, "snapledger_exact_path_draws_total") == 1
    assert rise(after, before, "snapledger_epsilon_debited_total") == pytest.approx(0.5)
    assert rise(after, before, "snapledger_refusals_total", reason="budget-exhausted") == 1
    assert rise(after, before, "snapledger_refusals_total", reason="invalid-request") == 1
    assert rise(after, before, "snapledger_engine_seconds_count", outcome="done") == 1


def test_times_are_told_to_admins_and_auditors_alone(one_service: Service) -> None:
    table = one_service.table(REALS, numbers_csv(20))
    table.fresh(SCANNED, epsilon="0.5")
    _, auditor = one_service.principal("auditor")
    public = samples(one_service)
    for name in ("snapledger_engine_seconds", "snapledger_request_seconds"):
        assert {labels["le"] for found, pairs in public if found == f"{name}_bucket" and (labels := dict(pairs))} == {
            "+Inf"
        }
        assert f"{name}_sum" not in {found for found, _ in public}
        for client in (one_service.admin, auditor):
            told = samples(one_service, key_of(client))
            assert len({pairs for found, pairs in told if found == f"{name}_bucket"}) > 10
            assert sum(value for (found, _), value in told.items() if found == f"{name}_sum") > 0
    assert public["snapledger_engine_seconds_count", (("outcome", "done"),)] > 0


def test_the_process_is_shown_to_admins_and_auditors_alone(one_service: Service) -> None:
    """The processor's time, the memory and the collections of garbage tell of the work on data."""
    assert {found for found, _ in samples(one_service) if not found.startswith("snapledger_")} == set()
    for client in (one_service.admin, one_service.principal("auditor")[1]):
        told = {found for found, _ in samples(one_service, key_of(client))}
        assert {"process_cpu_seconds_total", "process_resident_memory_bytes", "python_gc_collections_total"} <= told


def test_each_dataset_s_budget_is_told_to_admins_and_auditors_alone(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(20), limit="3")
    table.fresh(MEAN, epsilon="0.5")
    label = (("dataset", table.name),)
    told = samples(one_service, one_service.admin_key)
    figures = {name: told[f"snapledger_epsilon_{name}", label] for name in ("limit", "spent", "remaining")}
    assert figures == {"limit": 3, "spent": 0.5, "remaining": 2.5}
    assert table.name not in metrics(one_service).text
    for client, status in ((table.analyst, 403), (table.owner, 403), (one_service.principal("auditor")[1], 200)):
        assert metrics(one_service, key_of(client)).status_code == status
    refused = metrics(one_service, "nobody's")
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthenticated")


def test_no_label_is_a_stranger_s_word(one_service: Service) -> None:
    one_service.stranger.get("/v1/odd-path-of-a-stranger")
    one_service.stranger.get("/another-odd-path")
    httpx.request("BREW", f"{one_service.url}/healthz")
    exposed = metrics(one_service).text
    assert "odd-path" not in exposed
    assert "BREW" not in exposed


def test_every_answer_has_an_id_that_the_log_has_too(one_service: Service) -> None:
    given = one_service.stranger.get("/healthz", headers={"X-Request-Id": "trail-7"})
    assert given.headers["x-request-id"] == "trail-7"
    for odd in ("with a space", "x" * 65, "semi;colon", ""):
        made = one_service.stranger.get("/healthz", headers={"X-Request-Id": odd})
        assert re.fullmatch("[0-9a-f]{32}", made.headers["x-request-id"])
    refused = one_service.stranger.get("/v1/me")
    assert refused.status_code == 401
    identity, name = refused.headers["x-request-id"], one_service.admin.get("/v1/me")
    assert becomes(lambda: logged(one_service, request_id=identity, event="request"))  # after the answer is sent
    (line,) = logged(one_service, request_id=identity, event="request")
    assert (line["method"], line["status"], line["principal"], line["level"]) == ("GET", 401, None, "info")
    assert becomes(lambda: logged(one_service, request_id=name.headers["x-request-id"]))
    (line,) = logged(one_service, request_id=name.headers["x-request-id"])
    assert (line["route"], line["status"], line["principal"]) == ("/v1/me", 200, "admin")


def test_a_release_is_in_the_log_with_who_and_what_it_cost(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(20))
    identity = "release-in-the-log"
    headers = {"Idempotency-Key": "once", "X-Request-Id": identity}
    body = {"statistic": MEAN, "epsilon": "0.125"}
    assert table.analyst.post(f"{table.path}/releases", json=body, headers=headers).status_code == 201
    (line,) = logged(one_service, request_id=identity, event="release")
    told = {name: line[name] for name in ("principal", "dataset", "statistic", "outcome", "charged")}
    assert told == {
        "principal": table.analyst_name,
        "dataset": table.name,
        "statistic": "mean",
        "outcome": "fresh",
        "charged": "0.125",
    }


def test_headers_that_keep_answers_to_themselves(one_service: Service) -> None:
    for answer in (one_service.admin.get("/v1/me"), one_service.stranger.get("/v1/me")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "access-control-allow-origin" not in answer.headers
    page = one_service.stranger.get("/docs").headers
    assert "frame-ancestors 'none'" in page["content-security-policy"]
    assert page["x-frame-options"] == "DENY"
    preflight = {"Origin": "https://board.example", "Access-Control-Request-Method": "POST"}
    assert one_service.stranger.options("/v1/me", headers=preflight).status_code in {401, 405}


ALONE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-site",
}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("GET", path) for path in ("/healthz", "/readyz", "/metrics", "/v1/me", "/v1/nothing")),
        *(("GET", path) for path in ("/nothing", "/web/nothing", "/web/", "/docs/")),
        *(("PATCH", "/v1/me"), ("HEAD", "/v1/me"), ("DELETE", "/metrics"), ("TRACE", "/v1/me"), ("OPTIONS", "/v1/me")),
    ],
)
def test_every_answer_that_is_no_page_keeps_to_itself(one_service: Service, method: str, path: str) -> None:
    for key in ({}, {"Authorization": f"Bearer {one_service.admin_key}"}):
        headers = httpx.request(method, f"{one_service.url}{path}", headers=key).headers
        assert {name: headers.get(name) for name in ALONE} == ALONE
        assert "x-request-id" in headers


@pytest.mark.parametrize("path", ["/", "/docs", "/guide", "/guide/nothing", "/web/vendor/d3-shape.min.js"])
def test_every_page_says_what_it_may_do(one_service: Service, path: str) -> None:
    headers = httpx.get(f"{one_service.url}{path}").headers.multi_items()
    said = {name: value for name, value in headers if name in {*ALONE, "x-request-id"}}
    assert said.keys() == {*ALONE, "x-request-id"}
    assert said["cross-origin-resource-policy"] in {"same-origin", "same-site"}
    assert [name for name, _ in headers if name in ALONE] == list(
        dict.fromkeys(name for name, _ in headers if name in ALONE)
    )
    assert (said["x-frame-options"], said["x-content-type-options"]) == ("DENY", "nosniff")
    assert "frame-ancestors 'none'" in said["content-security-policy"]


@pytest.mark.slow
def test_a_page_of_another_origin_may_read_an_internal_error(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, database_url, CORS_ORIGINS="https://board.example") as service:
        database = Database(database_url)
        with database.write() as transaction:
            transaction.connection.execute(text("ALTER TABLE releases RENAME TO gone"))
            transaction.commit()
        database.close()
        key = {"Authorization": f"Bearer {service.admin_key}", "Origin": "https://board.example"}
        answer = httpx.get(f"{service.url}/v1/releases", headers=key)
        assert answer.status_code == 500
        assert answer.headers["access-control-allow-origin"] == "https://board.example"


def test_who_calls_too_often_is_told_when_to_come_back(limited: Service) -> None:
    _, eager = limited.principal("analyst")
    answers = [eager.get("/v1/me") for _ in range(12)]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200] * 8 + [429] * 4
    refused = answers[-1]
    assert refused.json()["type"] == "/problems/rate-limited"
    assert 1 <= int(refused.headers["retry-after"]) <= 68  # a window, and until its first call has slid out
    assert limited.stranger.get("/v1/me").status_code == 401  # without a key nothing is counted
    _, other = limited.principal("analyst")
    assert other.get("/v1/me").status_code == 200


@pytest.mark.slow
def test_a_limit_is_by_principal_not_by_key(limited: Service) -> None:
    _, eager = limited.principal("analyst")
    for _ in range(7):
        assert eager.get("/v1/me").status_code == 200
    renewed = eager.post("/v1/me/key")
    assert renewed.status_code == 201
    assert limited.client(renewed.json()["key"]).get("/v1/me").status_code == 429


def test_dashboards_of_named_origins_may_call(limited: Service) -> None:
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,idempotency-key,traceparent",
    }
    for origin, allowed in (("https://board.example", True), ("https://evil.example", False)):
        answer = httpx.options(f"{limited.url}/v1/me", headers={"Origin": origin, **asked})
        assert (answer.headers.get("access-control-allow-origin") == origin) is allowed
    answer = limited.stranger.get("/v1/me", headers={"Origin": "https://board.example"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, "https://board.example")
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.slow
def test_more_calls_at_once_than_there_is_room_for(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/ledger.sqlite3"
    settings = {"MAX_CONCURRENT_REQUESTS": "1", "CORS_ORIGINS": "https://board.example"}
    with serving(tmp_path, database, **settings) as service, ThreadPoolExecutor(1) as hands:
        refused, found = threading.Event(), []
        held = hands.submit(_slow_upload, service, refused)

        def is_refused() -> bool:
            found.append(httpx.get(f"{service.url}/v1/me", headers={"Origin": "https://board.example"}))
            return found[-1].status_code == 503

        assert becomes(is_refused)
        refused.set()
        answer = found[-1]
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/overloaded")
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.headers["access-control-allow-origin"] == "https://board.example"
        assert held.result() in {400, 408}  # it is slow, and may have had to give way
        assert httpx.get(f"{service.url}/healthz").status_code == 200


def _slow_upload(service: Service, until: threading.Event) -> int:
    """The status of a body whose end comes after an event, sent again while there is no room for it."""

    def pieces() -> Iterator[bytes]:
        yield b"{"
        until.wait(60)
        yield b"]"

    headers = {"Authorization": f"Bearer {service.admin_key}", "Content-Type": "application/json"}
    while True:
        try:
            answer = httpx.post(f"{service.url}/v1/principals", content=pieces(), headers=headers, timeout=60)
        except httpx.TransportError:  # refused, and hung up on, before the body was there
            continue
        if answer.status_code != 503:
            return answer.status_code


@pytest.mark.parametrize("setting", ["RATE_LIMIT=often", "RATE_LIMIT=-1/minute", "MAX_CONCURRENT_REQUESTS=0"])
def test_wrong_settings_are_refused_at_start(setting: str) -> None:
    from app.config import Settings  # noqa: PLC0415 - nothing else here needs it

    name, _, value = setting.partition("=")
    with pytest.raises(ValueError, match=name.lower()):
        Settings(**{name.lower(): value})


def test_every_metric_of_the_docs_the_alerts_and_the_dashboard_exists(one_service: Service) -> None:
    root = Path(__file__).parents[3]
    families = list(text_string_to_metric_families(metrics(one_service, one_service.admin_key).text))
    existing = {f"{each.name}_total" if each.type == "counter" else each.name for each in families}
    ours = {name for name in existing if name.startswith("snapledger_")}
    for path in ("docs/operations.md", "deploy/alerts.yml", "deploy/grafana-dashboard.json"):
        named = re.findall(r"\bsnapledger_[a-z_]+\b", (root / path).read_text("utf-8"))
        assert {re.sub("_(bucket|count|sum)$", "", name) for name in named} <= ours, path
    document = (root / "docs/operations.md").read_text("utf-8")
    assert all(f"`{name}`" in document for name in ours)
