"""Answers of a million bins, made, reused, replayed, read and listed by many at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from hostile_world import Target

HISTOGRAM = {"kind": "histogram", "column": "y", "bins": 1_000_000}
ANSWERS = 8
ALLOWED = {200, 201, 503}


def drain(target: Target, path: str, **query: int) -> int:
    """Take an answer as it comes, without holding it; its status."""
    with target.table.analyst.stream("GET", path, params=query) as answer:
        for _ in answer.iter_raw():
            pass
        return answer.status_code


@pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
def test_answers_of_a_million_bins(target: Target) -> None:
    target.table.analyst.event_hooks = {"response": []}  # they would hold the whole of each answer
    columns = {"y": {"kind": "real", "bounds": [0, 1]}}
    table = target.service.table(columns, "y\n" + "0.5\n" * 100, limit="1000", allowance="1000")
    target.table = table
    table.analyst.event_hooks = {"response": []}

    def post(i: int, **question: object) -> httpx.Response:
        body = {"statistic": HISTOGRAM, "epsilon": "0.000000002", **question}
        headers = {"Idempotency-Key": f"{question}{i}"}
        with table.analyst.stream("POST", f"{table.path}/releases", json=body, headers=headers) as answer:
            for _ in answer.iter_raw():
                pass
            return answer

    def at_once(count: int, work: Callable[[int], int]) -> list[int]:
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(work, range(count)))

    assert post(0, reuse=False).status_code == 201
    assert set(at_once(ANSWERS, lambda i: post(i + 1, reuse=False).status_code)) <= ALLOWED
    assert set(at_once(ANSWERS, lambda i: post(i, alpha=0.1).status_code)) <= ALLOWED
    assert set(at_once(ANSWERS, lambda i: post(i, alpha=0.1).status_code)) <= ALLOWED
    assert set(at_once(ANSWERS, lambda _: drain(target, f"{table.path}/releases", limit=4))) == {200}


@pytest.mark.parametrize("on_a_dataset", [False, True])
def test_plans_of_a_million_bins(target: Target, *, on_a_dataset: bool) -> None:
    """Plans are free, and as large as the list of bins that they describe."""
    facts = {} if on_a_dataset else {"n": 1_000}
    path = f"{target.table.path}/plan" if on_a_dataset else "/v1/plan"
    target.table.analyst.event_hooks = {"response": []}

    def plan(number: int) -> int:
        statistic = {"kind": "histogram", "column": "x", "bins": 1_000_000 - number, "bounds": [0, 1]}
        body = {**facts, "statistic": statistic, "epsilon": 1}
        with target.table.analyst.stream("POST", path, json=body) as answer:
            for _ in answer.iter_raw():
                pass
            return answer.status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = set(pool.map(plan, range(24)))
    assert statuses <= ALLOWED
    assert 200 in statuses
