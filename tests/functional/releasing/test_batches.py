"""Batches: shares, reuse item by item, one key, and all or nothing."""

import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import httpx
import pytest
from service_world import Service, Table

MEAN: dict[str, Any] = {"kind": "mean", "column": "x"}
VARIANCE: dict[str, Any] = {"kind": "variance", "column": "x"}
HISTOGRAM: dict[str, Any] = {"kind": "histogram", "column": "kind"}
OF_A: dict[str, Any] = {"kind": "count", "where": {"kind": {"in": ["a"]}}}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "kind": {"kind": "category", "categories": ["b", "a"], "nullable": False},
}
ROWS = "x,kind\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(100))


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, ROWS)


def item(statistic: dict[str, Any], **share: Any) -> dict[str, Any]:
    return {"statistic": statistic, **share}


def plan(table: Table, items: list[dict[str, Any]], **batch: Any) -> httpx.Response:
    return table.analyst.post(f"{table.path}/batches/plan", json={"items": items, **batch})


def release(table: Table, items: list[dict[str, Any]], *, key: str | None = None, **batch: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return table.analyst.post(f"{table.path}/batches", json={"items": items, **batch}, headers=headers)


def charged(document: dict[str, Any]) -> list[str]:
    """Of a plan or of an answer, item by item."""
    return [each["charged"] if "charged" in each else each["budget"]["charged"] for each in document["items"]]


def spent(table: Table) -> Decimal:
    return Decimal(table.budget()["epsilon_spent"])


def assert_valid(table: Table) -> None:
    found = table.owner.get(f"{table.path}/ledger/verification").json()
    assert found["valid"], found


MIXED = [
    item(MEAN, epsilon="0.5"),
    item(VARIANCE, accuracy=400),
    item(HISTOGRAM, weight=1),
    item(MEAN | {"bounds": [0, 50]}, weight="3"),
]


def test_a_batch_is_its_releases(table: Table) -> None:
    """Each item has its own release, entry and answer; plans say what it costs, and each release is as if alone."""
    planned = plan(table, MIXED, epsilon="1").json()
    with table.service.unchanged():
        assert plan(table, MIXED, epsilon="1").json() == planned
    answer = release(table, MIXED, epsilon="1")
    assert answer.status_code == 201, answer.text
    document = answer.json()
    assert charged(document) == charged(planned)
    assert charged(document)[0] == "0.5"
    assert charged(document)[2:] == ["0.25", "0.75"]
    assert Decimal(document["budget"]["charged"]) == sum(map(Decimal, charged(document))) == spent(table)
    assert planned["budget"]["charged"] == document["budget"]["charged"]
    assert planned["budget"]["affordable"] is True
    debits = [entry for entry in table.entries() if entry["kind"] == "debit"]
    assert [entry["release_id"] for entry in debits] == [each["id"] for each in document["items"]]
    assert [entry["epsilon"] for entry in debits] == charged(document)
    for asked, promised, each in zip(MIXED, planned["items"], document["items"], strict=True):
        assert table.analyst.get(f"/v1/releases/{each['id']}").json() == each
        alone = table.plan(asked["statistic"], epsilon=each["privacy"]["epsilon"], reuse=False).json()
        for name in ("statistic", "privacy", "mechanism"):
            assert promised[name] == alone[name] == each[name]
        assert promised["accuracy"] == alone["accuracy"]
        assert each["accuracy"].items() >= alone["accuracy"].items()
    by_accuracy = table.plan(VARIANCE, accuracy=400, reuse=False).json()
    assert by_accuracy["privacy"]["epsilon"] == charged(document)[1]
    last = document["items"][-1]["budget"]
    assert document["budget"] == last | {"charged": document["budget"]["charged"]}
    assert document["summary"].startswith("4 of 4 releases are new and cost ε = ")
    assert_valid(table)


def test_what_is_known_costs_nothing_item_by_item(table: Table) -> None:
    earlier = table.release(MEAN, epsilon="0.5").json()
    items = [item(MEAN, accuracy=50), item(VARIANCE, epsilon="0.3"), item(HISTOGRAM, epsilon="0.1")]
    planned = plan(table, items).json()
    assert charged(planned) == ["0", "0.3", "0.1"]
    assert [each["reused"] for each in planned["items"]] == [True, False, False]
    known = "earlier releases answer the other 1 at no cost"
    assert planned["summary"] == f"2 of 3 releases would be new and cost ε = 0.4 in total; {known}."
    document = release(table, items).json()
    assert charged(document) == charged(planned)
    assert document["items"][0]["id"] == earlier["id"]
    assert spent(table) == Decimal("0.9")
    again = release(table, items)  # without a key: nothing is to be paid
    assert (again.status_code, charged(again.json())) == (200, ["0", "0", "0"])
    assert [each["id"] for each in again.json()["items"]] == [each["id"] for each in document["items"]]
    assert again.json()["budget"]["charged"] == "0"
    kept = release(table, items, key="kept")
    assert kept.status_code == 200
    replayed = release(table, items, key="kept")
    assert (replayed.content, replayed.headers["Idempotency-Replayed"]) == (kept.content, "true")
    assert spent(table) == Decimal("0.9")
    assert_valid(table)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 3, 2), (3, 2, 0, 1)])
def test_equal_questions_of_a_batch_are_paid_once_whatever_their_order(
    service: Service, order: tuple[int, ...]
) -> None:
    """At the strongest ε that is needed; the account and the allowance need no more."""
    table = service.table(COLUMNS, ROWS, limit="0.5", allowance="0.5")
    asked = [item(MEAN, epsilon="0.1"), item(MEAN, epsilon="0.5"), item(MEAN, epsilon="0.4"), item(MEAN, accuracy=90)]
    items, costs = [asked[place] for place in order], [["0", "0.5", "0", "0"][place] for place in order]
    planned = plan(table, items).json()
    assert charged(planned) == costs
    assert planned["budget"]["charged"] == "0.5"
    assert planned["budget"]["affordable"] is True
    document = release(table, items, key="once").json()
    assert charged(document) == costs
    assert [each["reused"] for each in document["items"]] == [cost == "0" for cost in costs]
    assert len({each["id"] for each in document["items"]}) == 1
    assert len({each["value_exact"] for each in document["items"]}) == 1
    assert spent(table) == Decimal("0.5")
    assert document["budget"]["dataset_remaining"] == "0"
    assert release(table, items, key="once").json() == document
    assert charged(release(table, items).json()) == ["0"] * 4
    assert_valid(table)


def test_equal_histograms_of_a_batch_are_paid_once_whatever_their_order(service: Service) -> None:
    """Each answer is known as closely as its own plan says, in every radius."""
    table = service.table(COLUMNS, ROWS)
    counts = {"kind": "histogram", "column": "x", "bins": 10}
    items = [item(counts, epsilon="0.2"), item(HISTOGRAM, epsilon="0.1"), item(counts, accuracy=30)]
    items += [item(HISTOGRAM, epsilon="0.3"), item(counts, epsilon="0.25")]
    planned = plan(table, items).json()
    document = release(table, items, key="once").json()
    assert charged(planned) == charged(document)
    assert sorted(charged(document)) == ["0", "0", "0", max(charged(planned)[2], "0.25"), "0.3"]
    for promised, answered in zip(planned["items"], document["items"], strict=True):
        for radius in ("radius", "tight_radius", "simultaneous_radius"):
            assert answered["accuracy"][radius] <= promised["accuracy"][radius]
    assert_valid(table)


def test_without_reuse_every_item_is_drawn_and_a_key_is_required(table: Table) -> None:
    items = [item(MEAN, epsilon="0.1")] * 3
    assert release(table, items, reuse=False).json()["type"] == "/problems/key-required"
    answer = release(table, items, key="afresh", reuse=False)
    assert len({each["id"] for each in answer.json()["items"]}) == 3
    assert charged(answer.json()) == ["0.1"] * 3
    assert spent(table) == Decimal("0.3")


@pytest.mark.parametrize(
    ("limit", "allowance", "scope"), [("1", "5", "dataset"), ("5", "1", "allowance"), ("1.2", "1", "allowance")]
)
def test_a_refusal_is_about_the_whole(service: Service, limit: str, allowance: str, scope: str) -> None:
    """It says which account (the one with less), what was asked, what remains; nothing is debited, the key is good."""
    table = service.table(COLUMNS, ROWS, limit=limit, allowance=allowance)
    table.fresh(MEAN, epsilon="0.2")
    items = [item(VARIANCE, epsilon="0.4"), item(HISTOGRAM, epsilon="0.7"), item(MEAN, epsilon="0.100000001")]
    items += [item(VARIANCE, epsilon="0.400000001")]
    planned = plan(table, items).json()
    with service.unchanged():
        answer = release(table, items, key="again")
    assert answer.status_code == 409
    problem = answer.json()
    assert problem["type"] == "/problems/budget-exhausted"
    assert (problem["scope"], problem["remaining"], problem["limit"]) == (scope, "0.8", "1")
    assert problem["requested"] == planned["budget"]["charged"] == "1.100000001"
    assert planned["budget"]["affordable"] is False
    cost = "2 of 4 releases would be new and cost ε = 1.11 in total"
    assert planned["summary"].startswith(f"{cost}, which is more than you can spend now; ")
    assert release(table, items[:1], key="again").status_code == 201
    assert spent(table) == Decimal("0.6")
    assert_valid(table)


def test_the_same_key_is_the_same_batch(table: Table) -> None:
    first = release(table, MIXED, key="mine", epsilon=1)
    again = release(table, MIXED, key="mine", epsilon=1.0)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    for other in (MIXED[::-1], MIXED[:3]):
        answer = release(table, other, key="mine", epsilon=1)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/key-reused")
    assert release(table, MIXED, key="mine", epsilon=1, alpha="0.1").json()["type"] == "/problems/key-reused"
    # A key is one for releases, batches and derived statistics.
    assert table.release(MEAN, key="mine", epsilon="0.5").json()["type"] == "/problems/key-reused"
    derived = {"derived": {"kind": "standard_deviation", "column": "x"}, "epsilon": "0.1"}
    headers = {"Idempotency-Key": "mine"}
    answer = table.analyst.post(f"{table.path}/derived", json=derived, headers=headers)
    assert answer.json()["type"] == "/problems/key-reused"
    table.release(MEAN, key="a release's", epsilon="0.5")
    with table.service.unchanged():
        assert release(table, MIXED, key="a release's", epsilon=1).json()["type"] == "/problems/key-reused"
    # What was answered stays answered when the data are gone.
    assert table.owner.delete(table.path).status_code == 204
    assert release(table, MIXED, key="mine", epsilon=1).content == first.content
    assert release(table, MIXED, key="new", epsilon=1).json()["type"] == "/problems/closed"


def test_twins_are_one_batch(table: Table) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: release(table, MIXED, key="twin", epsilon="1"), range(12)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert spent(table) == Decimal(answers[0].json()["budget"]["charged"])
    assert_valid(table)


@pytest.mark.slow
def test_many_batches_against_a_small_budget(service: Service) -> None:
    """A hundred at once: sums are exact, and no batch is there in part."""
    table = service.table(COLUMNS, ROWS, limit="2", allowance="1.7")
    items = [item(MEAN, epsilon="0.07"), item(VARIANCE, epsilon="0.05"), item(HISTOGRAM, weight=1)]

    start = threading.Barrier(100)

    def one(number: int) -> httpx.Response:
        start.wait(60)
        return release(table, items, key=f"batch {number}", epsilon="0.03", reuse=False)

    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(one, range(100)))
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses == {201: 11, 409: 89}  # 0.15 each, of 1.7
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {problem["requested"] for problem in refused} == {"0.15"}
    assert all(Decimal(problem["remaining"]) < Decimal("0.15") for problem in refused)
    assert spent(table) == Decimal("1.65")
    debits = [entry for entry in table.entries() if entry["kind"] == "debit"]
    released = [each["id"] for answer in answers if answer.status_code == 201 for each in answer.json()["items"]]
    assert Counter(entry["release_id"] for entry in debits) == Counter(released)
    assert len(debits) == 33
    # Batches do not interleave: the entries of each follow one another.
    assert [entry["epsilon"] for entry in debits] == ["0.07", "0.05", "0.03"] * 11
    assert_valid(table)


def test_weights_are_shares_rounded_down(table: Table) -> None:
    items = [item(MEAN | {"bounds": [0, top]}, weight=weight) for top, weight in ((10, 1), (20, "1.0"), (30, 1e0))]
    document = plan(table, items, epsilon="1").json()
    assert charged(document) == ["0.333333333"] * 3
    assert document["budget"]["charged"] == "0.999999999"
    unequal = [item(MEAN, weight="0.1"), item(VARIANCE, weight="0.2"), item(HISTOGRAM, weight="1e-1")]
    assert charged(plan(table, unequal, epsilon="1").json()) == ["0.25", "0.5", "0.25"]


@pytest.mark.parametrize("epsilon", ["0.5", "2", "37.5"])
def test_equal_radii_relative_to_the_ranges(table: Table, epsilon: str) -> None:
    """No radius is a larger part of its range than all can have; each is at its smallest ε; ε is not overspent, and a
    hundredth less of radius would cost more than it."""
    ranges = {"mean": 100, "variance": 100 * 100 * 2500 / 9900, "histogram": 100}
    statistics = [MEAN, VARIANCE, HISTOGRAM, MEAN | {"bounds": [10, 30]}]
    document = plan(table, [item(each) for each in statistics], epsilon=epsilon, equalise="relative").json()
    assert Decimal(document["budget"]["charged"]) <= Decimal(epsilon)
    widths = [ranges["mean"], ranges["variance"], ranges["histogram"], 20]
    parts = [each["accuracy"]["radius"] / width for each, width in zip(document["items"], widths, strict=True)]
    part = max(parts)
    assert min(parts) > part * 0.5  # a grid may halve at the smallest ε for the part
    finer = coarser = Decimal(0)
    for statistic, width, each in zip(statistics, widths, document["items"], strict=True):
        costs = [
            Decimal(table.plan(statistic, accuracy=f"{part * width * factor:.15g}").json()["privacy"]["epsilon"])
            for factor in (0.99, 1.0001)
        ]
        finer, coarser = finer + costs[0], coarser + costs[1]
        assert Decimal(charged({"items": [each]})[0]) >= costs[1]
    assert coarser <= Decimal(epsilon) < finer
    answer = release(table, [item(each) for each in statistics], epsilon=epsilon, equalise="relative")
    assert answer.status_code == (201 if Decimal(epsilon) <= 10 else 409)


@pytest.mark.parametrize(
    ("items", "batch", "where"),
    [
        ([], {}, "items"),
        ([item(MEAN, epsilon="0.0001")] * 1001, {}, "items"),
        ([item(MEAN, epsilon=1), item(MEAN)], {}, "items.1"),
        ([item(MEAN, epsilon=1, accuracy=1)], {}, "items.0"),
        ([item(MEAN, epsilon=1, weight=1)], {"epsilon": 1}, "items.0"),
        ([item(MEAN, weight=1)], {}, "epsilon"),
        ([item(MEAN, epsilon=1)], {"epsilon": 1}, "epsilon"),
        ([item(MEAN, weight=0)], {"epsilon": 1}, "items.0.weight"),
        ([item(MEAN, weight="-1")], {"epsilon": 1}, "items.0.weight"),
        ([item(MEAN, weight="1e1000")], {"epsilon": 1}, "items.0.weight"),
        ([item(MEAN, weight="NaN")], {"epsilon": 1}, "items.0.weight"),
        ([item(MEAN, weight=True)], {"epsilon": 1}, "items.0.weight"),
        ([item(MEAN, weight=1), item(MEAN, weight="1e-400")], {"epsilon": 1}, "items.1.weight"),
        ([item(MEAN, weight="1e999"), item(MEAN, weight="1e-999")], {"epsilon": 1}, "items.1.weight"),
        ([{}], {}, "items.0.statistic"),
        ([item({}, epsilon=1)], {}, "items.0.statistic.kind"),
        ([item({"kind": "mean"}, epsilon=1)], {}, "items.0.statistic.column"),
        ([item(MEAN, weight=1), item(MEAN, weight="1e-12")], {"epsilon": 1}, "items.1.weight"),
        ([item(MEAN, weight=1)], {"epsilon": 1, "equalise": "relative"}, "items.0"),
        ([item(MEAN)], {"equalise": "relative"}, "epsilon"),
        ([item(MEAN)], {"epsilon": 1, "equalise": "absolute"}, "equalise"),
        ([item(MEAN)] * 3, {"epsilon": "1e-9", "equalise": "relative"}, "epsilon"),
        ([item(MEAN, epsilon=1), item({"kind": "mean", "column": "y"}, epsilon=1)], {}, "items.1.statistic.column"),
        ([item({"kind": "mean", "column": "y"})], {"epsilon": 1, "equalise": "relative"}, "items.0.statistic.column"),
        ([item(MEAN, epsilon=1001)], {}, "items.0"),
        ([item(MEAN, epsilon=1), item(MEAN, accuracy=100)], {}, "items.1.accuracy"),
        ([item(MEAN, accuracy="1e-9")], {}, "items.0.accuracy"),
        (
            [item({"kind": "histogram", "column": "x", "bins": 24_999}, epsilon=1)] * 2 + [item(OF_A, epsilon=1)],
            {},
            "items",
        ),
        ([item(MEAN, epsilon=1) | {"alpha": "0.1"}], {}, "items.0"),
        ([item(MEAN, epsilon=0)], {}, "items.0.epsilon"),
        ([item(MEAN, epsilon=1)], {"alpha": 0}, "alpha"),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_bad_batches_are_refused_by_where_and_what(
    one_service: Service, items: list[dict[str, Any]], batch: dict[str, Any], where: str
) -> None:
    table = one_service.shared_table(COLUMNS, ROWS)
    with one_service.unchanged():
        for answer in (plan(table, items, **batch), release(table, items, key="bad", **batch)):
            assert answer.status_code == 422, answer.text
            assert [error["where"] for error in answer.json()["errors"]] == [where]


def test_as_many_bins_as_a_batch_may_have(one_service: Service) -> None:
    """A plan is free, so what it may take to write one down is limited."""
    table = one_service.table(COLUMNS, ROWS)
    items = [item({"kind": "histogram", "column": "x", "bins": 24_999}, epsilon="0.1")] * 2  # and `missing`
    assert charged(plan(table, items).json()) == ["0.1", "0"]
    (error,) = plan(table, [*items, item(OF_A, epsilon="0.1")]).json()["errors"]
    assert error == {"where": "items", "what": "have too many bins: at most 50,000 together are allowed"}


@pytest.mark.parametrize(
    ("weights", "parts"), [(("1e999", "1e999"), ["0.5", "0.5"]), (("1e-400", "3e-400"), ["0.25", "0.75"])]
)
def test_weights_of_any_size_are_exact(one_service: Service, weights: tuple[str, str], parts: list[str]) -> None:
    table = one_service.table(COLUMNS, ROWS)
    items = [item(statistic, weight=weight) for statistic, weight in zip((MEAN, VARIANCE), weights, strict=True)]
    assert charged(plan(table, items, epsilon=1).json()) == parts
    # As JSON numbers too, which no double holds.
    body = json.dumps({"items": items, "epsilon": 1}).replace(f'"{weights[0]}"', weights[0])
    headers = {"Content-Type": "application/json"}
    answer = table.analyst.post(f"{table.path}/batches/plan", content=body, headers=headers)
    assert charged(answer.json()) == parts
    not_a_number = body.replace(f": {weights[0]}", ": NaN")
    assert table.analyst.post(f"{table.path}/batches/plan", content=not_a_number, headers=headers).status_code == 400


def test_who_may_ask(one_service: Service) -> None:
    table = one_service.table(COLUMNS, ROWS)
    body = {"items": [item(MEAN, epsilon="0.1")]}
    for path, of_owner in ((f"{table.path}/batches/plan", 200), (f"{table.path}/batches", 403)):
        assert one_service.stranger.post(path, json={}).status_code == 401
        assert one_service.principal("analyst")[1].post(path, json={}).status_code == 404
        assert one_service.principal("auditor")[1].post(path, json={}).status_code == 403
        assert table.owner.post(path, json=body).status_code == of_owner
    assert plan(table, body["items"]).json()["budget"]["allowance_remaining"] == "10"
    assert table.owner.delete(table.path).status_code == 204
    for answer in (plan(table, body["items"]), release(table, body["items"])):
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/closed")


def test_fifty_new_questions_are_few_scans(service: Service) -> None:
    """And each is answered as if alone, which with so much ε is nearly the truth. The histograms are kept already."""
    means = [item(MEAN | {"bounds": [-9, 60 + i]}, epsilon="1000") for i in range(30)]
    counts = [item({"kind": "count", "where": {"x": {"between": [-9, i]}}}, epsilon="1000") for i in range(10)]
    histograms = [item({"kind": "histogram", "column": "x", "bins": 2 + i}, epsilon="1000") for i in range(10)]
    table = service.table(COLUMNS, ROWS, limit="100000", allowance="100000")
    before = table.service.scans()
    answer = release(table, [*means, *counts, *histograms], key="many")
    assert answer.status_code == 201, answer.text
    assert table.service.scans() - before == 3  # 40 by 16
    values = [each["value"] for each in answer.json()["items"]]
    clipped = [sum(min(x, 60 + i) for x in range(100)) / 100 for i in range(30)]
    assert values[:30] == pytest.approx(clipped, abs=0.1)
    assert values[30:40] == pytest.approx([1 + i for i in range(10)], abs=0.5)
    assert [sum(each) for each in values[40:]] == pytest.approx([100] * 10, abs=0.5)
    later = [item(MEAN | {"bounds": [-9, 60 + i]}, epsilon="1") for i in range(30)]
    assert release(table, later, key="again", reuse=False).status_code == 201
    assert table.service.scans() - before == 3


@pytest.mark.slow
def test_a_thousand_items(table: Table) -> None:
    """The most that a batch may have, each a release with its entry."""
    items = [item(MEAN, weight=1)] * 1000
    answer = release(table, items, key="many", epsilon="5", reuse=False)
    assert answer.status_code == 201, answer.text[:500]
    assert spent(table) == 5
    assert len({each["id"] for each in answer.json()["items"]}) == 1000
    assert_valid(table)


def test_a_window_renews_batches(service: Service) -> None:
    """An allowance with a window bears a batch as a whole, in its window."""
    table = service.table(COLUMNS, ROWS)
    table.owner.put(f"{table.path}/allowances/{table.analyst_name}", json={"epsilon_limit": "0.5", "window_days": 1})
    items = [item(MEAN, epsilon="0.3"), item(VARIANCE, epsilon="0.2")]
    assert release(table, items, key="first").status_code == 201
    refused = release(table, [item(HISTOGRAM, epsilon="0.1"), item(MEAN, epsilon="0.2")], key="second").json()
    assert (refused["scope"], refused["requested"], refused["remaining"]) == ("allowance", "0.1", "0")
    assert_valid(table)
