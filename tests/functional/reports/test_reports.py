"""Reports: a batch that is released and published on each new dataset of a series, once, within a budget set before."""

import json
from typing import Any

import httpx
import pytest
from report_world import COLUMNS, CONTENT, FIGURES, ITEMS, REPORT, define, ends, last_run, succeed
from service_world import Service, Table, pages

ON_ONE_DATABASE = pytest.mark.parametrize("service", ["sqlite"], indirect=True)


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, CONTENT, limit="10", allowance="5")


def assert_refused(found: httpx.Response, status: int, slug: str) -> None:
    assert (found.status_code, found.json()["type"]) == (status, f"/problems/{slug}"), found.text


def test_each_dataset_of_a_series_is_reported_on_once_until_the_budget_is_spent(service: Service, table: Table) -> None:
    defined = define(table)
    assert defined.status_code == 201
    budget = {"epsilon_per_run": "0.75", "epsilon_total": "1.5", "epsilon_spent": "0", "epsilon_remaining": "1.5"}
    report = {"dataset": table.name, "report": "monthly", "principal": table.owner_name, **budget}
    assert defined.json() == report | {"changed_at": defined.json()["changed_at"]}
    assert define(table).json() == defined.json()
    assert table.owner.get(defined.headers["Location"]).json()["figures"] == FIGURES
    assert table.owner.get(f"{table.path}/reports/monthly/runs").json() == {"runs": [], "next": None}
    assert table.budget()["epsilon_spent"] == "0"  # nothing is released where it is defined
    names = [table.name]
    for number in (1, 2):
        before, table = table, succeed(service, table)
        run = last_run(table)
        assert (run["state"], run["number"], run["dataset"], run["charged"]) == ("done", number, table.name, "0.75")
        assert (run["figures"], run["principal"]) == (["mass", "cats"], table.owner_name)
        released = table.owner.get(f"{table.path}/releases").json()["releases"]
        assert run["releases"] == [each["id"] for each in released]
        assert table.budget()["epsilon_spent"] == "0.75"
        mass, cats = (table.owner.get(f"{table.path}/figures/{name}").json() for name in ("mass", "cats"))
        assert mass["rows"][0]["value"] == released[0]["value_in_range"]
        assert mass["source"]["answers"][0]["alpha"] == mass["rows"][0]["alpha"] == 0.05
        assert (mass["title"], mass["published_by"], len(cats["rows"])) == ("Mass", table.owner_name, 1)
        assert_refused(table.owner.get(f"{before.path}/reports/monthly"), 404, "not-found")  # it has moved on
        assert table.owner.get(f"{table.path}/reports/monthly").json()["epsilon_spent"] == f"{0.75 * number:g}"
        names.append(table.name)
    last = succeed(service, table)
    run = last_run(last)
    assert (run["state"], run["charged"], run["releases"], run["figures"]) == ("refused", "0", [], [])
    problem = run["problem"]
    assert (problem["type"], problem["scope"], problem["remaining"]) == ("/problems/budget-exhausted", "report", "0")
    assert last.budget()["epsilon_spent"] == "0"
    listed = [run for page in pages(table.owner, f"{last.path}/reports/monthly/runs", 2) for run in page]
    assert [run["dataset"] for run in listed] == [*names[1:], last.name]
    assert table.owner.post(f"{last.path}/reports/monthly/runs").json()["state"] == "pending"
    assert define(last, epsilon_total="3").status_code == 200
    last.grant(last.owner_name, "1")  # which tries it again
    assert ends(last, "done")["charged"] == "0.75"
    assert table.owner.post(f"{last.path}/reports/monthly/runs").json()["state"] == "done"
    assert last.budget()["epsilon_spent"] == "0.75"
    for dataset in (*names[1:], last.name):
        assert table.owner.get(f"/v1/datasets/{dataset}/ledger/verification").json()["valid"]


def test_figures_of_a_report_show_what_each_item_asked(service: Service, table: Table) -> None:
    """A mean and a sum have the same numbers, so that one release answers both items."""
    mean, total = ({"kind": kind, "column": "mass"} for kind in ("mean", "sum"))
    items = [{"statistic": mean, "epsilon": "0.25"}, {"statistic": total, "epsilon": "0.5"}]
    assert define(table, batch={"items": items, "alpha": 0.1}).status_code == 201
    after = succeed(service, table)
    run = last_run(after)
    assert (run["state"], run["charged"], len(set(run["releases"]))) == ("done", "0.5", 1)
    shown = [after.owner.get(f"{after.path}/figures/{name}").json() for name in ("mass", "cats")]
    assert [each["rows"][0]["measure"] for each in shown] == ["mean", "sum"]
    assert [each["rows"][0]["alpha"] for each in shown] == [0.1, 0.1]
    values = [each["rows"][0]["value"] for each in shown]
    assert values[0] * 200 == pytest.approx(values[1])
    answer = {"release": run["releases"][0], "statistic": mean, "alpha": 0.1}
    assert shown[0]["source"] == {"releases": run["releases"][:1], "answers": [answer]}


def test_an_analysts_report_waits_for_the_allowance(service: Service, table: Table) -> None:
    """A successor inherits no allowance: its owner grants, and then what waits is done."""
    assert define(table, table.analyst).status_code == 201
    after = succeed(service, table)
    run = last_run(after)
    assert (run["state"], run["problem"]["type"]) == ("refused", "/problems/forbidden")
    assert run["problem"]["detail"].startswith(f"{table.analyst_name} has no allowance on this dataset")
    after.grant(table.analyst_name, "0.5")
    assert ends(after, "refused")["problem"] is not None
    assert after.budget()["epsilon_spent"] == "0"
    after.grant(table.analyst_name, "2")
    assert ends(after, "done")["principal"] == table.analyst_name
    assert after.analyst.get(f"{after.path}/budget").json()["allowance"]["epsilon_spent"] == "0.75"


@ON_ONE_DATABASE
def test_a_report_ends_with_who_defined_it(service: Service, table: Table) -> None:
    define(table, table.analyst)
    after = succeed(service, table)
    last_run(after)
    assert service.admin.delete(f"/v1/principals/{table.analyst_name}").status_code == 204
    table.owner.post(f"{after.path}/reports/monthly/runs")
    refused = last_run(after)
    assert refused["problem"]["detail"] == f"{table.analyst_name} is disabled, or its key has expired."
    define(after)  # the owner takes it over, and pays
    after.grant(table.owner_name, "2")
    assert ends(after, "done")["principal"] == table.owner_name


@ON_ONE_DATABASE
def test_other_columns_are_a_clear_refusal_and_the_report_can_be_changed(service: Service, table: Table) -> None:
    define(table)
    columns = {"weight": COLUMNS["mass"], "kind": COLUMNS["kind"]}
    after = succeed(service, table, columns, CONTENT.replace(b"mass", b"weight"))
    run = last_run(after)
    assert (run["state"], run["problem"]["type"]) == ("refused", "/problems/invalid-request")
    assert run["problem"]["errors"][0]["where"] == "batch.items.0.statistic.column"
    assert after.budget()["epsilon_spent"] == "0"
    assert_refused(table.owner.post(f"{after.path}/reports/monthly/plan"), 422, "invalid-request")
    items = [{"statistic": {"kind": "mean", "column": "weight"}, "epsilon": "0.5"}]
    changed = define(after, batch={"items": items}, figures=[{"figure": "mass", "title": "Mass"}])
    assert changed.status_code == 200
    table.owner.post(f"{after.path}/reports/monthly/runs")
    assert ends(after, "done")["charged"] == "0.5"
    assert after.owner.get(f"{after.path}/figures/mass").json()["rows"][0]["columns"] == "weight"


@ON_ONE_DATABASE
def test_a_figure_of_somebody_else_is_not_replaced(service: Service, table: Table) -> None:
    define(table, table.analyst)
    after = succeed(service, table)
    last_run(after)
    after.grant(table.owner_name, "1")
    theirs = after.fresh(ITEMS[0]["statistic"], epsilon="0.5", client=after.owner)
    body = {"title": "Ours", "release": theirs["id"]}
    assert after.owner.put(f"{after.path}/figures/mass", json=body).status_code == 201
    after.grant(table.analyst_name, "2")
    refused = ends(after, "refused")
    assert refused["problem"]["detail"].startswith("Only the principal that published this figure")
    assert after.budget()["epsilon_spent"] == "0.5"
    assert after.owner.delete(f"{after.path}/figures/mass").status_code == 204
    define(after, table.analyst, figures=[{"figure": "masses", "title": "Mass"}])
    table.analyst.post(f"{after.path}/reports/monthly/runs")
    assert ends(after, "done")["figures"] == ["masses"]


@ON_ONE_DATABASE
def test_a_deleted_dataset_is_succeeded_and_a_deleted_successor_is_not_reported_on(
    service: Service, table: Table
) -> None:
    define(table)
    assert table.owner.delete(table.path).status_code == 204
    assert table.owner.post(f"{table.path}/reports/monthly/plan").json()["epsilon"] == "0.75"
    after = succeed(service, table)
    assert last_run(after)["state"] == "done"
    define(after, table.owner, epsilon_total="9", epsilon_per_run="0.8")
    last = succeed(service, after, epsilon_limit="0.5")
    assert last_run(last)["problem"]["scope"] == "dataset"
    assert last.owner.delete(last.path).status_code == 204
    table.owner.post(f"{last.path}/reports/monthly/runs")
    assert last_run(last)["problem"]["type"] == "/problems/closed"


def test_a_report_is_changed_or_withdrawn_only_as_it_was_read(service: Service, table: Table) -> None:
    path = f"{table.path}/reports/monthly"
    assert_refused(table.owner.put(path, json=REPORT, headers={"If-Match": "*"}), 412, "precondition-failed")
    define(table)
    read = table.owner.get(path)
    as_read = {"If-Match": read.headers["etag"]}
    assert table.owner.get(path).headers["etag"] == as_read["If-Match"]
    assert table.owner.put(path, json=REPORT | {"epsilon_total": "3"}, headers=as_read).status_code == 200
    changed = table.owner.get(path)
    assert changed.json()["epsilon_total"] == "3"
    assert_refused(table.owner.put(path, json=REPORT, headers=as_read), 412, "precondition-failed")
    assert_refused(table.owner.delete(path, headers=as_read), 412, "precondition-failed")
    assert table.owner.get(path).content == changed.content
    after = succeed(service, table)
    assert last_run(after)["state"] == "done"  # which is paid from the budget that was read
    path = f"{after.path}/reports/monthly"
    as_read = {"If-Match": changed.headers["etag"]}
    assert_refused(table.owner.delete(path, headers=as_read), 412, "precondition-failed")
    assert table.owner.delete(
        path, headers={"If-Match": f'"other", {table.owner.get(path).headers["etag"]}'}
    ).is_success
    assert_refused(table.owner.delete(path, headers={"If-Match": "*"}), 404, "not-found")
    assert_refused(table.owner.put(path, json=REPORT, headers={"If-Match": "x"}), 422, "invalid-request")


@ON_ONE_DATABASE
@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("[0,1e50]", "[0,1e+50]"),
        ("[0,99.99999999999999999]", "[0,99.99999999999999999]"),
        ("[0.50,12345678901234567890]", "[0.5,12345678901234567890]"),
    ],
)
def test_a_report_that_is_read_and_sent_again_is_not_changed(table: Table, sent: str, shown: str) -> None:
    path = f"{table.path}/reports/monthly"
    body = json.dumps(REPORT).replace('"column": "mass"', f'"column": "mass", "bounds": {sent}')
    headers = {"Content-Type": "application/json"}
    assert table.owner.put(path, content=body, headers=headers).status_code == 201
    read = table.owner.get(path)
    assert f'"bounds":{shown}' in read.text
    members = ",".join(f'"epsilon_{each}":"{REPORT[f"epsilon_{each}"]}"' for each in ("per_run", "total"))
    again = "{" + members + read.text[read.text.index(',"batch":') :]
    answer = table.owner.put(path, content=again, headers=headers | {"If-Match": read.headers["etag"]})
    assert answer.status_code == 200, answer.text
    assert table.owner.get(path).text == read.text


@ON_ONE_DATABASE
def test_a_withdrawn_report_is_not_run(service: Service, table: Table) -> None:
    define(table)
    define(table, name="yearly")
    assert table.owner.delete(f"{table.path}/reports/monthly").status_code == 204
    assert_refused(table.owner.delete(f"{table.path}/reports/monthly"), 404, "not-found")
    assert [each["report"] for each in table.owner.get(f"{table.path}/reports").json()["reports"]] == ["yearly"]
    after = succeed(service, table)
    assert last_run(after, "yearly")["state"] == "done"
    assert after.owner.get(f"{after.path}/reports/monthly").status_code == 404
    assert after.budget()["epsilon_spent"] == "0.75"
    assert define(table).status_code == 201  # as it is again
    assert table.owner.get(f"{table.path}/reports/monthly").status_code == 200


@ON_ONE_DATABASE
def test_who_may_see_and_change_a_report(service: Service, table: Table) -> None:
    _, other = table.another("1")
    _, auditor = service.principal("auditor")
    define(table, table.analyst)
    define(table, name="ours")
    names = {client: client.get(f"{table.path}/reports").json()["reports"] for client in (table.analyst, other)}
    assert [[each["report"] for each in found] for found in names.values()] == [["monthly"], []]
    assert [each["report"] for each in auditor.get(f"{table.path}/reports").json()["reports"]] == ["monthly", "ours"]
    for path in ("", "/runs", "/plan"):
        method = "POST" if path == "/plan" else "GET"
        assert other.request(method, f"{table.path}/reports/monthly{path}").status_code == 404
        assert table.owner.request(method, f"{table.path}/reports/monthly{path}").status_code == 200
    assert_refused(define(table, other), 403, "forbidden")
    assert_refused(define(table, auditor), 403, "forbidden")
    assert other.delete(f"{table.path}/reports/monthly").status_code == 404
    assert other.post(f"{table.path}/reports/monthly/runs").status_code == 404
    assert_refused(table.owner.post(f"{table.path}/reports/monthly/runs"), 404, "not-found")
    for name in ("monthly", "free"):  # a condition does not tell whether another analyst has a report of this name
        for method in ("PUT", "DELETE"):
            asked = {"headers": {"If-Match": '"x"'}} | ({"json": REPORT} if method == "PUT" else {})
            refused = other.request(method, f"{table.path}/reports/{name}", **asked)
            assert refused.status_code == (412 if method == "PUT" else 404), (name, method)
    assert_refused(auditor.delete(f"{table.path}/reports/monthly", headers={"If-Match": "x"}), 403, "forbidden")
    public = [FIGURES[0] | {"audience": "public", "confirm_public": True}]
    assert_refused(define(table, table.analyst, figures=public), 403, "forbidden")
    assert define(table, figures=public).json()["principal"] == table.owner_name  # who defined it last
    acts = service.admin.get("/v1/audit", params={"order": "newest"}).json()["records"]
    assert acts[0]["action"] == "report.define"
    assert acts[0]["details"]["epsilon_total"] == "1.5"


@ON_ONE_DATABASE
def test_the_plan_says_what_runs_cost_and_how_many_there_can_be(table: Table) -> None:
    define(table, epsilon_total="4")
    scans, before = table.service.scans(), table.budget()
    plan = table.owner.post(f"{table.path}/reports/monthly/plan").json()
    assert (plan["epsilon"], plan["runs"], plan["epsilon_remaining"]) == ("0.75", 5, "4")
    assert plan["summary"] == "Each run would cost ε = 0.75. The report's budget covers 5 more runs."
    asked = table.analyst.post(f"{table.path}/batches/plan", json={"items": ITEMS}).json()["items"]
    assert plan["items"] == asked
    assert (table.service.scans(), table.budget()) == (scans, before)


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"epsilon_per_run": "0.7"}, "epsilon_per_run"),
        ({"epsilon_total": "0.7"}, "epsilon_total"),
        ({"epsilon_total": "0"}, "epsilon_total"),
        ({"figures": []}, "figures"),
        ({"figures": [FIGURES[0], FIGURES[0]]}, "body"),
        ({"figures": [{"figure": "mass", "title": "Mass", "items": [2]}]}, "body"),
        ({"figures": [{"figure": "Mass", "title": "Mass"}]}, "figures.0.figure"),
        ({"figures": [FIGURES[0] | {"audience": "public"}]}, "figures.0"),
        ({"batch": {"items": ITEMS, "rehearse": True}}, "body"),
        ({"batch": {"items": [ITEMS[0]] * 101}}, "body"),
        ({"batch": {"items": [ITEMS[0] | {"statistic": {"kind": "mean", "column": "x"}}]}}, "body"),
        ({"batch": {"items": [{"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.1"}] * 2}}, "batch.items.0"),
    ],
)
def test_a_report_that_could_never_run_is_refused(one_service: Service, more: dict[str, Any], where: str) -> None:
    table = one_service.table(COLUMNS, CONTENT)
    answer = define(table, **more)
    assert_refused(answer, 422, "invalid-request")
    assert answer.json()["errors"][0]["where"].startswith(where), answer.text
    assert table.owner.get(f"{table.path}/reports").json()["reports"] == []


@ON_ONE_DATABASE
def test_a_budget_is_never_below_what_was_spent(service: Service, table: Table) -> None:
    define(table, epsilon_total="3")
    after = succeed(service, succeed(service, table))
    assert last_run(after)["state"] == "done"
    assert define(after, epsilon_total="1").json()["errors"][0]["where"] == "epsilon_total"
    assert REPORT["epsilon_total"] == "1.5"


@ON_ONE_DATABASE
def test_runs_tell_nothing_of_a_dataset_that_their_principal_does_not_see(service: Service, table: Table) -> None:
    """An analyst's report passes over a dataset without an allowance: neither its name, columns nor rows are told."""
    by_accuracy = {"items": [{"statistic": {"kind": "mean", "column": "mass"}, "accuracy": 4}]}
    assert define(table, table.analyst, batch=by_accuracy, figures=[{"figure": "f", "title": "F"}]).status_code == 201
    assert define(table, table.analyst, "other").status_code == 201
    hidden = succeed(service, table, columns={"salary": COLUMNS["mass"]}, content=b"salary\n" + b"1\n" * 37)
    for name in ("monthly", "other"):
        problem = last_run(hidden, name)["problem"]
        assert (problem["type"], "salary" in str(problem)) == ("/problems/forbidden", False)
    assert hidden.analyst.get(hidden.path).status_code == 404
    after = succeed(service, hidden)
    after.grant(after.analyst_name, "2")
    first, second = after.analyst.get(f"{after.path}/reports/monthly/runs").json()["runs"]
    assert (first["dataset"], second["dataset"]) == (None, after.name)
    assert hidden.name not in str(first)
    assert after.owner.get(f"{after.path}/reports/monthly/runs").json()["runs"][0]["dataset"] == hidden.name
    for name in ("monthly", "other"):
        ends(after, "done", name)  # or the next test would see their scans and entries


@ON_ONE_DATABASE
def test_nobody_uses_up_the_reports_of_others(table: Table) -> None:
    for number in range(100):
        assert define(table, table.analyst, f"r{number}").status_code == 201
        assert table.analyst.delete(f"{table.path}/reports/r{number}").status_code == 204
    refused = define(table, table.analyst, "one-more")
    assert_refused(refused, 422, "invalid-request")
    assert "with those that are withdrawn: define it under the name of one of these" in str(refused.json()["errors"])
    assert define(table, table.analyst, "r7").status_code == 201
    for number in range(99):
        assert define(table, name=f"own{number}").status_code == 201
    refused = define(table, name="own99")
    assert "one of more than 100 reports of this dataset" in str(refused.json()["errors"])
    assert_refused(define(table, table.analyst, "r8"), 422, "invalid-request")  # withdrawn, and there is no room
    assert table.owner.delete(f"{table.path}/reports/r7").status_code == 204
    assert define(table, name="own99").status_code == 201
