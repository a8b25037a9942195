"""What a PUT makes only if it does not exist (`If-None-Match: *`)."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import httpx
import pytest
from service_world import X_COLUMNS, Service, Table, a_name, numbers_csv

MEAN = {"kind": "mean", "column": "x"}
NEW = {"If-None-Match": "*"}


class Thing(NamedTuple):
    """Something that a PUT of its owner makes, and the body; it is read at the same path."""

    path: str
    body: dict[str, Any] | None

    def put(self, table: Table, headers: Any = NEW, **more: Any) -> httpx.Response:
        body = {} if self.body is None else {"json": self.body | more}
        return table.owner.put(self.path, headers=headers, **body)


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20))


@pytest.fixture
def things(table: Table) -> Mapping[str, Thing]:
    """A thing of each kind that does not exist yet, by the operation that makes it."""
    service = table.service
    source = {"release": table.fresh(MEAN, epsilon=1)["id"], "title": "X"}
    shown = {"title": "Shown", "figures": [{"dataset": table.name, "figure": "shown"}]}
    assert table.owner.put(f"{table.path}/figures/shown", json=source).status_code == 201
    board = f"/v1/collections/{a_name('board')}"
    assert table.owner.put(board, json=shown).status_code == 201
    report = {
        "batch": {"items": [{"statistic": MEAN, "epsilon": 1}]},
        "figures": [{"figure": "monthly", "title": "X"}],
        "epsilon_per_run": 1,
        "epsilon_total": 1,
    }
    viewer, _ = service.principal("viewer")
    analyst, _ = service.principal("analyst")
    return {
        "setAllowance": Thing(f"{table.path}/allowances/{analyst}", {"epsilon_limit": 1}),
        "publishFigure": Thing(f"{table.path}/figures/x", source),
        "grantViewer": Thing(f"{table.path}/viewers/{viewer}", None),
        "setCollection": Thing(f"/v1/collections/{a_name('board')}", shown),
        "grantCollectionViewer": Thing(f"{board}/viewers/{viewer}", None),
        "defineReport": Thing(f"{table.path}/reports/monthly", report),
    }


@pytest.mark.parametrize("service", ["sqlite"], indirect=True)
def test_the_things_above_are_all_that_a_put_makes(service: Service, things: Mapping[str, Thing]) -> None:
    made, conditional = set(), set()
    for operations in service.contract.document["paths"].values():
        for method, operation in operations.items():
            if method == "put" and "201" in operation["responses"]:
                made.add(operation["operationId"])
            if method != "get" and "If-None-Match" in {each["name"] for each in operation.get("parameters", ())}:
                conditional.add(operation["operationId"])
    assert made == conditional == set(things)


def test_each_is_made_once_and_made_anew_after_it_has_gone(table: Table, things: Mapping[str, Thing]) -> None:
    for name, thing in things.items():
        assert thing.put(table).status_code == 201, name
        present, entries = table.owner.get(thing.path).content, table.entries()
        refused = thing.put(table)
        assert (refused.status_code, refused.json()["type"]) == (412, "/problems/already-exists"), name
        assert "If-None-Match" in refused.json()["detail"]
        assert (table.owner.get(thing.path).content, table.entries()) == (present, entries), name
        assert thing.put(table, {}).status_code in {200, 204}, name
        assert table.owner.delete(thing.path).status_code == 204, name
        assert thing.put(table).status_code == 201, name
    assert table.service.admin.get("/v1/audit/verification").json()["problems"] == []


def test_nothing_but_a_star_is_understood_and_nothing_is_done(table: Table, things: Mapping[str, Thing]) -> None:
    for name, thing in things.items():
        for wrong in ('"tag"', 'W/"tag"', "", "**", '*, "tag"', "x" * 1000):
            refused = thing.put(table, {"If-None-Match": wrong})
            (error,) = refused.json()["errors"]
            assert (refused.status_code, error["where"]) == (422, "If-None-Match"), name
            assert "must be *" in error["what"]
        twice = thing.put(table, [("If-None-Match", "*"), ("If-None-Match", "*")])
        assert twice.status_code == 422, name
        assert table.owner.get(thing.path).status_code == 404, name


def test_no_present_state_meets_both_conditions(table: Table, things: Mapping[str, Thing]) -> None:
    both = NEW | {"If-Match": "*"}
    for name in ("setAllowance", "publishFigure", "setCollection", "defineReport"):
        missing = things[name].put(table, both)
        assert (missing.status_code, missing.json()["type"]) == (412, "/problems/precondition-failed"), name
        assert things[name].put(table).status_code == 201
        present = things[name].put(table, both)
        assert (present.status_code, present.json()["type"]) == (412, "/problems/already-exists"), name


def test_of_simultaneous_ones_one_is_made(table: Table, things: Mapping[str, Thing]) -> None:
    for name, thing in things.items():
        with ThreadPoolExecutor(6) as hands:
            answers = list(hands.map(lambda _, one=thing: one.put(table), range(6)))
        assert sorted(answer.status_code for answer in answers) == [201, *[412] * 5], name


def test_what_is_another_ones_is_refused_as_without_it(table: Table, things: Mapping[str, Thing]) -> None:
    _, other = table.another("1")
    _, owner = table.service.principal("owner")
    for name, client, status in (
        ("publishFigure", other, 403),
        ("defineReport", other, 403),
        ("setCollection", owner, 409),
        ("setAllowance", owner, 404),
        ("grantViewer", owner, 404),
    ):
        thing = things[name]
        assert thing.put(table).status_code == 201, name
        assert client.put(thing.path, json=thing.body, headers=NEW).status_code == status, name
