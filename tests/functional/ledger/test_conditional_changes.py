"""Limits and allowances that are changed only if they still are what was read (If-Match), and what says so."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import httpx
import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv

MEAN = {"kind": "mean", "column": "x"}


class Change(NamedTuple):
    """A way to change something, and where it is read."""

    read: str
    method: str
    write: str
    body: Callable[[int], dict[str, Any]] | None

    def send(self, table: Table, number: int, *tags: str) -> httpx.Response:
        headers = [("If-Match", tag) for tag in tags]
        body = {} if self.body is None else {"json": self.body(number)}
        return table.owner.request(self.method, table.path + self.path(table, self.write), headers=headers, **body)

    def tag(self, table: Table) -> str:
        return str(table.owner.get(table.path + self.path(table, self.read)).headers["etag"])

    @staticmethod
    def path(table: Table, form: str) -> str:
        return form.format(analyst=table.analyst_name)


ALLOWANCE, LIMIT = "/allowances/{analyst}", "/budget/limit"
CHANGES = {
    "grant": Change(ALLOWANCE, "PUT", ALLOWANCE, lambda number: {"epsilon_limit": number}),
    "window": Change(ALLOWANCE, "PUT", ALLOWANCE, lambda number: {"epsilon_limit": 2, "window_days": number}),
    "revoke": Change(ALLOWANCE, "DELETE", ALLOWANCE, None),
    "adjust": Change(LIMIT, "POST", "/budget/adjustments", lambda number: {"epsilon_limit": number, "reason": "r"}),
}
every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20))


def test_the_table_above_has_every_change_that_takes_a_condition(one_service: Service) -> None:
    conditional = {
        (method, path.rpartition("{name}")[2].replace("principal", "analyst"))
        for path, operations in one_service.contract.document["paths"].items()
        for method, operation in operations.items()
        if not path.endswith(("/collections/{name}", "/figures/{figure}"))  # tests/functional/figures has these
        and not path.endswith("/reports/{report}")  # and tests/functional/reports this
        if "If-Match" in {each["name"] for each in operation.get("parameters", ())}
    }
    assert conditional == {(change.method.lower(), change.write) for change in CHANGES.values()}


@every_change
def test_a_change_of_what_was_read_is_made_and_a_second_one_is_not(table: Table, change: Change) -> None:
    table.fresh(MEAN, epsilon=1)  # what is spent is no part of what was read
    tag = change.tag(table)
    table.fresh(MEAN, epsilon=1)
    assert change.tag(table) == tag
    assert change.send(table, 3, tag).is_success
    before = table.budget()
    refused = change.send(table, 4, tag)
    assert (refused.status_code, refused.json()["type"]) == (412, "/problems/precondition-failed")
    assert "read it again" in refused.json()["detail"]
    assert table.budget() == before


@every_change
def test_other_conditions(table: Table, change: Change) -> None:
    tag = change.tag(table)
    for wrong in (f"W/{tag}", '"other"', '""'):
        assert change.send(table, 3, wrong).status_code == 412
    for malformed in (tag.strip('"'), "", f"{tag} {tag}", f"*, {tag}", '"' + "x" * 10_000):
        refused = change.send(table, 3, malformed)
        assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "If-Match"), malformed
    for form in (['"other", {}'], ['"other"', "{}"], ["*"], []):
        conditions = [each.format(change.tag(table)) for each in form]
        assert change.send(table, 3, *conditions).is_success, conditions
        if change.body is None:
            table.grant(table.analyst_name, "3")


def test_what_does_not_exist_matches_nothing(table: Table) -> None:
    put = CHANGES["grant"]
    assert CHANGES["revoke"].send(table, 0).status_code == 204
    assert table.owner.get(f"{table.path}/allowances/{table.analyst_name}").status_code == 404
    for change in (put, CHANGES["revoke"]):
        assert change.send(table, 3, "*").status_code == 412
    assert CHANGES["revoke"].send(table, 0).status_code == 404


def test_a_put_that_creates_says_so_and_where(table: Table) -> None:
    put, path = CHANGES["grant"], f"{table.path}/allowances/{table.analyst_name}"
    assert put.send(table, 3).status_code == 200
    assert CHANGES["revoke"].send(table, 0).status_code == 204
    made = put.send(table, 4)
    assert (made.status_code, made.headers["location"]) == (201, path)
    own = {"dataset": table.name, "principal": table.analyst_name, "epsilon_limit": "4", "window_days": None}
    assert table.analyst.get(path).json() == own
    _, other = table.another("1")
    assert other.get(path).status_code == 403  # as for a principal that does not exist
    assert other.get(f"{table.path}/allowances/nobody").status_code == 403


def test_of_simultaneous_changes_of_one_state_one_is_made(table: Table) -> None:
    for change in (CHANGES["grant"], CHANGES["adjust"]):
        tag = change.tag(table)
        with ThreadPoolExecutor(6) as hands:
            answers = list(hands.map(lambda number, one=change, read=tag: one.send(table, number, read), range(11, 17)))
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses[0] in {200, 201}
        assert statuses[1:] == [412] * 5


def test_an_adjustment_is_an_entry_of_the_ledger(table: Table) -> None:
    adjusted = CHANGES["adjust"].send(table, 12)
    entry = table.owner.get(adjusted.headers["location"]).json()
    assert (entry["kind"], entry["epsilon"], entry["reason"]) == ("adjust", "12", "r")
    assert table.owner.get(f"{table.path}/ledger/{entry['seq']}").json() == table.entries()[-1] == entry
    for number in (entry["seq"] + 1, 0, -1, "x", 10**20, "1.0", "%31%00"):
        assert table.owner.get(f"{table.path}/ledger/{number}").status_code == 404
    assert table.owner.get(f"{table.path}/budget/limit").json() == {"dataset": table.name, "epsilon_limit": "12"}


def test_a_request_for_budget_is_shown_to_its_principal(table: Table) -> None:
    asked = table.analyst.post(f"{table.path}/budget-requests", json={"epsilon": 1, "reason": "more"})
    path = asked.headers["location"]
    _, other = table.another("1")
    for client, status in ((table.analyst, 200), (table.owner, 200), (table.service.admin, 200), (other, 404)):
        assert client.get(path).status_code == status
    assert table.analyst.get(path).json() == asked.json()
