"""Whatever is asked in whatever way, what is spent is what was charged, and what the ledger's debits add up to."""

import random
import secrets
from decimal import Decimal
from typing import Any

import pytest
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import Service, Table

COLUMNS: dict[str, dict[str, Any]] = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "k": {"kind": "category", "categories": ["s", "t", "u"], "nullable": False},
    "yes": {"kind": "boolean", "nullable": False},
    "w": {"kind": "real", "bounds": [0, 2]},
}
ROWS = "x,k,yes,w\n" + "".join(f"{7 * i % 101},{'stu'[i % 3]},{i % 2},{i % 5 / 2}\n" for i in range(60))
FILTERS: list[dict[str, Any]] = [{"k": {"in": [each]}} for each in "stu"]
FILTERS += [{"x": {"between": [low, low + 24]}} for low in (0, 25, 50, 75)]
FILTERS += [{"k": {"in": ["s"]}, "yes": {"in": [True]}}, {"yes": {"in": [False]}}, {"yes": {"in": [True]}}]
STATISTICS: list[dict[str, Any]] = [
    {"kind": "mean", "column": "x"},
    {"kind": "sum", "column": "x"},
    {"kind": "histogram", "column": "k"},
    {"kind": "count", "group_by": "k"},
    {"kind": "histogram", "column": "yes"},
    {"kind": "histogram", "columns": ["k", "yes"]},
    {"kind": "histogram", "columns": ["yes", "k"]},
    *({"kind": "count", "where": where} for where in FILTERS),
    *({"kind": "sum", "column": "x", "where": where} for where in FILTERS),
    *({"kind": "histogram", "column": "yes", "where": where} for where in FILTERS[:3]),
]
DERIVED: list[dict[str, Any]] = [
    {"kind": "sum", "column": "x"},
    {"kind": "proportion", "column": "k", "category": "t"},
    *({"kind": kind, "column": "x", "where": where} for kind in ("mean", "sum") for where in FILTERS[:2]),
    *({"kind": kind, "column": "x", "group_by": "k"} for kind in ("mean", "sum")),
    {"kind": "sum", "column": "x", "where": FILTERS[0], "missing": "exclude"},
    {"kind": "mean", "column": "x", "weight": "w", "where": FILTERS[1]},
    {"kind": "mean", "column": "x", "weight": "w", "group_by": "k"},
    {"kind": "quantile", "column": "x", "bins": 50, "probabilities": [0.5]},
    {"kind": "correlation", "columns": ["x", "w"], "missing": "exclude"},
    {"kind": "margin", "columns": ["yes", "k"], "column": "k"},
]
RADII = ("radius", "tight_radius", "simultaneous_radius")


def epsilon(chance: random.Random) -> str:
    return f"{Decimal(chance.randint(1, 40)) / 100:f}"


def post(table: Table, path: str, body: dict[str, Any], *, key: bool = True) -> dict[str, Any]:
    headers = {"Idempotency-Key": secrets.token_hex(8)} if key else {}
    answer = table.analyst.post(f"{table.path}/{path}", json=body, headers=headers)
    assert answer.status_code in {200, 201}, answer.text
    document: dict[str, Any] = answer.json()
    assert answer.status_code == (201 if key and document["budget"]["charged"] != "0" else 200)
    return document


def assert_promised(planned: dict[str, Any], answered: dict[str, Any]) -> None:
    """A plan says which accuracy the answer has; no radius is larger than that of a new release."""
    promised = planned.get("reused_accuracy", planned["accuracy"])
    for radius in RADII:
        if radius in promised:
            assert answered["accuracy"][radius] == promised[radius] <= planned["accuracy"][radius]


def ask_one(table: Table, chance: random.Random) -> Decimal:
    body = {"statistic": chance.choice(STATISTICS), "epsilon": epsilon(chance)}
    planned, answer = post(table, "plan", body, key=False), post(table, "releases", body)
    assert answer["budget"]["charged"] == planned["budget"]["charged"]
    assert (answer["budget"]["charged"] == "0") is answer["reused"] is planned["reused"]
    assert_promised(planned, answer)
    return Decimal(answer["budget"]["charged"])


def ask_batch(table: Table, chance: random.Random) -> Decimal:
    items = [{"statistic": chance.choice(STATISTICS), "epsilon": epsilon(chance)} for _ in range(chance.randint(2, 12))]
    body = {"items": items, "reuse": chance.random() < 0.9}
    planned = post(table, "batches/plan", body, key=False)
    shuffled = post(table, "batches/plan", body | {"items": chance.sample(items, len(items))}, key=False)
    assert shuffled["budget"]["charged"] == planned["budget"]["charged"]
    answer = post(table, "batches", body)
    charged = [Decimal(each["budget"]["charged"]) for each in answer["items"]]
    assert charged == [Decimal(each["charged"]) for each in planned["items"]]
    assert sum(charged) == Decimal(answer["budget"]["charged"]) == Decimal(planned["budget"]["charged"])
    for promised, each, cost in zip(planned["items"], answer["items"], charged, strict=True):
        assert cost <= (0 if each["reused"] else Decimal(each["privacy"]["epsilon"]))
        assert_promised(promised, each)
    return sum(charged, Decimal(0))


def ask_derived(table: Table, chance: random.Random) -> Decimal:
    body = {"derived": chance.choice(DERIVED), "epsilon": epsilon(chance)}
    planned, answer = post(table, "derived/plan", body, key=False), post(table, "derived", body)
    assert answer["budget"]["charged"] == planned["budget"]["charged"]
    charged = [Decimal(each["charged"]) for each in answer["components"]]
    assert charged == [Decimal(each["charged"]) for each in planned["components"]]
    for promised, each in zip(planned["components"], answer["components"], strict=True):
        assert_promised(promised, each)
    assert sum(charged) == Decimal(answer["budget"]["charged"])
    return sum(charged, Decimal(0))


@SERVICE_ON_POSTGRES_SLOWLY
@pytest.mark.parametrize(
    ("seed", "rows_per_unit"),
    [(1, 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1, 1), (3, 1), (3, 2)))],
)
def test_spent_is_charged_is_the_sum_of_debits(service: Service, seed: int, rows_per_unit: int) -> None:
    """Single releases, batches and derived statistics, new, reused and equal to others, in any order."""
    chance = random.Random(seed)
    table = service.table(COLUMNS, ROWS, limit="1000", allowance="1000", rows_per_unit=rows_per_unit)
    spent, saved = Decimal(0), False
    for _ in range(30):
        spent += chance.choice([ask_one, ask_batch, ask_batch, ask_derived])(table, chance)
        assert Decimal(table.budget()["epsilon_spent"]) == spent
        (allowance,) = table.budget()["allowances"]
        assert Decimal(allowance["epsilon_spent"]) == spent
    debits = [entry for entry in table.entries() if entry["kind"] == "debit"]
    assert sum(Decimal(entry["epsilon"]) for entry in debits) == spent
    for entry in debits:
        release = table.analyst.get(f"/v1/releases/{entry['release_id']}").json()
        assert release["budget"]["charged"] == entry["epsilon"]
        saved |= Decimal(entry["epsilon"]) < Decimal(release["privacy"]["epsilon"])
    assert saved
    found = table.owner.get(f"{table.path}/ledger/verification").json()
    assert found["valid"], found


@pytest.mark.parametrize(
    ("rows_per_unit", "charges"), [(1, ["0", "0.3", "0.2", "0.5"]), (2, ["0.1", "0.3", "0.2", "0.5"])]
)
def test_disjoint_filters_of_a_batch_cost_the_two_largest(
    service: Service, rows_per_unit: int, charges: list[str]
) -> None:
    """With several rows a person twice the largest, if that is less; the budget needs no more than that."""
    total = {1: "1", 2: "1.1"}[rows_per_unit]
    table = service.table(COLUMNS, ROWS, limit=total, allowance=total, rows_per_unit=rows_per_unit)
    items = [{"statistic": {"kind": "count", "where": where}, "epsilon": epsilon}
             for where, epsilon in zip(FILTERS, ("0.1", "0.3", "0.2"), strict=False)]  # fmt: skip
    items.append({"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.5"})
    planned = post(table, "batches/plan", {"items": items}, key=False)
    assert [each["charged"] for each in planned["items"]] == charges
    assert planned["budget"]["affordable"] is True
    answer = post(table, "batches", {"items": items})
    assert [each["budget"]["charged"] for each in answer["items"]] == charges
    assert [each["privacy"]["epsilon"] for each in answer["items"]] == ["0.1", "0.3", "0.2", "0.5"]
    assert (answer["budget"]["charged"], answer["budget"]["dataset_remaining"]) == (total, "0")
    assert not any(each["reused"] for each in answer["items"])
    # What was released stays known at its own accuracy.
    again = post(table, "batches", {"items": items})
    assert [each["id"] for each in again["items"]] == [each["id"] for each in answer["items"]]
    assert again["budget"]["charged"] == "0"
