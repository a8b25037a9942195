"""An analyst asks for more of an allowance, and the dataset's owner or an admin answers once, on record."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv, whole_list
from sqlalchemy import delete, insert, select, update

from app.db.database import Database
from app.db.tables import budget_requests, verifications

MEAN = {"kind": "mean", "column": "x"}
ASKED = {"epsilon": "0.5", "reason": "The report needs the medians too."}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20), limit="10", allowance="1")


def ask(table: Table, client: httpx.Client | None = None, **other: Any) -> httpx.Response:
    return (client or table.analyst).post(f"{table.path}/budget-requests", json={**ASKED, **other})


def answer(table: Table, request: str, how: str, client: httpx.Client | None = None, **body: Any) -> httpx.Response:
    return (client or table.owner).post(f"{table.path}/budget-requests/{request}/{how}", json=body)


def listed(table: Table, client: httpx.Client | None = None, **query: Any) -> list[dict[str, Any]]:
    found = (client or table.owner).get(f"{table.path}/budget-requests", params=query)
    assert found.status_code == 200, found.text
    requests: list[dict[str, Any]] = found.json()["budget_requests"]
    return requests


def limits(table: Table) -> tuple[str, str]:
    """The limit and the spending of the analyst's allowance."""
    (found,) = table.budget()["allowances"]
    return found["epsilon_limit"], found["epsilon_spent"]


def acts(service: Service, table: Table) -> list[tuple[str, str, dict[str, Any]]]:
    """Who did what about requests of this dataset, and the details."""
    found, after = [], 0
    while after is not None:
        page = service.admin.get("/v1/audit", params={"limit": 1000, "after": after}).json()
        found += [
            (record["actor"], record["action"], record["details"])
            for record in page["records"]
            if (record["target"] or "").startswith(f"datasets/{table.name}/budget-requests/")
        ]
        after = page["next"]
    return found


def assert_refused(found: httpx.Response, status: int, slug: str) -> None:
    assert (found.status_code, found.json()["type"]) == (status, f"/problems/{slug}"), found.text


def test_a_request_is_granted_and_debits_nothing(service: Service, table: Table) -> None:
    table.fresh(MEAN, epsilon="0.25")
    made = ask(table)
    assert made.status_code == 201
    assert made.json() == {
        "id": made.json()["id"],
        "dataset": table.name,
        "principal": table.analyst_name,
        "display_name": None,
        "epsilon": "0.5",
        "reason": ASKED["reason"],
        "created_at": made.json()["created_at"],
        "state": "open",
        "granted": None,
        "answer": None,
        "answered_by": None,
        "answered_at": None,
    }
    assert listed(table) == listed(table, table.analyst) == [made.json()]
    assert table.budget()["open_requests"] == 1
    assert "open_requests" not in table.analyst.get(f"{table.path}/budget").json()
    granted = answer(table, made.json()["id"], "grant")
    assert granted.status_code == 200
    assert granted.json() == made.json() | {
        "state": "granted",
        "granted": "0.5",
        "answered_by": table.owner_name,
        "answered_at": granted.json()["answered_at"],
    }
    assert limits(table) == ("1.5", "0.25")
    assert (table.budget()["epsilon_spent"], table.budget()["open_requests"]) == ("0.25", 0)
    last = table.entries()[-1]
    assert (last["kind"], last["principal"], last["epsilon"]) == ("allow", table.analyst_name, "1.5")
    told = {"principal": table.analyst_name, "epsilon": "0.5"}
    assert acts(service, table) == [
        (table.analyst_name, "budget_request.create", told | {"reason": ASKED["reason"]}),
        (table.owner_name, "budget_request.grant", told | {"epsilon_limit": "1.5", "answer": None}),
    ]
    assert service.admin.get("/v1/audit/verification").json()["valid"]
    assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]


def test_another_amount_is_granted_and_another_is_declined(service: Service, table: Table) -> None:
    first = ask(table, epsilon="5").json()["id"]
    granted = answer(table, first, "grant", service.admin, epsilon="0.1", answer="One of the means.").json()
    assert (granted["granted"], granted["answer"], granted["answered_by"]) == ("0.1", "One of the means.", "admin")
    assert limits(table) == ("1.1", "0")
    second = ask(table).json()["id"]
    declined = answer(table, second, "decline", answer="The dataset has to last until May.").json()
    assert (declined["state"], declined["granted"]) == ("declined", None)
    assert declined["answer"] == "The dataset has to last until May."
    assert limits(table) == ("1.1", "0")
    assert [act for _, act, _ in acts(service, table)] == [
        *("budget_request.create", "budget_request.grant", "budget_request.create", "budget_request.decline"),
    ]


def test_a_window_stays_when_its_limit_is_raised(table: Table) -> None:
    windowed = {"epsilon_limit": "1", "window_days": 30}
    before = table.owner.put(f"{table.path}/allowances/{table.analyst_name}", json=windowed).json()["allowances"][0]
    answer(table, ask(table).json()["id"], "grant")
    (after,) = table.budget()["allowances"]
    assert (after["epsilon_limit"], after["window"]) == ("1.5", before["window"])


def test_one_request_at_a_time(table: Table) -> None:
    """The same one, sent again, is itself; another one waits for the answer to the first."""
    first = ask(table)
    again = ask(table)
    assert (again.status_code, again.content) == (200, first.content)
    for other in ({"epsilon": "0.6"}, {"reason": "another"}):
        assert_refused(ask(table, **other), 409, "request-open")
    _, colleague = table.another("1")
    assert ask(table, colleague).status_code == 201
    assert len(listed(table)) == 2
    assert answer(table, first.json()["id"], "decline").status_code == 200
    assert ask(table).status_code == 201


def test_a_request_is_answered_once(service: Service, table: Table) -> None:
    """The same answer by the same principal changes nothing: it may have been lost on the way."""
    request = ask(table).json()["id"]
    first = answer(table, request, "grant", answer="yes")
    again = answer(table, request, "grant", answer="yes")
    assert (again.status_code, again.content) == (200, first.content)
    assert limits(table) == ("1.5", "0")
    for how, client, body in (
        ("grant", table.owner, {"answer": "yes", "epsilon": "0.6"}),
        ("grant", service.admin, {"answer": "yes"}),
        ("decline", table.owner, {}),
    ):
        assert_refused(answer(table, request, how, client, **body), 409, "request-answered")
    assert limits(table) == ("1.5", "0")
    assert len(acts(service, table)) == 2


def test_of_two_owners_one_wins(service: Service, table: Table) -> None:
    for round_ in range(5):
        request = ask(table, reason=f"round {round_}").json()["id"]
        before = limits(table)[0]
        both = [("grant", table.owner), ("decline", service.admin)]
        with ThreadPoolExecutor(2) as pool:
            found = [each.result() for each in [pool.submit(answer, table, request, *one) for one in both]]
        assert sorted(each.status_code for each in found) == [200, 409]
        won = next(each.json()["state"] for each in found if each.status_code == 200)
        assert listed(table)[-1]["state"] == won
        assert (limits(table)[0] == before) is (won == "declined")
        assert [act for _, act, _ in acts(service, table)].count("budget_request.create") == round_ + 1
    assert len(acts(service, table)) == 10


def test_of_requests_at_once_one_is_made(table: Table) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: ask(table, reason=f"reason {number}").status_code, range(4)))
    assert sorted(found) == [201, 409, 409, 409]
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: ask(table, reason=listed(table)[0]["reason"]).status_code, range(4))) == {200}
    assert len(listed(table)) == 1


def test_each_sees_what_it_may(service: Service, table: Table) -> None:
    own = ask(table).json()
    _, colleague = table.another("1")
    other = ask(table, colleague, reason="mine").json()
    _, auditor = service.principal("auditor")
    for overseer in (table.owner, service.admin, auditor):
        assert listed(table, overseer) == [own, other]
    assert listed(table, table.analyst) == [own]
    assert listed(table, colleague) == [other]
    for client in (table.analyst, colleague, auditor):
        for how in ("grant", "decline"):
            assert_refused(answer(table, own["id"], how, client), 403, "forbidden")
    for client in (table.owner, auditor):  # without an allowance there is nothing to raise
        assert_refused(ask(table, client), 403, "forbidden")
    elsewhere = service.table(X_COLUMNS, numbers_csv(5))
    assert_refused(answer(elsewhere, own["id"], "grant"), 404, "not-found")
    assert_refused(answer(table, "no-id", "grant"), 404, "not-found")


def test_requests_are_listed_in_pages(table: Table) -> None:
    made = []
    for number in range(5):
        made.append(ask(table, reason=f"reason {number}").json()["id"])
        answer(table, made[-1], "decline")
    after, found = None, []
    for _ in range(3):
        query = {"limit": 2} | ({} if after is None else {"after": after})
        page = table.analyst.get(f"{table.path}/budget-requests", params=query).json()
        found += [each["id"] for each in page["budget_requests"]]
        after = page["next"]
    assert (found, after) == (made, None)
    bad = table.analyst.get(f"{table.path}/budget-requests", params={"after": "first"})
    assert_refused(bad, 422, "invalid-request")


def test_requests_are_listed_by_state(table: Table) -> None:
    made = {}
    for state, how in (("granted", "grant"), ("declined", "decline"), ("open", None)):
        made[state] = ask(table, reason=state).json()["id"]
        if how is not None:
            assert answer(table, made[state], how).status_code == 200
    stranger = table.another("1")[1]
    for client, seen in ((table.owner, made), (table.analyst, made), (stranger, {})):
        assert [each["id"] for each in listed(table, client)] == list(seen.values())
        for state in made:
            found = [(each["id"], each["state"]) for each in listed(table, client, state=state)]
            assert found == ([(seen[state], state)] if seen else [])
    for wrong in ("closed", "Open", "open,granted"):
        refused = table.owner.get(f"{table.path}/budget-requests", params={"state": wrong})
        assert_refused(refused, 422, "invalid-request")
        assert refused.json()["errors"] == [{"where": "state", "what": "must be one of open, granted, declined"}]


@pytest.mark.parametrize(
    "body",
    [
        *({}, {"epsilon": "1"}, {"reason": "why"}, {"epsilon": "0", "reason": "why"}, {"epsilon": -1, "reason": "why"}),
        *({"epsilon": "1", "reason": ""}, {"epsilon": "1", "reason": "x" * 1001}, {"epsilon": "1", "reason": 1}),
        *({"epsilon": "1000000.1", "reason": "why"}, {"epsilon": "1", "reason": "why", "more": 1}),
        *({"epsilon": "1", "reason": "\x00"}, []),
    ],
    ids=lambda body: str(body)[:40],
)
def test_a_request_that_is_none(one_service: Service, body: Any) -> None:
    table = one_service.shared_table(X_COLUMNS, numbers_csv(20))
    with one_service.unchanged():
        assert table.analyst.post(f"{table.path}/budget-requests", json=body).status_code == 422


def test_an_answer_that_is_none(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(20))
    request = ask(table, epsilon="1000000").json()["id"]
    with one_service.unchanged():
        for body in ({"epsilon": "0"}, {"epsilon": "x"}, {"answer": "x" * 1001}, {"answer": ""}, {"more": 1}):
            assert answer(table, request, "grant", **body).status_code == 422
        assert answer(table, request, "decline", epsilon="1").status_code == 422
        above = answer(table, request, "grant")
        assert above.json()["errors"] == [{"where": "epsilon", "what": "would raise the allowance above 1,000,000"}]
    at = f"{table.path}/budget-requests/{request}/decline"
    assert table.owner.post(at).status_code == 200  # without a body there is no text


def test_who_has_no_access_any_more_gets_none_by_a_request(service: Service, table: Table) -> None:
    request = ask(table).json()["id"]
    assert table.owner.delete(f"{table.path}/allowances/{table.analyst_name}").status_code == 204
    assert_refused(answer(table, request, "grant"), 409, "revoked")
    assert_refused(ask(table), 404, "not-found")
    table.grant(table.analyst_name, "1")
    assert service.admin.delete(f"/v1/principals/{table.analyst_name}").status_code == 204
    assert_refused(answer(table, request, "grant"), 409, "revoked")
    assert answer(table, request, "decline").status_code == 200
    assert limits(table) == ("1", "0")


def test_a_closed_dataset_takes_only_a_refusal(table: Table) -> None:
    request = ask(table).json()["id"]
    assert table.owner.delete(table.path).status_code == 204
    assert_refused(ask(table, reason="another"), 409, "closed")
    assert_refused(answer(table, request, "grant"), 409, "closed")
    assert answer(table, request, "decline").status_code == 200


def change(service: Service, table: Any, where: Any, **values: object) -> dict[str, Any]:
    """Change a row behind the service's back, and return what it was."""
    database = Database(service.database_url)
    with database.write() as transaction:
        before = dict(transaction.connection.execute(select(table).where(where)).mappings().one())
        transaction.connection.execute(update(table).where(where).values(**values))
        transaction.commit()
    database.close()
    return before


def test_a_changed_request_is_not_answered(service: Service, table: Table) -> None:
    request = ask(table).json()["id"]
    where = budget_requests.c.id == request
    before = change(service, budget_requests, where, epsilon_nano=5 * 10**9)
    for how in ("grant", "decline"):
        assert_refused(answer(table, request, how), 503, "seal-broken")
    found = table.owner.get(f"{table.path}/ledger/verification").json()
    assert [each["what"] for each in found["problems"]] == [
        f"the budget request {request} was changed after it was sealed"
    ]
    change(service, budget_requests, where, **before)
    assert answer(table, request, "grant").status_code == 200
    assert limits(table) == ("1.5", "0")


def acts_problems(service: Service) -> list[str]:
    return [each["what"] for each in service.admin.get("/v1/audit/verification").json()["problems"]]


@pytest.mark.parametrize("how", ["grant", "decline"])
def test_a_request_that_was_put_back_is_found_by_its_records(service: Service, table: Table, how: str) -> None:
    """It has its earlier row with its earlier seal, so nothing but the audit log shows that it was answered."""
    request = ask(table).json()["id"]
    where = budget_requests.c.id == request
    database = Database(service.database_url)
    with database.read() as session:
        before = dict(session.connection.execute(select(budget_requests).where(where)).mappings().one())
    database.close()
    assert answer(table, request, how).status_code == 200
    assert acts_problems(service) == []
    after = change(service, budget_requests, where, **before)
    assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]
    state = {"grant": "granted", "decline": "declined"}[how]
    assert acts_problems(service) == [f"the budget request {request} is not what the records say: {state}"]
    change(service, budget_requests, where, **after)
    assert acts_problems(service) == []


def test_a_request_that_was_deleted_is_missing(service: Service, table: Table) -> None:
    request = ask(table).json()["id"]
    database = Database(service.database_url)
    where = budget_requests.c.id == request
    with database.write() as transaction:
        row = dict(transaction.connection.execute(select(budget_requests).where(where)).mappings().one())
        transaction.connection.execute(delete(budget_requests).where(where))
        transaction.commit()
    assert acts_problems(service) == [f"the budget request {request} is missing"]
    with database.write() as transaction:
        transaction.connection.execute(insert(budget_requests).values(**row | {"id": request[:-1] + "_"}))
        transaction.commit()
    made = f"the budget request {request[:-1]}_ was made without a record"
    assert acts_problems(service) == [made, f"the budget request {request} is missing"]
    with database.write() as transaction:
        transaction.connection.execute(delete(budget_requests).where(budget_requests.c.id == request[:-1] + "_"))
        transaction.connection.execute(insert(budget_requests).values(**row))
        transaction.commit()
    database.close()
    assert acts_problems(service) == []


def test_principals_that_may_get_an_allowance(service: Service, table: Table) -> None:
    auditor, _ = service.principal("auditor")
    gone, _ = service.principal("analyst")
    assert service.admin.delete(f"/v1/principals/{gone}").status_code == 204
    found: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        query = {"limit": 50} | ({"after": after} if after else {})
        page = table.owner.get(f"{table.path}/grantees", params=query).json()
        found += page["grantees"]
        after = page["next"]
    names = [each["name"] for each in found]
    assert {"admin", table.owner_name, table.analyst_name} <= set(names)
    assert len(names) == len(set(names))
    assert not {auditor, gone} & set(names)
    assert found[0] == {"name": "admin", "display_name": None, "role": "admin"}
    listed_all = whole_list(service.admin, "/v1/principals")
    allowed = [
        each["name"] for each in listed_all if not each["disabled"] and each["role"] not in {"auditor", "viewer"}
    ]
    assert names[: len(allowed)] == allowed[: len(names)]


def test_the_latest_verification_is_told(service: Service, table: Table) -> None:
    latest = f"{table.path}/ledger/verification/latest"
    assert table.owner.get(latest).json() == {"latest": None}
    assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]
    first = table.owner.get(latest).json()["latest"]
    assert first | {"at": "", "full_at": ""} == {
        "at": "",
        "via": "principal",
        "actor": table.owner_name,
        "valid": True,
        "entries": 2,
        "full_at": "",
        "problems": 0,
    }
    request = ask(table).json()["id"]
    before = change(service, budget_requests, budget_requests.c.id == request, reason="another")
    assert not service.admin.get(f"{table.path}/ledger/verification").json()["valid"]
    found = table.owner.get(latest).json()["latest"]
    assert (found["actor"], found["valid"], found["problems"]) == ("admin", False, 1)
    assert found["at"] > first["at"]
    change(service, budget_requests, budget_requests.c.id == request, **before)
    ledger = verifications.c.ledger == f"datasets/{table.name}"
    change(service, verifications, ledger, problems=0)  # whoever has not the secret cannot say that it was valid
    assert table.owner.get(latest).json() == {"latest": None}
    assert service.admin.get("/v1/audit/verification").json()["valid"]
    assert service.admin.get("/v1/audit/verification/latest").json()["latest"]["actor"] == "admin"
