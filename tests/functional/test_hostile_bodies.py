"""Bodies that are meant to hurt: none gives a 5xx, changes anything, or is repeated in an answer or in the log."""

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from service_world import Service, Table, a_name, numbers_csv

MARK = "nobody-may-see-this"
MEAN = {"kind": "mean", "column": "x"}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "y": {"kind": "real", "bounds": [0, 100]},
    "kind": {"kind": "category", "categories": ["a", "b"]},
}
CONTENT = "x,y,kind\n" + "1,2,a\n3,4,b\n" * 10
NESTED = "[" * 10_000 + "]" * 10_000
TEXTS = [
    *(
        "",
        "\x00",
        "\ud800",
        f"{MARK}\ud800",
        f"\u202e{MARK}",
        f"{MARK}\x00",
        f"{MARK}\x7f",
        "\ufffe\uffff",
        "\U0010ffff",
    ),
    *(
        f"'{MARK}",
        f'"{MARK}',
        f"`{MARK}",
        f"{MARK}'; DROP TABLE releases; --",
        f"{{{MARK}}}",
        f"%s%n{MARK}",
        f"{MARK}\r\nX: y",
    ),
    *(MARK * 600, "x" * 10_000, "\u0301" * 1000, f"../../{MARK}", f"${{{MARK}}}", "null", "true", "NaN", "Infinity"),
    *(
        "1e999999999",
        "1e-999999999",
        "9" * 10_000,
        "0x10",
        "1_0",
        "\u0663",
        "\uff11",
        " 1",
        "1 ",
        "1\n",
        "+-1",
        "1e+",
        ".",
    ),
]
# As they are written, since no encoder writes them.
NUMBERS = [
    *(
        "0",
        "-0",
        "-1",
        "2",
        "1e999",
        "-1e999",
        "1e-999",
        "1e-400",
        "1e99999999999999999999",
        "1" * 5000,
        f"0.{'0' * 5000}1",
    ),
    *(
        str(2**31),
        str(2**63),
        str(-(2**63) - 1),
        str(2**64),
        "0.1",
        "1e0",
        "1.0",
        "1E+2",
        "1000001",
        "1000000.000000001",
    ),
]
OTHERS = [
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    '{"kind": "mean"}',
    '{"": ""}',
    NESTED,
    '{"a":' * 500 + "1" + "}" * 500,
]


class Call(NamedTuple):
    """A request that would do, to be spoilt."""

    client: httpx.Client
    method: str
    path: str
    body: dict[str, Any]


def written(value: Any) -> str:
    """JSON, in which a value of `Raw` stands as it is."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{written(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


class Raw(NamedTuple):
    """JSON text."""

    text: str


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a JSON value has values."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in items:
        yield from places(member, (*path, step))


def spoilt(body: dict[str, Any]) -> Iterator[str]:
    """The body with each of its values replaced, renamed, or joined by what nobody asked for."""
    hostile = [Raw(json.dumps(text)) for text in TEXTS] + [Raw(text) for text in (*NUMBERS, *OTHERS)]
    for path in places(body):
        for replacement in hostile if path else map(Raw, OTHERS):
            root: Any = {"body": copy.deepcopy(body)}
            *steps, last = ("body", *path)
            parent = root
            for step in steps:
                parent = parent[step]
            parent[last] = replacement
            yield written(root["body"])
    for name in (MARK, "", "\x00", "\ud800", f"{MARK}\ud800", "__class__", "x" * 10_000, "mean", "body"):
        yield written({**body, name: 1})
        yield written({name: Raw(NESTED), **body})
    for path in places(body):
        target: Any = copy.deepcopy(body)
        for step in path:
            target = target[step]
        if isinstance(target, dict):
            pairs = [*target.items(), *target.items()]
            yield "{" + ",".join(f"{json.dumps(name)}:{written(member)}" for name, member in pairs) + "}"


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
    ]


def assert_harmless(answer: httpx.Response, body: str) -> None:
    told = f"{answer.request.method} {answer.request.url.path} {body[:300]!a}"
    assert answer.status_code < 500, told
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", told
        assert MARK not in answer.text, told
        assert len(answer.content) < 5_000, told


@pytest.mark.parametrize("which", range(9))
def test_every_member_of_every_body_spoilt(service: Service, which: int) -> None:
    """A wrong body is a 400 or a 422, told without the input; nothing is stored."""
    table = service.table(COLUMNS, CONTENT, limit="1000", allowance="10")
    client, method, path, body = calls(table)[which]
    headers = {"Content-Type": "application/json"}
    refused = []
    for text in spoilt(body):
        answer = client.request(method, path, content=text.encode(), headers=headers)
        assert_harmless(answer, text)
        if answer.status_code >= 400:
            refused.append(text)
    assert len(refused) > 100
    with service.unchanged():
        for text in refused[::7]:
            assert client.request(method, path, content=text.encode(), headers=headers).status_code >= 400
    log = service.log.read_text()
    assert MARK not in log
    assert "ault" not in log


@pytest.mark.parametrize("which", range(3))
def test_every_member_of_metadata_spoilt(service: Service, which: int) -> None:
    _, owner = service.principal("owner")
    columns: dict[str, Any] = [
        {"x": {"kind": "integer", "bounds": [0, 9], "nullable": True, "null_value": 1}},
        {"x": {"kind": "decimal", "scale": 1, "bounds": ["0.1", 9]}, "y": {"kind": "boolean", "null_value": False}},
        {"kind": {"kind": "category", "categories": ["a", "b"]}},
    ][which]
    metadata = {
        "name": a_name("spoilt"),
        "description": "d",
        "epsilon_limit": 1,
        "rows_per_unit": 1,
        "columns": columns,
    }
    metadata["null_values"] = ["", "NA"]
    # The file holds no such column, so that nothing is ever registered, however good the metadata are.
    file = ("t.csv", b"nothing of this name\n1\n2\n")
    with service.unchanged():
        for text in spoilt(metadata):
            answer = owner.post("/v1/datasets", files={"metadata": (None, text), "file": file})
            assert answer.status_code in {400, 422}, answer.text
            if "nowhere in the" not in answer.text:
                assert_harmless(answer, text)
    assert MARK not in service.log.read_text()


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
        *(b"\x00" * 1000, b"[" * 10_000, b'{"a":' * 10_000, b'"' + b"x" * 10**6, b"[" + b"1," * 400_000 + b"1"),
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


def test_a_flood_of_unknown_members_has_a_short_answer(one_service: Service) -> None:
    body = json.dumps({f"{MARK}{i}": i for i in range(30_000)})
    answer = one_service.admin.post("/v1/principals", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert_harmless(answer, "30,000 members")


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


def test_numbers_table_is_kept(one_service: Service) -> None:
    table = one_service.table({"x": COLUMNS["x"]}, numbers_csv(20))
    for text in ("0.3", '"0.3"', "3e-1", '"+3E-01"', "0.30", "0.3000000000000000000000000000000000000000"):
        body = f'{{"statistic": {json.dumps(MEAN)}, "epsilon": {text}}}'
        answer = table.analyst.post(f"{table.path}/plan", content=body, headers={"Content-Type": "application/json"})
        assert answer.json()["privacy"]["epsilon"] == "0.3"
