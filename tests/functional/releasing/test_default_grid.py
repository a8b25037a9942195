"""The default grid: fine, and 1 for counts, which are whole numbers; `grid_refinement: 0` is the notes' own."""

from typing import Any

import pytest
from service_world import Service, Table, numbers_csv

MEAN: dict[str, Any] = {"kind": "mean", "column": "x"}
COUNT: dict[str, Any] = {"kind": "count", "where": {"x": {"between": [0, 30]}}}
HISTOGRAM: dict[str, Any] = {"kind": "histogram", "column": "x", "bins": 4}
RATIO: dict[str, Any] = {"kind": "mean", "column": "x", "where": {"x": {"between": [0, 30]}}}
COLUMNS = {"x": {"kind": "integer", "bounds": [0, 100]}}


@pytest.fixture
def table(one_service: Service) -> Table:
    return one_service.table(COLUMNS, numbers_csv(100), limit="1000", allowance="1000")


# What asks for a plan, and the grid of the notes at this ε over the default grid.
QUESTIONS = [
    ("plan", {"statistic": MEAN, "epsilon": "0.3"}, 1024),
    ("plan", {"statistic": COUNT, "epsilon": "0.3"}, 4),
    ("plan", {"statistic": HISTOGRAM, "epsilon": "0.3"}, 8),
    ("plan", {"statistic": HISTOGRAM, "epsilon": "7"}, 1),
    ("batches/plan", {"items": [{"statistic": MEAN, "epsilon": "0.3"}]}, None),
    ("derived/plan", {"derived": RATIO, "epsilon": "0.3"}, None),
]


@pytest.mark.parametrize(("path", "question", "finer"), QUESTIONS, ids=str)
def test_without_a_refinement_the_grid_is_that_of_auto(
    table: Table, path: str, question: dict[str, Any], finer: int | None
) -> None:
    def plan(**refinement: Any) -> dict[str, Any]:
        answer = table.analyst.post(f"{table.path}/{path}", json=question | refinement)
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    default, notes = plan(), plan(grid_refinement=0)
    assert default == plan(grid_refinement="auto")
    assert (default == notes) is (finer == 1)
    if finer is not None:
        assert notes["mechanism"]["grid"] == finer * default["mechanism"]["grid"]


def test_counts_are_whole_numbers(table: Table) -> None:
    """All but those that the mechanism clamps, at its bound: of the empty last bin that happens now and then."""
    for statistic in (COUNT, HISTOGRAM):
        drawn = [table.fresh(statistic, epsilon=epsilon) for epsilon in ("0.3", "1.9", *["0.7"] * 30)]
        values = [value for answer in drawn for value in _list_unclamped(answer)]
        in_range = [value for answer in drawn for value in _list_numbers(answer, "value_in_range")]
        assert {type(value) for value in values + in_range} == {int}
        assert {value % 2 for value in values} == {0, 1}  # and not multiples of a coarser grid


def _list_unclamped(answer: dict[str, Any]) -> list[Any]:
    centre, bound = answer["mechanism"]["centre"], answer["mechanism"]["bound"]
    return [value for value in _list_numbers(answer, "value") if abs(value - centre) < bound - 1e-6]


def _list_numbers(answer: dict[str, Any], member: str) -> list[Any]:
    return answer[member] if isinstance(answer[member], list) else [answer[member]]


def test_there_are_cliffs_only_where_the_grid_of_a_count_is_below_one(table: Table) -> None:
    for statistic, cliffs in ((MEAN, []), (COUNT, ["2.000000001", "4.000000001", "8.000000001"])):
        question = {"epsilon": "0.3", "curve": {"from": "0.01", "to": "10", "points": 50}}
        plan = table.plan(statistic, **question).json()
        assert plan["cliff"] is None
        assert [point["epsilon"] for point in plan["curve"] if point["cliff"]] == cliffs


def test_a_release_on_the_notes_grid_answers_where_its_radius_is_enough(service: Service) -> None:
    """It does not answer for the same ε on the default grid, whose radius is smaller."""
    table = service.table(COLUMNS, numbers_csv(100))
    stored = table.fresh(MEAN, epsilon="0.5", grid_refinement=0)
    for question in ({"epsilon": "0.5", "grid_refinement": 0}, {"accuracy": 8}, {"epsilon": "0.374"}):
        assert table.plan(MEAN, **question).json()["reused"] is True
        assert table.release(MEAN, **question).json()["id"] == stored["id"]
    planned = table.plan(MEAN, epsilon="0.5").json()
    assert planned["reused"] is False
    assert planned["accuracy"]["radius"] < stored["accuracy"]["radius"]
