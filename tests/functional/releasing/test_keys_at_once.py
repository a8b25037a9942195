"""The same idempotency keys from many threads at once: one release each, whatever the budget and the order."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from service_world import X_COLUMNS, Service, numbers_csv

MEAN = {"kind": "mean", "column": "x"}
ITEMS = [{"statistic": MEAN, "weight": 1}, {"statistic": {"kind": "variance", "column": "x"}, "weight": 1}]
BODIES: dict[str, dict[str, Any]] = {
    "releases": {"statistic": MEAN, "epsilon": "0.5"},
    "batches": {"epsilon": "0.5", "items": ITEMS},
    "derived": {"derived": {"kind": "standard_deviation", "column": "x"}, "epsilon": "0.5"},
}
THREADS = 16
REUSED = 422
T = TypeVar("T")


def at_once(ask: Callable[[int], T]) -> list[T]:
    start = threading.Barrier(THREADS)

    def one(number: int) -> T:
        start.wait(60)
        return ask(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


@pytest.mark.parametrize("path", BODIES)
def test_a_key_that_takes_the_whole_budget_answers_all_of_its_requests(service: Service, path: str) -> None:
    table = service.table(X_COLUMNS, numbers_csv(50), limit="0.5", allowance="0.5")
    body, key = BODIES[path] | {"reuse": False}, {"Idempotency-Key": "one"}
    found = at_once(lambda _: table.analyst.post(f"{table.path}/{path}", json=body, headers=key))
    assert {(each.status_code, each.content) for each in found} == {(201, found[0].content)}
    assert table.budget()["epsilon_spent"] == "0.5"
    assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]


@pytest.mark.slow
def test_few_keys_on_few_datasets_in_every_order(service: Service) -> None:
    """One of the requests with a key is answered; others of it are refused, and no two wait for each other."""
    tables = [service.table(X_COLUMNS, numbers_csv(50), limit="50", allowance="50") for _ in range(3)]
    analyst = tables[0].analyst
    for table in tables[1:]:
        table.grant(tables[0].analyst_name, "50")

    def ask(number: int) -> list[tuple[str, int, str]]:
        told = []
        for step in range(12):
            key = f"key {(number * 5 + step * (1 + number % 2)) % 9}"
            table = tables[(number + step * (1 + number // 4)) % 3]
            path = [*BODIES][(number + step) % 3]
            found = analyst.post(
                f"{table.path}/{path}", json=BODIES[path] | {"reuse": False}, headers={"Idempotency-Key": key}
            )
            told.append((key, found.status_code, found.json().get("type", "")))
        return told

    start = threading.Barrier(THREADS)

    def one(number: int) -> list[tuple[str, int, str]]:
        start.wait(60)
        return ask(number)

    with ThreadPoolExecutor(THREADS) as pool:
        found = [each for told in pool.map(one, range(THREADS)) for each in told]
    assert {(status, what) for _, status, what in found} <= {
        (201, ""),
        (422, "/problems/key-reused"),
        (409, "/problems/key-reused"),
    }
    spent = sum(float(table.budget()["epsilon_spent"]) for table in tables)
    assert spent == 0.5 * len({key for key, _, _ in found})
    assert Counter(key for key, status, _ in found if status == 201).keys() == {key for key, _, _ in found}
    for table in tables:
        assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]
