"""Bodies that are meant to hurt: none gives a 5xx, changes anything, or is repeated in an answer or in the log."""

import json
from itertools import islice
from typing import Any, NamedTuple

import httpx
import pytest
from lengths import LONGER
from service_world import Service, Table, a_name
from spoiling import MARK, NESTED, spoilt

MEAN = {"kind": "mean", "column": "x"}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "y": {"kind": "real", "bounds": [0, 100]},
    "kind": {"kind": "category", "categories": ["a", "b"]},
}
CONTENT = "x,y,kind\n" + "1,2,a\n3,4,b\n" * 10


class Call(NamedTuple):
    """A request that would do, to be spoilt."""

    client: httpx.Client
    method: str
    path: str
    body: dict[str, Any]


def calls(table: Table) -> list[Call]:
    release = {"statistic": MEAN | {"bounds": [0, 50]}, "epsilon": "0.000001", "alpha": 0.1, "gamma": 0.1}
    by_accuracy = {
        "statistic": {"kind": "variance", "column": "y"},
        "accuracy": 2000,
        "grid_refinement": 3,
        "reuse": True,
    }
    histogram = {"statistic": {"kind": "histogram", "column": "y", "edges": [0, 1, 2.5]}, "epsilon": "0.000001"}
    covariance = {
        "statistic": {"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 1], None]},
        "epsilon": "0.000001",
    }
    bins = {"statistic": {"kind": "histogram", "column": "x", "bins": 3, "bounds": [0, 9]}, "epsilon": "0.000001"}
    curve = {"curve": {"from": "0.1", "to": 2, "points": 3}, "guess": 5}
    items = [
        {"statistic": MEAN, "weight": 1},
        {"statistic": {"kind": "count", "where": {"kind": {"in": ["a"]}, "y": {"between": [0, 2]}}}, "epsilon": "1e-6"},
    ]
    batch = {"items": items, "epsilon": "0.000001"}
    quantile = {"kind": "quantile", "column": "x", "bins": 3, "bounds": [0, 9], "probabilities": [0.5]}
    derived = {"derived": quantile, "epsilon": "0.000001"}
    administer = table.service.admin
    return [
        *(
            Call(table.analyst, "POST", f"{table.path}/plan", one)
            for one in (release, by_accuracy, histogram, covariance, bins)
        ),
        Call(table.analyst, "POST", f"{table.path}/releases", release),
        Call(
            table.owner,
            "PUT",
            f"{table.path}/allowances/{table.analyst_name}",
            {"epsilon_limit": "9", "window_days": None},
        ),
        Call(table.owner, "POST", f"{table.path}/budget/adjustments", {"epsilon_limit": "9", "reason": "why"}),
        Call(administer, "POST", "/v1/principals", {"name": a_name("spoilt"), "role": "analyst"}),
        Call(table.analyst, "POST", f"{table.path}/plan", release | curve),
        Call(administer, "POST", "/v1/plan", release | curve | {"n": 10, "rows_per_unit": 1, "columns": COLUMNS}),
        Call(table.analyst, "POST", f"{table.path}/batches/plan", batch | {"alpha": 0.1}),
        Call(table.analyst, "POST", f"{table.path}/batches", batch),
        Call(table.analyst, "POST", f"{table.path}/derived/plan", derived | {"gamma": 0.1}),
        Call(table.analyst, "POST", f"{table.path}/derived", derived),
    ]


def assert_harmless(answer: httpx.Response, body: str) -> None:
    told = f"{answer.request.method} {answer.request.url.path} {body[:300]!a}"
    assert answer.status_code < 500, told
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", told
        assert MARK not in answer.text, told
        assert len(answer.content) < 5_000, told


# Every eleventh body, or every third: of each place another part of what it is replaced by.
EACH = pytest.mark.parametrize("stride", [11, pytest.param(max(1, 4 - LONGER), marks=pytest.mark.slow)])
# Postgres is the stricter one: it holds fewer texts.
MAX_ON_POSTGRES = pytest.mark.parametrize(
    "service", ["postgres", pytest.param("sqlite", marks=pytest.mark.slow)], indirect=True
)


def assert_nothing_is_repeated(service: Service) -> None:
    log = service.log.read_text()
    assert MARK not in log
    assert "internal error" not in log


@pytest.mark.slow
@EACH
@MAX_ON_POSTGRES
@pytest.mark.parametrize("which", range(15))
def test_every_member_of_every_body_spoilt(service: Service, which: int, stride: int) -> None:
    """A wrong body is a 400 or a 422, told without the input; nothing is stored."""
    table = service.table(COLUMNS, CONTENT, limit="1000", allowance="10")
    client, method, path, body = calls(table)[which]
    headers = {"Content-Type": "application/json"}
    refused = []
    for text in islice(spoilt(body), 0, None, stride):
        answer = client.request(method, path, content=text.encode(), headers=headers)
        assert_harmless(answer, text)
        if answer.status_code >= 400:
            refused.append(text)
    assert len(refused) > 10
    with service.unchanged():
        for text in refused[::7]:
            assert client.request(method, path, content=text.encode(), headers=headers).status_code >= 400
    assert_nothing_is_repeated(service)


@pytest.mark.slow
@EACH
@MAX_ON_POSTGRES
@pytest.mark.parametrize("which", range(3))
def test_every_member_of_metadata_spoilt(service: Service, which: int, stride: int) -> None:
    _, owner = service.principal("owner")
    columns: dict[str, Any] = [
        {"x": {"kind": "integer", "bounds": [0, 9], "nullable": True, "null_value": 1}},
        {"x": {"kind": "decimal", "scale": 1, "bounds": ["0.1", 9]}, "y": {"kind": "boolean", "null_value": False}},
        {"kind": {"kind": "category", "categories": ["a", "b"]}},
    ][which]
    metadata = {"name": "the-name", "description": "d", "epsilon_limit": 1, "rows_per_unit": 1, "columns": columns}
    metadata["null_values"] = ["", "NA"]
    for text in islice(spoilt(metadata), 0, None, stride):
        before = len(list(service.data.iterdir()))
        named = text.replace("the-name", a_name("spoilt"))
        answer = service.upload(owner, named, b"x,y,kind\n1,1,a\n2,0,b\n")
        assert_harmless(answer, named)
        added = 2 * (answer.status_code == 201)  # the table, and the sums that are prepared for it
        assert len(list(service.data.iterdir())) == before + added
    assert_nothing_is_repeated(service)


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"\xef\xbb\xbf{}",
            "{}".encode("utf-16"),
            b'{"a": "\xff"}',
            b'{"a": "\xc0\x80"}',
            b'{"a": "\xed\xa0\x80"}',
        ),
        *(b"\x00" * 1000, b"[" * 10_000, b'{"a":' * 10_000, b'"' + b"x" * 10**6, b"[" + b"1," * 40_000 + b"1"),
        *(NESTED.encode(), b"-", b"1e", b'"\\u12"', b"{'a': 1}", b"{a: 1}", b"nan", b"Infinity", b'{"a": -Infinity}'),
    ],
    ids=lambda body: ascii(body[:20]),
)
def test_what_is_no_json_is_a_400(one_service: Service, body: bytes) -> None:
    """400: malformed JSON."""
    headers = {"Content-Type": "application/json"}
    answer = one_service.admin.post("/v1/principals", content=body, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/malformed-json")
    assert_harmless(answer, str(body))


def test_a_flood_of_problems_has_a_short_answer(one_service: Service) -> None:
    table = one_service.table(COLUMNS, CONTENT)
    edges = {"kind": "histogram", "column": "x", "edges": [MARK] * 10_000}
    for client, path, body in (
        (one_service.admin, "/v1/principals", {f"{MARK}{i}": i for i in range(30_000)}),
        (table.analyst, f"{table.path}/plan", {"statistic": edges, "epsilon": 1}),
    ):
        answer = client.post(path, json=body)
        assert answer.status_code == 422
        assert_harmless(answer, path)


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "\udfffx"])
def test_texts_that_no_database_holds(service: Service, text: str) -> None:
    """Lone surrogates and NUL, wherever a text is stored."""
    table = service.table(COLUMNS, CONTENT)
    metadata = {"name": a_name("never"), "epsilon_limit": 1, "columns": {"x": COLUMNS["x"]}}
    category = {"kind": {"kind": "category", "categories": ["a", text]}}
    headers = {"Content-Type": "application/json"}
    with service.unchanged():
        for member in ({"description": text}, {"null_values": [text]}, {"columns": category}, {"name": text}):
            assert service.upload(table.owner, metadata | member, CONTENT.encode()).status_code == 422
        for client, path, body in (
            (table.owner, f"{table.path}/budget/adjustments", {"epsilon_limit": 20, "reason": text}),
            (service.admin, "/v1/principals", {"name": text, "role": "analyst"}),
            (service.admin, "/v1/principals", {"name": a_name("never"), "role": text}),
            (table.analyst, f"{table.path}/plan", {"statistic": {"kind": text, "column": "x"}, "epsilon": 1}),
            (table.analyst, f"{table.path}/plan", {"statistic": {"kind": "mean", "column": text}, "epsilon": 1}),
        ):
            assert client.post(path, content=json.dumps(body), headers=headers).status_code == 422


def test_large_and_close_numbers_of_real_columns(one_service: Service) -> None:
    """Edges closer than a double tells apart; bounds 2e-300 apart; real columns at 1.7e15."""
    columns = {"y": {"kind": "real", "bounds": ["1.7e15", "1700000000000001"]}}
    table = one_service.table(columns, "y\n1.7e15\n1700000000000000.5\n1.8e308\n-inf\n")
    first = table.release({"kind": "mean", "column": "y"}, epsilon=10)
    accuracy = first.json()["accuracy"]
    assert (first.status_code, accuracy["resolution"] >= 0.125) == (201, True)
    assert accuracy["interval"][0] >= 1.7e15
    for statistic in (
        {"kind": "mean", "column": "y", "bounds": ["1.7e15", "1700000000000000.01"]},
        {"kind": "mean", "column": "y", "bounds": [0, "2e-300"]},
        {"kind": "histogram", "column": "y", "edges": ["1.7e15", "1700000000000000.01", "1.8e15"]},
        {"kind": "histogram", "column": "y", "bins": 100},
        {"kind": "histogram", "column": "y", "bins": 2_000_000},
    ):
        with one_service.unchanged():
            assert table.release(statistic, epsilon=1).status_code == 422
    log = one_service.log.read_text()
    assert "1700000000000000" not in log
