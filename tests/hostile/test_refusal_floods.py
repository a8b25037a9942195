"""Bodies that cost most to refuse, or to answer, from many at once."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from hostile_world import Target

SECONDS = 2
AT_ONCE = 12
JSON = {"Content-Type": "application/json"}


def members(count: int, value: str) -> str:
    return "{" + ",".join(f'"c{i}":{value}' for i in range(count)) + "}"


def flood(target: Target, call: Callable[[], httpx.Response]) -> None:
    """Call again and again, from many at once."""

    def attack(_: int) -> set[int]:
        statuses, deadline = set(), time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            statuses.add(call().status_code)
        return statuses

    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = set().union(*pool.map(attack, range(AT_ONCE)))
    assert statuses <= {422, 429, 503}, statuses
    assert 422 in statuses
    assert not target.faults()


def test_metadata_that_is_refused(target: Target) -> None:
    columns = members(30_000, '{"kind":"real"}')
    metadata = f'{{"name":"n","epsilon_limit":1,"columns":{columns}}}'
    flood(target, lambda: target.service.upload(target.table.owner, metadata, b"x\n1\n2\n"))


@pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
def test_batches_of_as_many_values_as_are_allowed(target: Target) -> None:
    def sums(number: int) -> dict[str, Any]:
        statistics = [
            {"kind": "sum", "column": "x", "where": {"x": {"in": [number * 20_000 + i * 400 + j for j in range(400)]}}}
            for i in range(50)
        ]
        return {"items": [{"statistic": each, "epsilon": "0.000001"} for each in statistics]}

    def release(number: int) -> int:
        content = json.dumps(sums(number)).encode()
        return target.table.analyst.post(f"{target.table.path}/batches", content=content, headers=JSON).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(release, range(8))) <= {201, 503}
    answer = target.table.analyst.post(f"{target.table.path}/batches", json={"items": sums(9)["items"] * 2})
    assert answer.status_code == 422
    assert "20,000" in answer.text
