"""Equal numbers are paid once: a release of one statistic answers for every other one that has the same numbers."""

import secrets
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from service_world import Service, Table

N = 7
COLUMNS: dict[str, dict[str, Any]] = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "d": {"kind": "decimal", "scale": 1, "bounds": [0, 2], "nullable": False},
    "k": {"kind": "category", "categories": ["s", "t"]},
    "yes": {"kind": "boolean", "nullable": False},
    "perhaps": {"kind": "boolean"},
    "r": {"kind": "real", "bounds": [0, 1]},
    "on": {"kind": "date", "bounds": ["2021-01-01", "2021-12-31"]},
    "at": {"kind": "timestamp", "time_zone": "UTC", "resolution": "hour", "bounds": ["2021-01-01", "2021-12-31"]},
}
ROWS = "x,d,k,yes,perhaps,r,on,at\n" + "".join(
    f"{11 * i},{i % 4 * 0.5},{'st'[i % 2]},{i % 3 // 2},{i % 2},{i / 10},2021-0{i + 1}-28,2021-0{i + 1}-28T23:00\n"
    for i in range(N)
)

MEAN = {"kind": "mean", "column": "x"}
SUM = {"kind": "sum", "column": "x"}
BY_K = {"kind": "count", "group_by": "k"}
OF_K = {"kind": "histogram", "column": "k"}
OF_YES = {"kind": "histogram", "column": "yes"}
TABLE = {"kind": "histogram", "columns": ["k", "yes"]}
EXCHANGED = {"kind": "histogram", "columns": ["yes", "k"]}
TRUE: dict[str, Any] = {"yes": {"in": [True]}}
KNOWN = ("alpha", "radius", "tight_radius", "simultaneous_radius", "resolution")


def count(**conditions: Any) -> dict[str, Any]:
    return {"kind": "count", "where": {name: {"in": [value]} for name, value in conditions.items()}}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, ROWS)


@pytest.fixture
def one_table(one_service: Service) -> Table:
    return one_service.table(COLUMNS, ROWS)


def between(column: str, least: float, most: float, **where: Any) -> dict[str, Any]:
    return {"kind": "count", "where": {column: {"between": [least, most]}, **where}}


def within(column: str, yes: Any = None, **ends: Any) -> dict[str, Any]:
    return {"kind": "count", "where": {column: ends} | ({} if yes is None else {"yes": yes})}


AGES = {"kind": "histogram", "column": "x", "edges": [0, 18, 65, 100]}
REAL = {"kind": "histogram", "column": "r", "edges": [0, 0.1, 0.3, 1]}
BY_MONTH = {"kind": "histogram", "column": "on", "bins": "month"}
HOURS = {
    "kind": "histogram",
    "column": "at",
    "edges": ["2021-03-01", "2021-03-01T05:00", "2021-03-01T08:00", "2021-04-01"],
}
HALF_YEARS = {"kind": "histogram", "column": "at", "bins": 2}
HALVES = {"kind": "histogram", "column": "d", "bins": 2, "bounds": [0, 2]}


def numbers(document: dict[str, Any]) -> list[Fraction]:
    told = document["value_exact"]
    return [Fraction(text) for text in ([told] if isinstance(told, str) else told)]


def take(*places: int) -> Any:
    return lambda released: [released[place] for place in places]


EQUAL: list[tuple[dict[str, Any], dict[str, Any], Any]] = [
    (EXCHANGED, TABLE, take(*(2 * i + j for j in range(2) for i in range(4)))),
    (TABLE | {"where": {"perhaps": {"in": [False]}}}, EXCHANGED | {"where": {"perhaps": {"in": [False]}}},
     take(*(4 * i + j for j in range(4) for i in range(2)), 8)),
    (OF_K, BY_K, take(0, 1, 2, 3)),
    (BY_K, OF_K, take(0, 1, 2, 3)),
    (BY_K | {"where": TRUE}, OF_K | {"where": TRUE}, take(0, 1, 2, 3)),
    (count(k="t"), OF_K, take(1)),
    (count(k="s"), BY_K, take(0)),
    (count(k="t", yes=True), OF_K | {"where": TRUE}, take(1)),
    (count(perhaps=True), {"kind": "histogram", "column": "perhaps"}, take(1)),
    (OF_YES, count(yes=False), lambda released: [released[0], N - released[0]]),
    (OF_YES, count(yes=True), lambda released: [N - released[0], released[0]]),
    (count(yes=True), OF_YES, take(1)),
    (count(yes=True), count(yes=False), lambda released: [N - released[0]]),
    (between("x", 18, 64), AGES, take(1)),
    (between("x", 65, 1e30, **TRUE), AGES | {"where": TRUE}, take(2)),
    (between("d", 1, 1e30), HALVES, take(1)),
    (within("r", at_least=0.1, below=0.3), REAL, take(1)),
    (within("r", below=0.1), REAL, take(0)),
    (within("r", at_least=0.3, yes=[True]), REAL | {"where": TRUE}, take(2)),
    (within("on", at_least="2021-03-01", at_most="2021-03-31"), BY_MONTH, take(2)),
    (within("on", at_least="2021-12-01"), BY_MONTH, take(11)),
    (within("at", at_least="2021-03-01", below="2021-04-01"), BY_MONTH | {"column": "at"}, take(2)),
    (within("at", at_least="2021-03-01T05:00", at_most="2021-03-01T07:00"), HOURS, take(1)),
    (within("at", at_least="2021-07-02T12:00"), HALF_YEARS, take(1)),
    (HALVES, between("d", 1, 1e30), lambda released: [N - released[0], released[0]]),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "released", "convert"), EQUAL, ids=range(len(EQUAL)))
def test_a_release_answers_for_equal_numbers(
    one_table: Table, asked: dict[str, Any], released: dict[str, Any], convert: Any
) -> None:
    """In the terms of the question, at the release's own radius, with the same id; a replay is byte for byte."""
    made = one_table.fresh(released, epsilon="1", grid_refinement="auto")
    fresh = one_table.plan(asked, epsilon="0.5", grid_refinement="auto", reuse=False).json()
    planned = one_table.plan(asked, epsilon="0.5", grid_refinement="auto").json()
    assert (planned["reused"], planned["budget"]["charged"]) == (True, "0")
    answer = one_table.release(asked, epsilon="0.5", grid_refinement="auto", key=one_table.name)
    assert answer.status_code == 200, answer.text
    document = answer.json()
    for value, expected in zip(numbers(document), convert(numbers(made)), strict=True):
        assert abs(value - expected) < Fraction(1, 10**40)  # each has 50 digits
    for member in ("statistic", "bins", "axes"):
        assert document.get(member) == fresh.get(member)
    for member in ("id", "dataset", "privacy", "created_at"):
        assert document[member] == made[member]
    for member in ("radius", "tight_radius"):
        assert document["accuracy"][member] == made["accuracy"][member] <= fresh["accuracy"][member]
    told = {name: document["accuracy"][name] for name in KNOWN if name in document["accuracy"]}
    assert told == planned["reused_accuracy"]
    if "simultaneous_radius" in told:
        assert told["simultaneous_radius"] <= fresh["accuracy"]["simultaneous_radius"]
    assert (document["reused"], document["budget"]["charged"]) == (True, "0")
    assert one_table.release(asked, epsilon="0.5", grid_refinement="auto", key=one_table.name).content == answer.content
    assert one_table.budget()["epsilon_spent"] == "1"
    assert one_table.owner.get(f"{one_table.path}/ledger/verification").json()["valid"]
    # A release of another one with the same numbers does not answer where it is not accurate enough.
    assert one_table.plan(asked, epsilon="4", grid_refinement="auto").json()["reused"] is False


@pytest.mark.parametrize(("asked", "released"), [(SUM, MEAN), (MEAN, SUM)])
def test_the_sum_of_all_rows_is_n_times_their_mean(
    service: Service, asked: dict[str, Any], released: dict[str, Any]
) -> None:
    """Exactly: what is released lies on the grid of the statistic that is asked for; figures are in its units.

    The text of a mean near 13 has 48 decimals, that of the sum 47, so that 59 times a rounded mean would be seen.
    """
    n, rows_of_13 = 59, "x,d,k,yes,perhaps,r,on,at\n" + "13,1,s,0,0,,,\n" * 59
    table = service.table(COLUMNS, rows_of_13, limit="100", allowance="100")
    factor = Fraction(n) if asked is SUM else Fraction(1, n)
    for grid_refinement in (0, 10):
        made = table.fresh(released, epsilon="20", grid_refinement=grid_refinement)
        document = table.release(asked, epsilon="20", grid_refinement=grid_refinement).json()
        assert (document["id"], document["reused"]) == (made["id"], True)
        alone = table.plan(asked, epsilon="20", grid_refinement=grid_refinement, reuse=False).json()
        for member in ("statistic", "privacy", "mechanism"):
            assert document[member] == alone[member]
        assert document["accuracy"].items() >= alone["accuracy"].items()
        (value,), (original,) = numbers(document), numbers(made)
        assert abs(value - factor * original) < Fraction(1, 10**40)
        if asked is SUM:  # its grid has short decimals
            grid = Fraction(document["mechanism"]["grid"])
            drawn = value - Fraction(document["mechanism"]["centre"])
            assert drawn % grid == 0 or abs(drawn) == Fraction(document["mechanism"]["bound"])


def test_derived_statistics_follow_from_equal_numbers(table: Table) -> None:
    """A total from a sum, a share from a histogram, a margin from the table with its axes exchanged."""
    made = {name: table.fresh(each, epsilon="3") for name, each in (("sum", SUM), ("k", OF_K), ("table", EXCHANGED))}

    def derive(**derived: Any) -> dict[str, Any]:
        answer = table.analyst.post(f"{table.path}/derived", json={"derived": derived, "epsilon": "1"})
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    total = derive(kind="sum", column="x")
    assert total["components"][0]["release_id"] == made["sum"]["id"]
    assert total["estimates"]["sum"]["value"] == pytest.approx(made["sum"]["value_in_range"])
    share = derive(kind="proportion", column="k", category="t")
    assert share["estimates"]["proportion"]["value"] == pytest.approx(made["k"]["value_in_range"][1] / N)
    margin = derive(kind="margin", columns=["k", "yes"], column="k")
    cells = made["table"]["value"]
    low, high = zip(*margin["estimates"]["margin"]["interval"], strict=True)
    sums = [min(max(cells[i] + cells[4 + i], low[i]), high[i]) for i in range(4)]
    assert margin["estimates"]["margin"]["value"] == pytest.approx(sums)
    assert table.budget()["epsilon_spent"] == "9"


@pytest.mark.parametrize(
    ("asked", "released"),
    [
        (count(perhaps=True), count(perhaps=False)),  # some rows may have no value
        ({"kind": "count", "where": {"k": {"in": ["s", "t"]}}}, OF_K),
        (count(k="t"), OF_K | {"where": TRUE}),
        (OF_K | {"where": TRUE}, BY_K | {"where": TRUE}),  # the rows outside are not known
        (SUM | {"where": TRUE}, MEAN),
        (SUM | {"bounds": [0, 99]}, MEAN),
        (TABLE, TABLE | {"where": {"perhaps": {"in": [True]}}}),
        (between("x", 18, 65), AGES),  # a bin does not have its upper edge
        (between("x", 18, 64), AGES | {"where": TRUE}),
        (within("r", at_least=0.1, at_most=0.3), REAL),
        (within("on", at_least="2021-03-01", at_most="2021-04-01"), BY_MONTH),
    ],
    ids=str,
)
def test_other_numbers_are_other_numbers(one_table: Table, asked: dict[str, Any], released: dict[str, Any]) -> None:
    one_table.fresh(released, epsilon="5")
    assert one_table.release(asked, epsilon="0.1").status_code == 201


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5, 6, 7), (7, 6, 5, 4, 3, 2, 1, 0), (3, 0, 6, 5, 1, 4, 7, 2)])
def test_items_of_a_batch_answer_each_other_whatever_their_order(table: Table, order: tuple[int, ...]) -> None:
    """The histogram answers the counts, that of the same radius too, and the sum the mean."""
    asked = [(count(k="s"), "0.25", "0"), (OF_K, "0.5", "0.5"), (BY_K, "0.3", "0"), (MEAN, "0.1", "0")]
    asked += [
        (SUM, "0.4", "0.4"),
        (count(yes=True), "0.3", "0.3"),
        (between("x", 18, 64), "0.2", "0"),
        (AGES, "0.6", "0.6"),
    ]
    statistics = [asked[place] for place in order]
    items = [{"statistic": statistic, "epsilon": epsilon} for statistic, epsilon, _ in statistics]
    planned = table.analyst.post(f"{table.path}/batches/plan", json={"items": items}).json()
    assert [each["charged"] for each in planned["items"]] == [cost for _, _, cost in statistics]
    headers = {"Idempotency-Key": secrets.token_hex(8)}
    answer = table.analyst.post(f"{table.path}/batches", json={"items": items}, headers=headers)
    assert answer.status_code == 201, answer.text
    document = answer.json()
    assert [each["budget"]["charged"] for each in document["items"]] == [cost for _, _, cost in statistics]
    ids = dict(zip(order, (each["id"] for each in document["items"]), strict=True))
    assert ids[0] == ids[1] == ids[2] != ids[3] == ids[4] != ids[5] != ids[6] == ids[7]
    assert document["budget"]["charged"] == planned["budget"]["charged"] == "1.8"
    assert Decimal(table.budget()["epsilon_spent"]) == Decimal("1.8")
    for each, promised in zip(document["items"], planned["items"], strict=True):
        for radius in {"radius", "tight_radius", "simultaneous_radius"} & each["accuracy"].keys():
            assert each["accuracy"][radius] <= promised["accuracy"][radius]
    assert table.analyst.post(f"{table.path}/batches", json={"items": items}, headers=headers).json() == document
