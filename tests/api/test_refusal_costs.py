"""A refusal costs at most what reading the body costs: every member of every model, flooded."""

import copy
import gc
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from call_counts import count_calls
from pydantic import BaseModel

from app.api.json_codec import MAX_JSON_VALUES, decode
from app.api.schemas.administration import (
    AdjustmentRequest,
    AllowanceRequest,
    BudgetRequestBody,
    DeclineRequest,
    DisplayNameRequest,
    GrantRequest,
    KeyRequest,
    PrincipalRequest,
)
from app.api.schemas.base import RequestModel, validate
from app.api.schemas.batches import BatchRequest
from app.api.schemas.datasets import DatasetRequest, SourcedDatasetRequest
from app.api.schemas.derived import DerivedRequest
from app.api.schemas.drafts import DraftRequest, SourcedDraftRequest
from app.api.schemas.field_types.filters import MAX_CONDITIONS, MAX_REQUEST_CONDITIONS, MAX_REQUEST_VALUES, MAX_VALUES
from app.api.schemas.figure_collections import CollectionRequest
from app.api.schemas.figures import FigureRequest
from app.api.schemas.ledger import WriteOffRequest
from app.api.schemas.planning import FreePlanRequest, PlanRequest
from app.api.schemas.releases import ReleaseRequest
from app.api.schemas.reports import ReportDefinition, ReportRequest
from app.errors import InvalidRequestError, MalformedJsonError

SIZE = 2**15
"""Bytes of a flood. Eight times fewer take an eighth of the time, or less than can be measured."""

MEASURABLE_SECONDS = 0.03
WHERE = {"k": {"in": ["a"]}, "x": {"between": [0, 9]}, "b": {"not": {"is_missing": True}}}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 9], "nullable": True, "null_value": 1},
    "y": {"kind": "real", "bounds": [0, 9]},
    "d": {"kind": "decimal", "scale": 1, "bounds": ["0.1", 9]},
    "b": {"kind": "boolean", "null_value": False},
    "k": {"kind": "category", "categories": ["a", "b"], "unconfirmed": []},
    "t": {"kind": "date", "bounds": ["2020-01-01", "2021-01-01"], "null_value": "2020-02-29"},
    "s": {"kind": "timestamp", "time_zone": "UTC", "resolution": "hour", "bounds": ["2020-01-01", "2021-01-01"]},
}
MEAN = {"kind": "mean", "column": "x", "bounds": [0, 9]}
HISTOGRAM = {"kind": "histogram", "column": "y", "edges": [0, 1, 2.5], "where": WHERE}
TABLE = {"kind": "histogram", "columns": ["x", "y"], "edges": [[0, 1, 2], None], "bins": [None, 2], "where": WHERE}
COVARIANCE = {"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 1], None]}
SEARCH = {"kind": "quantile_search", "column": "y", "bins": 3, "bounds": [0, 9], "probabilities": [0.5], "where": WHERE}
ADAPTIVE = SEARCH | {"kind": "adaptive_histogram"}
PAIRS = {"kind": "pair_differences", "columns": ["x", "x"], "bounds": [[0, 1], [0, 1]], "where": WHERE}
MISSING = {"kind": "missing", "column": "x"}
FORMAT = {"encoding": "utf-8", "decimal": ",", "thousands": ".", "column_names": ["x"]}
SPELLED = {"kind": "boolean", "true_values": ["oui"], "false_values": ["non"]}
METADATA = {"name": "n", "description": "d", "epsilon_limit": 1, "columns": COLUMNS, "null_values": ["", "NA"]}
DERIVED = [
    {"kind": "standard_deviation", "column": "x"},
    {"kind": "sum", "column": "x"},
    {"kind": "proportion", "column": "k", "category": "a"},
    {"kind": "mean", "column": "x", "where": WHERE},
    {"kind": "variance", "column": "x", "bounds": [0, 1], "missing": "exclude"},
    {"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 1], None], "missing": "exclude"},
    {"kind": "correlation", "columns": ["x", "y"], "bounds": [[0, 1], None]},
    {"kind": "regression", "columns": ["x", "y"]},
    {"kind": "cumulative", "column": "y", "edges": [0, 1, 2]},
    {"kind": "quantile", "column": "y", "bins": 3, "bounds": [0, 9], "probabilities": [0.5]},
    {"kind": "margin", "column": "x", "columns": ["x", "y"], "edges": [[0, 1, 2], [0, 1, 2]]},
]
REPORT = {
    "batch": {"items": [{"statistic": MEAN, "epsilon": "1"}]},
    "figures": [{"figure": "f", "title": "t", "note": "n", "items": [0], "audience": "viewers"}],
}
RELEASE_ID = "01a21f9b-c1a5-710b-a37c-ec21af87e3cb"
BODIES: list[tuple[type[RequestModel], dict[str, Any]]] = [
    (PrincipalRequest, {"name": "n", "role": "analyst", "key_expires_at": "2027-01-31T12:00:00Z"}),
    (DisplayNameRequest, {"display_name": "Ada"}),
    (KeyRequest, {"key_expires_at": "2027-01-31T12:00:00Z"}),
    (AllowanceRequest, {"epsilon_limit": "1", "window_days": 7}),
    (AdjustmentRequest, {"epsilon_limit": "1", "reason": "why"}),
    (BudgetRequestBody, {"epsilon": "1", "reason": "why"}),
    (GrantRequest, {"epsilon": "1", "answer": "yes"}),
    (DeclineRequest, {"answer": "no"}),
    (WriteOffRequest, {"epsilon": "1", "reason": "why"}),
    (
        DatasetRequest,
        METADATA | {"unit_column": "u", "truncate": True, "format": FORMAT, "columns": COLUMNS | {"o": SPELLED}},
    ),
    (SourcedDatasetRequest, METADATA | {"source": {"connection": "c", "table": "t", "live": True}}),
    (DraftRequest, {"format": {"encoding": "utf-8", "header_row": 2, "sheet": "s"}, "has_header": True}),
    (SourcedDraftRequest, {"source": {"connection": "c", "table": "t", "live": True}}),
    *(
        (ReleaseRequest, {"statistic": each, "epsilon": "1"})
        for each in (MEAN, COVARIANCE, SEARCH, ADAPTIVE, PAIRS, MISSING)
    ),
    (ReleaseRequest, {"statistic": {"kind": "variance", "column": "x"}, "accuracy": "1", "alpha": 0.1}),
    (PlanRequest, {"statistic": HISTOGRAM, "epsilon": 1, "curve": {"from": "0.1", "to": 2, "points": 3}, "guess": 5}),
    (FreePlanRequest, {"statistic": TABLE, "epsilon": 1, "n": 10, "columns": COLUMNS}),
    (
        BatchRequest,
        {
            "items": [
                {"statistic": {"kind": "count", "where": WHERE}, "epsilon": "1"},
                {"statistic": {"kind": "sum", "column": "x", "where": WHERE, "group_by": "k"}, "weight": 1},
                {"statistic": {"kind": "count", "group_by": {"column": "t", "bins": "month"}}, "epsilon": 1},
            ],
            "epsilon": 1,
        },
    ),
    *((DerivedRequest, {"derived": each, "epsilon": 1}) for each in DERIVED),
    (FigureRequest, {"title": "t", "note": "n", "releases": [RELEASE_ID], "audience": "viewers"}),
    (FigureRequest, {"title": "t", "release": RELEASE_ID, "audience": "public", "confirm_public": True}),
    (
        FigureRequest,
        {
            "title": "t",
            "answers": [{"release": RELEASE_ID, "statistic": {"kind": "mean", "column": "x"}, "alpha": 0.1}],
        },
    ),
    (ReportDefinition, REPORT),
    (ReportRequest, REPORT | {"epsilon_per_run": "1", "epsilon_total": "2"}),
    (
        CollectionRequest,
        {"title": "t", "note": "n", "figures": [{"dataset": "d", "figure": "f"}], "audience": "viewers"},
    ),
]


def names(size: int, value: str) -> str:
    """An object of about so many bytes, each member of which is another."""
    members = size // (len(value) + 8)
    return "{" + ",".join(f'"{i:05x}":{value}' for i in range(members)) + "}"


def repeated(value: str) -> Callable[[int], str]:
    return lambda size: "[" + ",".join([value] * (size // (len(value) + 1))) + "]"


FLOODS: list[Callable[[int], str]] = [
    lambda size: names(size, "1"),
    lambda size: names(size, "{}"),
    lambda size: names(size, '{"kind":"real"}'),
    lambda size: names(size, '{"in":["a"]}'),
    lambda size: '{"kind":"mean","where":' + names(size, '{"in":[]}') + "}",
    repeated("1"),
    repeated("1e-99"),
    repeated("[]"),
    repeated("{}"),
    repeated('{"statistic":{}}'),
    repeated("{" + ",".join(f'"{i}":1' for i in range(40)) + "}"),
    lambda size: '"' + "x" * size + '"',
    lambda size: '"' + "\\ud800" * (size // 6) + '"',
    lambda size: "9" * size,
    lambda size: "1e" + "9" * size,
    lambda size: "[" * 200 + names(size, "[]") + "]" * 200,
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for step, member in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(member, (*path, step))


def flooded(body: Any, path: tuple[Any, ...], flood: str) -> bytes:
    root = copy.deepcopy({"body": body})
    parent: Any = root
    *steps, last = ("body", *path)
    for step in steps:
        parent = parent[step]
    parent[last] = "FLOOD"
    return json.dumps(root["body"]).replace('"FLOOD"', flood).encode()


def read(model: type[RequestModel], body: bytes) -> int:
    """Read a body; how many problems it is told to have."""
    try:
        validate(model, decode(body))
    except InvalidRequestError as error:
        return len(error.problems)
    except MalformedJsonError:
        return 1
    return 0


def seconds(model: type[RequestModel], body: bytes, attempts: int) -> float:
    """The processor time that it takes to read a body.

    Not the number of calls: within one of them, such as `int` or a regular expression, C could do quadratic work.
    """
    least = float("inf")
    for _ in range(attempts):
        started = time.thread_time()
        assert read(model, body) <= 10
        least = min(least, time.thread_time() - started)
    return least


@pytest.fixture
def no_collector() -> Iterator[None]:
    """The garbage collector looks through all that other tests have left, when it likes."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("stride", [11, 1])
@pytest.mark.parametrize(("model", "body"), BODIES, ids=lambda part: part.__name__ if isinstance(part, type) else "")
def test_a_refusal_takes_a_time_in_proportion_to_the_body(
    model: type[RequestModel], body: dict[str, Any], stride: int, no_collector: None
) -> None:
    assert read(model, json.dumps(body).encode()) == 0
    for place, path in enumerate(places(body)):
        for flood in FLOODS[place % stride :: stride]:
            large = flooded(body, path, flood(SIZE))
            if seconds(model, large, 1) < MEASURABLE_SECONDS or seconds(model, large, 3) < MEASURABLE_SECONDS:
                continue
            small = flooded(body, path, flood(SIZE // 8))
            assert seconds(model, large, 3) < 3 * 8 * seconds(model, small, 5), (path, large[:200])


def test_every_model_of_a_request_is_among_the_bodies() -> None:
    seen: set[type] = set()

    def visit(value: Any) -> None:
        if isinstance(value, BaseModel):
            seen.add(type(value))
            value = dict(value)
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            visit(each)

    def leaves(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
        if not model.__name__.startswith("_") and model is not RequestModel:
            yield model
        for each in model.__subclasses__():
            yield from leaves(each)

    for model, body in BODIES:
        visit(validate(model, decode(json.dumps(body).encode())))
    assert set(leaves(RequestModel)) <= seen


def calls(model: type[RequestModel], value: Any) -> int:
    """How many functions are called to refuse a value."""

    def refuse() -> None:
        with pytest.raises(InvalidRequestError):
            validate(model, value)

    return count_calls(refuse)


@pytest.mark.parametrize(
    "flood",
    [
        names(SIZE, "1"),
        f'{{"items":{names(SIZE, "1")}}}',
        f'{{"items":{repeated("{}")(2_000)}}}',
        f'{{"items":[{{"statistic":{{"kind":"count","where":{names(SIZE, "1")}}}}}]}}',
        f'{{"items":[{{"statistic":{{"kind":"count","where":{{"x":{{"in":{repeated("[]")(20_000)}}}}}}}}}]}}',
        f'{{"items":[{{"statistic":{{"kind":"histogram","column":"x","edges":{repeated("{}")(20_000)}}}}}]}}',
    ],
)
def test_no_more_than_the_first_problems_are_looked_at(flood: str) -> None:
    """However many there are, a refusal takes the same few steps."""
    assert calls(BatchRequest, json.loads(flood)) < 5_000


SPELLINGS = (lambda values: {"in": values}, lambda values: values, lambda values: {"not": values})


def batch(items: int, conditions: int, values: int) -> dict[str, Any]:
    where = {f"c{i}": SPELLINGS[i % 3](["a"] * values) for i in range(conditions)}
    return {"items": [{"statistic": {"kind": "count", "where": where}, "epsilon": "1"}] * items}


@pytest.mark.parametrize(
    ("items", "conditions", "values", "limit"),
    [
        (1, MAX_CONDITIONS + 1, 1, MAX_CONDITIONS),
        (1, 1, MAX_VALUES + 1, MAX_VALUES),
        (1, 3, MAX_VALUES, MAX_REQUEST_VALUES),
        (51, 1, 400, MAX_REQUEST_VALUES),
        (51, MAX_CONDITIONS, 1, MAX_REQUEST_CONDITIONS),
    ],
)
def test_conditions_and_values_of_a_request_are_few(items: int, conditions: int, values: int, limit: int) -> None:
    with pytest.raises(InvalidRequestError, match=f"at most ({limit:,}|{limit})"):
        validate(BatchRequest, batch(items, conditions, values))
    assert validate(BatchRequest, batch(50, MAX_CONDITIONS // 2, 8))


@pytest.mark.parametrize("flood", [repeated("1"), repeated("[]"), repeated('"\\","'), lambda n: names(n, "0")])
def test_a_body_has_a_limit_of_values(flood: Callable[[int], str]) -> None:
    with pytest.raises(InvalidRequestError, match=f"at most {MAX_JSON_VALUES:,}"):
        decode(flood(2**20).encode())


@pytest.mark.parametrize("text", [f'"{"," * MAX_JSON_VALUES}"', f'["{"," * 2**18}",1]', f'"\\"{"," * 2**18}"'])
def test_commas_of_texts_are_no_values(text: str) -> None:
    assert decode(text.encode())
