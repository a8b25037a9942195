"""Rehearsals: answers of a release's shape from made-up data, which cost nothing and leave nothing."""

import random
import re
import secrets
from typing import Any

import httpx
import pytest
import random_questions
from filtered_table import COLUMNS, ROWS, content
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import Service, Table, told

Body = dict[str, Any]
MEAN: Body = {"kind": "mean", "column": "accuracy"}
LOW, KNOWN = {"x": {"below": 1}}, {"accuracy": {"is_missing": False}}
STATISTICS: list[Body] = [
    MEAN,
    {"kind": "variance", "column": "x"},
    {"kind": "covariance", "columns": ["x", "accuracy"]},
    {"kind": "count", "where": LOW},
    {"kind": "count", "group_by": "k"},
    {"kind": "sum", "column": "x", "where": {"k": {"in": ["a"]}}},
    {"kind": "sum", "column": "accuracy", "group_by": "k", "centred": True},
    {"kind": "missing", "column": "b"},
    {"kind": "histogram", "column": "k"},
    {"kind": "histogram", "column": "x", "bins": 5, "where": KNOWN},
    {"kind": "histogram", "columns": ["k", "b"]},
    {"kind": "histogram", "column": "accuracy", "bins": 30_000},
    {"kind": "adaptive_histogram", "column": "x", "bins": 100, "probabilities": [0.5]},
    {"kind": "quantile_search", "column": "x", "bins": 100, "probabilities": [0.5]},
    {"kind": "pair_differences", "columns": ["x", "accuracy"]},
]
DERIVED: list[Body] = [
    {"kind": "quantile", "column": "x", "bins": 50, "probabilities": [0.25, 0.5]},
    {"kind": "standard_deviation", "column": "x"},
    {"kind": "correlation", "columns": ["x", "accuracy"], "missing": "exclude"},
    {"kind": "regression", "columns": ["x", "accuracy"]},
    {"kind": "mean", "column": "x", "group_by": "k"},
    {"kind": "sum", "column": "x", "group_by": "k"},
    {"kind": "proportion", "column": "b"},
    {"kind": "margin", "columns": ["k", "b"], "column": "k"},
]
REQUESTS: list[tuple[str, Body]] = [
    *(("releases", {"statistic": each, "epsilon": "0.5"}) for each in STATISTICS),
    ("releases", {"statistic": MEAN, "accuracy": 5, "alpha": 0.1, "reuse": False}),
    ("batches", {"items": [{"statistic": each, "weight": 1} for each in STATISTICS[:11]], "epsilon": "2"}),
    ("batches", {"items": [{"statistic": MEAN}, {"statistic": STATISTICS[1]}], "equalise": "relative", "epsilon": 1}),
    *(("derived", {"derived": each, "epsilon": "100"}) for each in DERIVED),
]


def post(table: Table, way: str, body: Body, *, key: str | None = None, client: httpx.Client | None = None) -> Any:
    headers = {"Idempotency-Key": key or secrets.token_hex(8)}
    return (client or table.analyst).post(f"{table.path}/{way}", json=body, headers=headers)


def rehearse(table: Table, way: str, body: Body, **more: Any) -> httpx.Response:
    answer: httpx.Response = post(table, way, {**body, "rehearse": True}, **more)
    return answer


def without(value: Any, *names: str) -> Any:
    """A document without the members of these names, at any depth."""
    if isinstance(value, dict):
        return {name: without(each, *names) for name, each in value.items() if name not in names}
    return [without(each, *names) for each in value] if isinstance(value, list) else value


def shape(value: Any, at: str = "") -> set[str]:
    """The path and the type of every value in a document."""
    if isinstance(value, dict):
        return {path for name, each in value.items() for path in shape(each, f"{at}.{name}")}
    if isinstance(value, list):
        return {path for each in value for path in shape(each, f"{at}[]")}
    return {f"{at}: {'number or null' if isinstance(value, int | float | None) else type(value).__name__}"}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, content())


@pytest.fixture
def twin(service: Service) -> Table:
    """A table with the same public metadata, and with other values."""
    rows = "k,accuracy,b,x\n" + f"b,{100},false,3\n" * (40 * len(ROWS))
    return service.table(COLUMNS, rows)


@SERVICE_ON_POSTGRES_SLOWLY
def test_a_rehearsal_depends_on_public_metadata_alone_and_leaves_nothing(
    service: Service, table: Table, twin: Table
) -> None:
    """The same bytes for two tables with one metadata, but for the name; no row, file, scan, debit or entry."""
    entries = table.entries()
    with service.unchanged():
        scans = service.scans()
        for way, body in REQUESTS:
            answer, other = rehearse(table, way, body), rehearse(twin, way, body)
            assert (answer.status_code, other.status_code) == (200, 200), answer.text
            named = f'"dataset":"{twin.name}"'.encode()
            assert other.content.replace(named, f'"dataset":"{table.name}"'.encode()) == answer.content
            assert {"idempotency-replayed", "location"}.isdisjoint(answer.headers)
            document = answer.json()
            assert document["rehearsed"] is True
            assert document["budget"] == {"charged": "0", "dataset_remaining": "10", "allowance_remaining": "10"}
            for each in document.get("items", []):
                assert each["rehearsed"] is True
                assert each["summary"].startswith("Rehearsal with made-up data: ")
        assert service.scans() == scans
    assert table.entries() == entries
    assert table.budget()["epsilon_spent"] == "0"


@pytest.mark.slow
def test_a_rehearsal_has_the_shape_of_the_release(one_service: Service) -> None:
    table = one_service.table(COLUMNS, content(), limit="2000", allowance="2000")
    for way, body in REQUESTS:
        rehearsed, released = rehearse(table, way, body), post(table, way, {**body, "reuse": False})
        assert released.status_code == 201, released.text
        assert "rehearsed" not in released.json()
        assert shape(without(rehearsed.json(), "rehearsed")) == shape(released.json()), body
        for common in (
            "statistic",
            "bins",
            "edges",
            "privacy",
            "mechanism",
            "treatment",
            "derived",
            "epsilon",
            "alpha",
        ):
            assert rehearsed.json().get(common) == released.json().get(common)


def test_no_key_or_question_ever_brings_a_rehearsal_and_a_release_together(table: Table) -> None:
    """Neither reuses the other, and an idempotency key stays free for the release."""
    for way, body in (
        ("releases", {"statistic": MEAN, "epsilon": "0.5"}),
        ("batches", {"items": [{"statistic": STATISTICS[1], "epsilon": "0.5"}]}),
        ("derived", {"derived": {"kind": "proportion", "column": "b"}, "epsilon": "0.5"}),
    ):
        rehearsed = rehearse(table, way, body, key=way)
        released = post(table, way, body, key=way)
        assert (rehearsed.status_code, released.status_code) == (200, 201)
        assert released.json()["budget"]["charged"] == "0.5"
        again = rehearse(table, way, body, key=way)
        assert without(again.json(), "budget") == without(rehearsed.json(), "budget")
        assert again.json()["budget"] == released.json()["budget"] | {"charged": "0"}
        assert post(table, way, body, key=way).content == released.content
        known = post(table, way, body)
        assert known.status_code == 200
        assert "rehearsed" not in known.json()


def test_a_rehearsal_is_no_release_to_anybody(table: Table) -> None:
    rehearsed = rehearse(table, "releases", {"statistic": MEAN, "epsilon": "0.5"}).json()
    assert rehearsed["created_at"] == "1970-01-01T00:00:00.000000Z"
    assert re.fullmatch("rehearsal-[0-9a-f]{32}", rehearsed["id"])
    assert table.analyst.get(f"/v1/releases/{rehearsed['id']}").status_code == 404
    for path in (f"{table.path}/releases", "/v1/releases"):
        assert table.analyst.get(path).json()["releases"] == []
    assert not table.plan(MEAN, epsilon="0.5").json()["reused"]


def test_equal_questions_have_equal_numbers_and_other_ones_do_not(table: Table) -> None:
    def numbers(**question: Any) -> str:
        value = rehearse(table, "releases", {"statistic": MEAN, **question}).json()["value_exact"]
        return str(value)

    assert numbers(epsilon="0.5") == numbers(epsilon=0.50, alpha=0.1)
    different = [{"epsilon": "0.5"}, {"epsilon": "0.500000001"}, {"epsilon": "0.5", "gamma": 0.1}]
    assert len({numbers(**each) for each in different}) == len(different)


def test_no_budget_is_needed_but_the_right_to_plan(service: Service, table: Table) -> None:
    """An owner or admin without an allowance, and an analyst with an allowance of 0, may rehearse; an auditor not."""
    _, poor = table.another("0")
    for way, body in (REQUESTS[0], REQUESTS[-10], REQUESTS[-1]):
        for client, remaining in ((table.owner, None), (service.admin, None), (poor, "0")):
            answer = rehearse(table, way, body, client=client)
            assert answer.status_code == 200, answer.text
            assert answer.json()["budget"]["allowance_remaining"] == remaining
            assert post(table, way, body, client=client).status_code == (403 if remaining is None else 409)
        _, auditor = service.principal("auditor")
        _, outsider = service.principal("analyst")
        assert rehearse(table, way, body, client=auditor).status_code == 403
        assert rehearse(table, way, body, client=outsider).status_code == 404
    misspelt = rehearse(table, "releases", {"statistic": MEAN, "epsilon": 1, "alfa": 1}, client=table.owner)
    assert misspelt.status_code == 422
    assert table.owner.delete(table.path).status_code == 204
    assert rehearse(table, *REQUESTS[0]).status_code == 409


def test_public_facts_refuse_a_rehearsal_as_they_refuse_a_release(table: Table) -> None:
    """So that what was written with rehearsals runs unchanged."""
    for way, body in (
        ("releases", {"statistic": MEAN, "epsilon": 2000}),
        ("releases", {"statistic": MEAN, "accuracy": "1e-9"}),
        ("releases", {"statistic": MEAN, "accuracy": 1000}),
        ("releases", {"statistic": {"kind": "mean", "column": "k"}, "epsilon": 1}),
        ("releases", {"statistic": MEAN, "epsilon": 1, "accuracy": 1}),
        ("batches", {"items": [{"statistic": MEAN, "weight": 1}]}),
        ("batches", {"items": []}),
        ("derived", {"derived": {"kind": "quantile", "column": "k"}, "epsilon": 1}),
        ("derived", {"derived": {"kind": "correlation", "columns": ["x", "accuracy"]}, "epsilon": "1e-9"}),
        ("releases", {"statistic": MEAN, "epsilon": 1, "rehearse": "yes"}),
    ):
        rehearsed, released = (post(table, way, {"rehearse": each, **body}) for each in (True, False))
        assert rehearsed.status_code == released.status_code >= 400, body
        assert told(rehearsed) == told(released)
    for headers in ({}, {"Idempotency-Key": ""}, {"Idempotency-Key": "x" * 256}):
        body = {"statistic": MEAN, "epsilon": 1, "reuse": False}
        answers = [
            table.analyst.post(f"{table.path}/releases", json=body | {"rehearse": each}, headers=headers)
            for each in (True, False)
        ]
        assert answers[0].status_code == answers[1].status_code >= 400
        assert told(answers[0]) == told(answers[1])


@pytest.mark.parametrize("n", [2, 5, 101])
def test_whatever_can_be_planned_can_be_rehearsed(one_service: Service, n: int) -> None:
    """Random questions on small and very small tables: the same promise, and the same refusal."""
    chance, answered = random.Random(n), 0
    rows = "x,r,b,k\n" + "".join(f"{i},{i / 128},{i % 2},{'st'[i % 2]}\n" for i in range(n))
    table = one_service.table(random_questions.COLUMNS, rows, rows_per_unit=chance.choice([1, 2]))
    for _ in range(40):
        statistic, terms = random_questions.random_statistic(chance), random_questions.random_terms(chance)
        asked = chance.choice(
            [{"epsilon": f"{10 ** chance.randint(-9, 2):.9f}"}, {"accuracy": chance.randint(1, 10**4)}]
        )
        planned = table.plan(statistic, **asked, **terms)
        rehearsed = rehearse(table, "releases", {"statistic": statistic, **asked, **terms})
        assert rehearsed.status_code == planned.status_code, rehearsed.text
        if planned.status_code == 200:
            answered += 1
            assert planned.json()["accuracy"].items() <= rehearsed.json()["accuracy"].items()
        else:
            assert without(rehearsed.json(), "request_id") == without(planned.json(), "request_id")
    assert answered > 10


def test_a_plan_is_the_same_with_it(table: Table) -> None:
    for way, body in (REQUESTS[0], REQUESTS[-10], REQUESTS[-1]):
        path = f"{table.path}/{'plan' if way == 'releases' else f'{way}/plan'}"
        plain, marked = (table.analyst.post(path, json=each) for each in (body, {**body, "rehearse": True}))
        assert (plain.status_code, marked.content) == (200, plain.content)
