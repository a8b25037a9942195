"""Each answered question is one of fresh, reused, replayed and rehearsed to metrics and log, however it is asked."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from prometheus_client.parser import text_string_to_metric_families
from service_world import Service, Table, becomes, numbers_csv

COLUMNS = {"x": {"kind": "integer", "bounds": [0, 100]}, "y": {"kind": "integer", "bounds": [0, 100]}}
ROWS = "x,y\n" + "".join(f"{line},{line}\n" for line in numbers_csv(50).split()[1:])
MEAN, VARIANCE = {"kind": "mean", "column": "x"}, {"kind": "variance", "column": "x"}
REQUESTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "releases": ({"statistic": MEAN, "epsilon": "0.5"}, ["mean"]),
    "batches": (
        {"items": [{"statistic": MEAN, "epsilon": "0.5"}, {"statistic": VARIANCE, "epsilon": "0.5"}]},
        ["mean", "variance"],
    ),
    "derived": (
        {"derived": {"kind": "correlation", "columns": ["x", "y"]}, "epsilon": "1.5"},
        ["covariance", "variance", "variance"],
    ),
}

pytestmark = pytest.mark.parametrize("way", REQUESTS)


def ask(table: Table, way: str, key: str | None) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return table.analyst.post(f"{table.path}/{way}", json=REQUESTS[way][0], headers=headers)


def counted(service: Service) -> Counter[tuple[str, str]]:
    """How many answers the metrics count, by statistic and outcome."""
    lines = httpx.get(f"{service.url}/metrics").text.splitlines()
    families = text_string_to_metric_families("\n".join(line for line in lines if "snapledger_releases" in line))
    samples = [sample for family in families for sample in family.samples]
    return Counter(
        {
            (sample.labels["statistic"], sample.labels["outcome"]): int(sample.value)
            for sample in samples
            if sample.name == "snapledger_releases_total"
        }
    )


def logged(table: Table) -> Counter[tuple[str, str, str]]:
    """What the log has of a dataset: statistics, outcomes and charges."""
    lines = [json.loads(line) for line in table.service.log.read_text().splitlines() if f'"{table.name}"' in line]
    ours = [line for line in lines if line["event"] == "release" and line["dataset"] == table.name]
    return Counter((line["statistic"], line["outcome"], line["charged"]) for line in ours)


@SERVICE_ON_POSTGRES_SLOWLY
def test_each_question_has_one_outcome(service: Service, way: str) -> None:
    table, kinds = service.table(COLUMNS, ROWS), REQUESTS[way][1]
    steps = [("once", 201, "fresh"), ("once", 201, "replayed"), ("known", 200, "reused"), ("known", 200, "replayed")]
    told: Counter[tuple[str, str, str]] = Counter()
    for key, status, outcome in [*steps, (None, 200, "reused")]:
        before = counted(service)
        assert ask(table, way, key).status_code == status
        told.update((kind, outcome, "0.5" if outcome == "fresh" else "0") for kind in kinds)
        assert counted(service) - before == Counter((kind, outcome) for kind in kinds)
        assert becomes(lambda: logged(table) == told), logged(table)


def test_a_rehearsed_question_is_no_release(service: Service, way: str) -> None:
    table, (body, kinds) = service.table(COLUMNS, ROWS), REQUESTS[way]
    before = counted(service)
    assert table.analyst.post(f"{table.path}/{way}", json={**body, "rehearse": True}).status_code == 200
    assert counted(service) - before == Counter((kind, "rehearsed") for kind in kinds)
    told = Counter((kind, "rehearsed", "0") for kind in kinds)
    assert becomes(lambda: logged(table) == told), logged(table)


def test_a_refused_question_has_none(service: Service, way: str) -> None:
    table = service.table(COLUMNS, ROWS, allowance="0.4")
    before = counted(service)
    assert ask(table, way, "once").status_code == 409
    assert (counted(service), logged(table)) == (before, Counter())


@SERVICE_ON_POSTGRES_SLOWLY
def test_of_simultaneous_twins_one_is_fresh(service: Service, way: str) -> None:
    table, kinds = service.table(COLUMNS, ROWS), REQUESTS[way][1]
    before = counted(service)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(table, way, "same"), range(8)))
    assert {answer.status_code for answer in answers} == {201}
    expected = Counter((kind, outcome) for kind in kinds for outcome in ("fresh", *["replayed"] * 7))
    assert counted(service) - before == expected
