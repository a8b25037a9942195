"""What a table holds shows in no status, no shape, no log line: only in the noise."""

import io
import json
import random
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from service_world import Service, Table, a_name, becomes, key_of, serving, told

LEAST, MOST = -(2**63), 2**63 - 1
COLUMNS = {
    "whole": {"kind": "integer", "bounds": [LEAST, MOST]},
    "real": {"kind": "real", "bounds": ["-1e100", "1e100"]},
    "exact": {"kind": "decimal", "scale": 18, "bounds": ["-9.2", "9.2"]},
    "yes": {"kind": "boolean"},
    "text": {"kind": "category", "categories": ["", "a", "'"]},
    "day": {"kind": "date", "bounds": ["0001-01-01", "9999-12-31"]},
    "at": {
        "kind": "timestamp",
        "time_zone": "America/St_Johns",
        "resolution": "second",
        "bounds": ["0001-01-01", "9999-12-31"],
    },
}
TINY = 5e-324
WORST: dict[str, list[Any]] = {
    "whole": [LEAST, MOST, 0, None, -1, 1, LEAST + 1, MOST - 1],
    "real": [float("nan"), float("inf"), float("-inf"), None, TINY, -TINY, 1.7976931348623157e308, -0.0],
    "exact": [LEAST, MOST, 0, None, -1, 1, LEAST + 1, MOST - 1],  # in units of the scale
    "yes": [True, False, None, True, False, None, True, False],
    "text": ["", "a", None, "'", "\x00", "\U0010ffff", "x" * 10_000, "%s; --"],
    "day": [-(2**31), 2**31 - 1, 0, None, -1, -719_162, 2_932_896, 2_932_897],  # days since 1970-01-01
    "at": [LEAST, MOST, 0, None, -1, 1, LEAST + 1, MOST - 1],  # microseconds since then
}
DATE_BOUNDS = [None, ["9999-12-30", "9999-12-31"], ["1900-01-01", "2100-01-01"]]
NUMERIC_BOUNDS = [
    *(None, [0, 1], [LEAST, MOST], [MOST - 1, MOST], ["-1e100", "1e100"], [0, "1e-100"], ["1e-100", "2e-100"], [-1, 0]),
    *(
        ["-1e-300", "1e-300"],
        [0, "1e-290"],
        ["1e99", "1e100"],
        ["-5e-1", "5e-1"],
        [TINY, 1],
        [0, 2**31],
        [0, 2**31 + 1],
    ),
]


def as_parquet(rows: dict[str, list[Any]]) -> bytes:
    """A file that holds what no text can say: NaN, infinities, subnormal numbers."""
    decimals = [None if value is None else pa.scalar(value, pa.decimal128(38, 0)) for value in rows["exact"]]
    exact = pa.array(
        [None if value is None else value.as_py().scaleb(-18) for value in decimals], pa.decimal128(38, 18)
    )
    types = {"whole": pa.int64(), "real": pa.float64(), "yes": pa.bool_(), "text": pa.string()}
    dates = {
        "day": pa.array(rows["day"], pa.int32()).cast(pa.date32()),
        "at": pa.array(rows["at"], pa.int64()).cast(pa.timestamp("us", "UTC")),
    }
    arrays = {name: pa.array(rows[name], kind) for name, kind in types.items()} | {"exact": exact} | dates
    file = io.BytesIO()
    pq.write_table(pa.table(arrays), file)
    return file.getvalue()


def statistics() -> Iterator[dict[str, Any]]:
    """Every kind of statistic, with bounds of every size."""
    for column in ("whole", "real", "exact"):
        for bounds in NUMERIC_BOUNDS:
            yield {"kind": "mean", "column": column, "bounds": bounds}
            yield {"kind": "variance", "column": column, "bounds": bounds}
            yield {"kind": "histogram", "column": column, "bins": 3, "bounds": bounds}
            yield {"kind": "covariance", "columns": [column, "yes"], "bounds": [bounds, None]}
            yield {"kind": "sum", "column": column, "bounds": bounds, "where": {column: {"between": bounds}}}
            yield {"kind": "sum", "column": column, "bounds": bounds, "group_by": "text"}
            yield {"kind": "histogram", "columns": [column, "text"], "bins": [3, None], "bounds": [bounds, None]}
        for edges in ([0, 1, 2], [LEAST, 0, MOST], ["-1e100", "-1e-100", 0, "1e-100", "1e100"], ["0.1", "0.2", "0.3"]):
            yield {"kind": "histogram", "column": column, "edges": edges}
    for column in ("day", "at"):
        for bounds in DATE_BOUNDS:
            yield {"kind": "mean", "column": column, "bounds": bounds}
            yield {"kind": "variance", "column": column, "bounds": bounds}
            yield {"kind": "covariance", "columns": [column, "real"], "bounds": [bounds, None]}
            yield {"kind": "sum", "column": column, "bounds": bounds, "centred": True, "group_by": "text"}
            yield {"kind": "count", "group_by": {"column": column, "bins": "year", "bounds": bounds}}
            yield from (
                {"kind": "histogram", "column": column, "bins": bins, "bounds": bounds} for bins in (3, "quarter")
            )
        yield {"kind": "count", "where": {column: {"at_least": "9999-12-31"}}}
        yield {"kind": "count", "where": {column: {"not": {"between": ["0001-01-01", "9999-12-31"]}}}}
    for one, other in (("whole", "real"), ("real", "exact"), ("exact", "whole")):
        yield {"kind": "covariance", "columns": [one, other]}
    for where in ({"yes": {"in": [True]}}, {"whole": {"in": [0, LEAST, MOST]}}, {"real": {"in": [0, TINY]}}):
        yield {"kind": "count", "where": where}
        yield {"kind": "histogram", "columns": ["text", "yes"], "where": where}
    for where in (
        {"real": {"is_missing": True}, "text": "a"},
        {"real": {"not": {"at_least": 0}}},
        {"whole": {"below": 0}, "exact": {"is_missing": False}},
        {"exact": {"above": "-0.5", "at_most": 5}},
        {"text": {"not": {"in": ["a", ""]}}},
    ):
        yield {"kind": "count", "where": where}
        yield {"kind": "sum", "column": "real", "where": where}
    for column in COLUMNS:
        yield {"kind": "missing", "column": column}
        yield {"kind": "pair_differences", "columns": [column, "real"]}
    yield {"kind": "pair_differences", "columns": ["whole", "whole"], "where": {"text": {"in": ["a"]}}}
    yield {"kind": "mean", "column": "yes"}
    yield {"kind": "variance", "column": "yes"}
    yield {"kind": "histogram", "column": "yes"}
    yield {"kind": "histogram", "column": "text"}


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_the_worst_values_answer_every_statistic(one_service: Service, step: int) -> None:
    """An error about a release is decided by public facts alone: what a plan takes, a release answers."""
    asked = list(statistics())[::step]
    assert {each["kind"] for each in asked} == {each["kind"] for each in statistics()}
    table = one_service.table(COLUMNS, as_parquet(WORST), limit="1000000", allowance="1000000")
    answered = 0
    for statistic in asked:
        plan = table.plan(statistic, epsilon=1, reuse=False)
        release = table.release(statistic, epsilon=1, reuse=False)
        assert release.status_code == {200: 201, 422: 422}[plan.status_code], statistic
        if plan.status_code == 422:
            assert told(release) == told(plan)
        answered += release.status_code == 201
    assert answered > len(asked) / 3


@pytest.mark.slow
def test_the_worst_values_answer_whatever_follows_from_them(one_service: Service) -> None:
    table = one_service.table(COLUMNS, as_parquet(WORST), limit="1000000", allowance="1000000")
    answered = 0
    for number, statistic in enumerate(derived()):
        body = {"derived": statistic, "epsilon": "1", "reuse": False}
        plan = table.analyst.post(f"{table.path}/derived/plan", json=body)
        headers = {"Idempotency-Key": f"derived {number}"}
        answer = table.analyst.post(f"{table.path}/derived", json=body, headers=headers)
        assert answer.status_code == {200: 201, 422: 422}[plan.status_code], statistic
        answered += answer.status_code == 201
    assert answered > 90


def shape(value: Any, *, estimated: bool = False) -> Any:
    """A JSON value without its values. Whether an estimate or its end is null follows from the noise: it is one."""
    if isinstance(value, dict):
        return {name: shape(member, estimated=estimated or name == "estimates") for name, member in value.items()}
    if isinstance(value, list):
        return [shape(item, estimated=estimated) for item in value]
    if (isinstance(value, int | float) and not isinstance(value, bool)) or (value is None and estimated):
        return "number"
    return type(value).__name__


CALLS = 1_000
SHARES: list[dict[str, Any]] = [{"epsilon": "0.1"}, {"epsilon": "1e-9"}, {"accuracy": 1}, {"weight": 2}, {}]
EXTRAS: list[dict[str, Any]] = [
    {"curve": {"from": "0.01", "to": 3, "points": 5}},
    {"guess": 3},
    {"curve": {"from": 1, "to": 2000, "points": 2}, "guess": "-1e99"},
]


def derived() -> Iterator[dict[str, Any]]:
    """Every kind of derived statistic; where variances are tiny and filters empty, too."""
    for column in ("whole", "real", "exact"):
        for bounds in NUMERIC_BOUNDS[:6]:
            within = {"column": column, "bounds": bounds}
            yield {"kind": "standard_deviation", **within}
            yield {"kind": "sum", **within}
            yield {"kind": "mean", **within, "where": {"text": {"in": ["'"]}}}
            yield {"kind": "cumulative", **within, "bins": 3}
            yield {"kind": "quantile", **within, "bins": 4, "probabilities": ["0.1", "0.5", "0.9"]}
            yield {"kind": "correlation", "columns": [column, "yes"], "bounds": [bounds, None]}
            yield {"kind": "regression", "columns": [column, "yes"], "bounds": [bounds, None]}
            yield from of_known_values(within, {"columns": [column, "yes"], "bounds": [bounds, None]})
    yield {"kind": "proportion", "column": "yes"}
    yield {"kind": "proportion", "column": "text", "category": "a"}
    yield {"kind": "proportion", "where": {"real": {"between": [TINY, 1]}}}
    yield {"kind": "margin", "columns": ["text", "yes"], "column": "yes"}


def of_known_values(one: dict[str, Any], pair: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kind in ("mean", "sum", "variance", "standard_deviation"):
        yield {"kind": kind, "missing": "exclude", **one}
    yield {"kind": "mean", "missing": "exclude", **one, "group_by": "text"}
    for kind in ("covariance", "correlation", "regression"):
        yield {"kind": kind, "missing": "exclude", **pair}
        yield {"kind": kind, "missing": "exclude", **pair, "where": {"text": "a"}}


def questions(count: int) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Random calls, with and without a chance; the same for every table."""
    chance, possible, following = random.Random(20261128), list(statistics()), list(derived())
    for number in range(count):
        call = chance.choice(["plan", "releases", "releases", "batches/plan", "batches", "derived/plan", "derived"])
        key = chance.choice([None, f"key {number}", f"key {number // 2}"])
        body: dict[str, Any] = {}
        if call.startswith("batches"):
            of = [(chance.choice(possible), chance.choice(SHARES)) for _ in range(chance.randint(1, 4))]
            if chance.random() < 0.5:  # a batch of one share, which fits
                of = [(statistic, of[0][1]) for statistic, _ in of]
            body["items"] = [{"statistic": statistic, **share} for statistic, share in of]
            body |= {"epsilon": "0.2"} if any(share in SHARES[3:] for _, share in of) else {}
            body |= {} if any(share for _, share in of) else {"equalise": "relative"}
        elif call.startswith("derived"):
            body = {"derived": chance.choice(following), "epsilon": chance.choice(["0.3", "1e-9", 3, 2000])}
        else:
            body = {"statistic": chance.choice(possible)}
            body |= chance.choice(
                [
                    {"epsilon": chance.choice(["0.1", "1e-9", 3, 2000])},
                    {"accuracy": chance.choice(["1e-5", 1, "1e50"])},
                    {},
                ]
            )
            body |= chance.choice([{}, *EXTRAS]) if call == "plan" else {}
        body |= chance.choice([{}, {"alpha": "1e-20"}, {"gamma": 1}, {"grid_refinement": 30}, {"alpha": 2}])
        body |= chance.choice([{}, {}, {"reuse": False}])
        yield call, body, key


def traces(table: Table, count: int) -> Iterator[tuple[int, Any, list[str]]]:
    """The status, the shape and the headers of each answer."""
    for call, body, key in questions(count):
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = table.analyst.post(f"{table.path}/{call}", json=body, headers=headers)
        yield answer.status_code, shape(answer.json()), sorted(answer.headers)


def lines_since(log: Path, begin: int) -> list[str]:
    """What was logged, without the time, the id of the request, and the names that differ."""
    found = []
    for line in log.read_text()[begin:].splitlines():
        said = json.loads(line)
        for member in ("timestamp", "request_id", "seconds", "principal", "dataset"):
            said.pop(member, None)
        found.append(json.dumps(said))
    return found


@pytest.mark.slow
def test_neighbours_are_told_apart_by_nothing_but_the_noise(one_service: Service) -> None:
    """Two neighbouring datasets give the same statuses, the same response shapes and the same log lines."""
    harmless = {"whole": 1, "real": 1.0, "exact": 10**18, "yes": True, "text": "a", "day": 1, "at": 1}
    found = []
    for worst in range(2):
        rows = {name: [value] * 19 for name, value in harmless.items()}
        for name, value in harmless.items():
            rows[name].append(WORST[name][worst] if worst else value)
        table = one_service.table(COLUMNS, as_parquet(rows), limit="300", allowance="250")
        assert becomes(
            lambda: "/allowances/" in one_service.log.read_text().splitlines()[-1]
        )  # a line follows its answer
        begin = len(one_service.log.read_text())
        answers = list(traces(table, CALLS))
        assert becomes(lambda begin=begin: one_service.log.read_text()[begin:].count('"event": "request"') == CALLS)
        found.append((answers, lines_since(one_service.log, begin), table.budget()["epsilon_spent"]))
    one, other = found
    for (call, body, _), mine, others in zip(questions(CALLS), one[0], other[0], strict=True):
        assert mine == others, f"{call} {body}"
    assert one[1:] == other[1:]
    assert {status for status, *_ in one[0]} == {200, 201, 400, 409, 422}
    paid = {call for (call, *_), (status, *_) in zip(questions(CALLS), one[0], strict=True) if status == 201}
    assert paid == {"releases", "batches", "derived"}


@pytest.fixture
def talkative(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", LOG_LEVEL="DEBUG") as service:
        yield service


def test_the_log_holds_no_value_no_key_and_no_body(talkative: Service) -> None:
    """A data engine that fails answers a constant 503, no debit is made, and its message goes to the log without
    values."""
    mark = "31415926"
    column = f"column-{mark}"
    table = talkative.table({column: {"kind": "integer", "bounds": [0, 10**8]}}, f"{column}\n{mark}\n1\n2\n")
    mean = {"kind": "mean", "column": column}
    table.fresh(mean, epsilon=1)
    assert table.release(mean, epsilon=mark).status_code == 422
    assert table.analyst.post(f"{table.path}/plan", content=f"{{{mark}").status_code == 415
    assert table.analyst.get(f"/v1/datasets/{mark}").status_code == 404
    assert table.analyst.get("/v1/datasets", params={"after": mark}).status_code == 422
    assert table.analyst.get(f"/v1/datasets/{mark}", params={mark: mark}).status_code == 422
    assert talkative.stranger.get("/v1/me", headers={"Authorization": f"Bearer {mark}"}).status_code == 401
    metadata = {"name": a_name("t"), "epsilon_limit": 1, "columns": {"x": {"kind": "integer", "bounds": [0, 1]}}}
    assert talkative.upload(table.owner, metadata, f"x\n{mark}.5\n1\n".encode(), mark).status_code == 422
    for path in talkative.data.glob("*.parquet"):
        content = path.read_bytes()
        (place,) = [match.start() for match in re.finditer(re.escape(struct.pack("<q", int(mark))), content)][:1] or [4]
        path.write_bytes(content[:place] + mark.encode() + b"\xff" * 50)
    spent = table.budget()["epsilon_spent"]
    histogram = {"kind": "histogram", "column": column}
    answers = [table.release(histogram | {"bins": bins}, epsilon=1) for bins in (2, 3, 4)]
    assert {(answer.status_code, told(answer)) for answer in answers} == {(503, told(answers[0]))}
    problem = answers[0].json()
    assert (problem["type"], answers[0].headers["retry-after"]) == ("/problems/unavailable", "1")
    assert "retry with the same Idempotency-Key, which is never charged twice" in problem["detail"]
    assert table.budget()["epsilon_spent"] == spent
    assert table.release(mean, epsilon=1).status_code == 200  # what is known needs no data
    log = talkative.log.read_text()
    assert "unavailable" in log
    for word in (mark, column, talkative.admin_key, key_of(table.analyst), "epsilon", '"statistic":{'):
        assert word not in log


def test_what_is_stored_for_whoever_asks_holds_no_count_of_values(one_service: Service) -> None:
    """Public facts, none computed from values but `n`: the metadata of neighbours are the same."""
    tables = [
        one_service.table({"x": {"kind": "integer", "bounds": [0, 9]}}, f"x\n{value}\n1\n2\n") for value in (3, 9, "NA")
    ]
    documents = [
        json.dumps(table.analyst.get(table.path).json() | {"name": "", "created_at": ""}, sort_keys=True)
        for table in tables
    ]
    assert len(set(documents)) == 1
