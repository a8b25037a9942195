"""Next month's data of the same people: a budget of its own, and a warning on both datasets."""

from typing import Any

import httpx
import pytest
from service_world import X_COLUMNS, Service, Table, a_name, numbers_csv


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20))


def register(service: Service, owner: httpx.Client, **more: Any) -> httpx.Response:
    metadata = {"name": a_name("table"), "epsilon_limit": "3", "columns": X_COLUMNS, **more}
    return service.upload(owner, metadata, numbers_csv(20).encode())


def test_both_are_told_that_the_spendings_add_up(service: Service, table: Table) -> None:
    """`"succeeds"` marks next month's data of the same people: its own budget, and a warning in both datasets'
    metadata that the spendings add up for a person in both."""
    alone = table.owner.get(table.path).json()
    assert (alone["succeeds"], alone["succeeded_by"], alone["warning"]) == (None, [], None)
    registered = register(service, table.owner, succeeds=table.name)
    assert registered.status_code == 201
    successor = {name: fact for name, fact in registered.json().items() if name != "report"}
    assert (successor["succeeds"], successor["succeeded_by"]) == (table.name, [])
    assert "add up" in successor["warning"]
    assert table.owner.get(f"/v1/datasets/{successor['name']}").json() == successor
    predecessor = table.owner.get(table.path).json()
    assert predecessor == alone | {"succeeded_by": [successor["name"]], "warning": successor["warning"]}
    assert table.owner.get("/v1/datasets").json()["datasets"] == [predecessor, successor]
    newest = table.owner.get("/v1/datasets", params={"order": "newest"}).json()["datasets"]
    assert newest == [successor, predecessor]
    table.fresh({"kind": "mean", "column": "x"}, epsilon=1)
    assert table.owner.get(f"/v1/datasets/{successor['name']}/budget").json()["epsilon_remaining"] == "3"


def test_who_may_not_see_the_successor_is_warned_without_its_name(service: Service, table: Table) -> None:
    """What a caller may not see does not exist."""
    successor = register(service, table.owner, succeeds=table.name).json()
    seen = table.analyst.get(table.path).json()
    assert (seen["succeeded_by"], seen["warning"]) == ([], successor["warning"])
    assert table.analyst.get("/v1/datasets").json()["datasets"] == [seen]
    path = f"/v1/datasets/{successor['name']}/allowances/{table.analyst_name}"
    assert table.owner.put(path, json={"epsilon_limit": 1}).status_code == 201
    assert table.analyst.get(table.path).json()["succeeded_by"] == [successor["name"]]
    assert service.admin.get(table.path).json()["succeeded_by"] == [successor["name"]]


def test_who_may_not_see_the_predecessor_is_warned_without_its_name(service: Service, table: Table) -> None:
    successor = register(service, table.owner, succeeds=table.name).json()
    path = f"/v1/datasets/{successor['name']}"
    name, other = service.principal("analyst")
    assert table.owner.put(f"{path}/allowances/{name}", json={"epsilon_limit": 1}).status_code == 201
    assert other.get(table.path).status_code == 404
    seen = other.get(path).json()
    assert (seen["succeeds"], seen["warning"]) == (None, successor["warning"])
    assert other.get("/v1/datasets").json()["datasets"] == [seen]
    for reader in (table.owner, service.admin):
        assert reader.get(path).json()["succeeds"] == table.name
    assert table.owner.put(f"{table.path}/allowances/{name}", json={"epsilon_limit": 1}).status_code == 201
    assert other.get(path).json()["succeeds"] == table.name


@pytest.mark.parametrize("named", ["nothing-of-that-name", "Not a name", "", 1, "another's"])
def test_only_one_s_own_dataset_is_succeeded(service: Service, table: Table, named: Any) -> None:
    _, other = service.principal("owner")
    with service.unchanged():
        refused = register(service, other, succeeds=table.name if named == "another's" else named)
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "succeeds")


def test_a_closed_dataset_is_succeeded_too(service: Service, table: Table) -> None:
    """Its data is gone, and what was released of it is not."""
    assert table.owner.delete(table.path).status_code == 204
    assert register(service, table.owner, succeeds=table.name).status_code == 201
    assert register(service, service.admin, succeeds=table.name).status_code == 201
    assert len(table.owner.get(table.path).json()["succeeded_by"]) == 1  # the other is the admin's
