"""What commands print for programs and spreadsheets: the API's JSON, and CSV that runs nothing."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client_commands import Run, running_as
from client_world import PENGUINS, People, settle
from service_world import Service, serving

from snapledger_client.cli.csv_text import protect_cell, render_csv

SCHEMA = {"name": "survey", "epsilon_limit": "3", "columns": {"age": {"kind": "integer", "bounds": [0, 120]}}}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("formats")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", MAX_EPSILON_PER_RELEASE="10") as service:
        yield service


@pytest.fixture(scope="module")
def people(service: Service) -> People:
    return settle(service, limit=10, allowance=6)


@pytest.fixture
def run(service: Service, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as an owner, or with another key."""
    return running_as(people.owner, service.url, tmp_path, monkeypatch)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


READS = [
    (("dataset", "list"), "/v1/datasets"),
    (("dataset", "show", "penguins"), "/v1/datasets/penguins"),
    (("budget", "penguins"), "/v1/datasets/penguins/budget"),
    (("ledger", "show", "penguins"), "/v1/datasets/penguins/ledger"),
    (("ledger", "verify", "penguins"), "/v1/datasets/penguins/ledger/verification"),
    (("ledger", "verification", "penguins"), "/v1/datasets/penguins/ledger/verification/latest"),
    (("allowance", "grantees", "penguins"), "/v1/datasets/penguins/grantees"),
    (("budget-request", "list", "penguins"), "/v1/datasets/penguins/budget-requests"),
    (("releases", "penguins"), "/v1/datasets/penguins/releases"),
    (("connections",), "/v1/connections"),
    (("dataset", "limit", "penguins"), "/v1/datasets/penguins/budget/limit"),
    (("allowance", "show", "penguins", "ada"), "/v1/datasets/penguins/allowances/ada"),
    (("ledger", "show", "penguins", "--entry", "1"), "/v1/datasets/penguins/ledger/1"),
    (("principal", "show", "ada"), "/v1/principals/ada"),
    (("me",), "/v1/me"),
    (("status",), "/readyz"),
    (("status", "--alive"), "/healthz"),
    (("principal", "list"), "/v1/principals"),
    (("acts", "verify"), "/v1/audit/verification"),
    (("acts", "verification"), "/v1/audit/verification/latest"),
    (("acts", "list"), "/v1/audit"),
]


@pytest.mark.parametrize(("arguments", "path"), READS)
def test_json_is_the_api_s_answer(
    run: Run, service: Service, people: People, arguments: tuple[str, ...], path: str
) -> None:
    ada = service.client(people.ada)
    mean = {"statistic": {"kind": "mean", "column": "body_mass_g"}, "epsilon": "0.1"}
    assert ada.post("/v1/datasets/penguins/releases", json=mean, headers={"Idempotency-Key": "one"}).is_success
    ada.post("/v1/datasets/penguins/budget-requests", json={"epsilon": "1", "reason": "=more"})
    key = people.admin if arguments[0] in {"principal", "acts"} else people.owner
    printed = run(*arguments, "--format", "json", key=key)
    assert printed.exit_code == 0, printed.stderr
    answer, found = service.client(key).get(path), json.loads(printed.stdout)
    tag = {"etag": answer.headers["etag"]} if "etag" in found else {}  # for --if-match
    assert found == answer.json() | tag
    for form in ("table", "csv"):
        other = run(*arguments, "--format", form, key=key)
        assert (other.exit_code, bool(other.stdout)) == (0, True), other.stderr


def test_an_answer_that_cost_something_is_the_api_s_too(run: Run, service: Service, people: People) -> None:
    question = ("release", "penguins", "histogram", "species", "--epsilon", "0.1", "--key", "json")
    printed = json.loads(run(*question, "--format", "json", key=people.ada).stdout)
    body = {"statistic": {"kind": "histogram", "column": "species"}, "epsilon": "0.1"}
    ada = service.client(people.ada)
    assert printed == ada.post("/v1/datasets/penguins/releases", json=body, headers={"Idempotency-Key": "json"}).json()
    rows = rows_of(run(*question, "--format", "csv", key=people.ada).stdout)
    assert [row["of"] for row in rows] == ["Adelie", "Chinstrap", "Gentoo", "other"]
    assert [float(row["value"]) for row in rows] == printed["value_in_range"]
    assert [[float(row["lower"]), float(row["upper"])] for row in rows] == printed["accuracy"]["interval"]
    assert {row["release"] for row in rows} == {printed["id"]}
    one = json.loads(run("releases", "--id", printed["id"], "--format", "json", key=people.ada).stdout)
    assert one == ada.get(f"/v1/releases/{printed['id']}").json()
    own = json.loads(run("releases", "--format", "json", key=people.ada).stdout)
    assert own == ada.get("/v1/releases").json()
    assert "4 values" in run("releases", key=people.ada).stdout
    newest = json.loads(run("releases", "penguins", "--newest", "--format", "json").stdout)["releases"]
    assert newest[0]["id"] == printed["id"]
    entries = json.loads(run("ledger", "show", "penguins", "--newest", "--format", "json").stdout)["entries"]
    assert entries[-1]["kind"] == "open"


def test_a_derived_statistic_and_a_batch_as_csv(run: Run, people: People) -> None:
    quantile = ("quantile", "body_mass_g", "--bins", "5", "--probabilities", "0.25,0.5", "--epsilon", "0.1")
    rows = rows_of(run("derived", "penguins", *quantile, "--format", "csv", key=people.ada).stdout)
    assert [row["of"] for row in rows] == ["0.25", "0.5"]
    assert all(float(row["lower"]) <= float(row["value"]) <= float(row["upper"]) for row in rows)
    items = [{"statistic": {"kind": kind, "column": "body_mass_g"}, "epsilon": "0.1"} for kind in ("mean", "variance")]
    batch = run("batch", "penguins", "-", "--format", "csv", key=people.ada, text=json.dumps(items))
    assert [(row["item"], row["statistic"]) for row in rows_of(batch.stdout)] == [
        ("1", "mean of body_mass_g"),
        ("2", "variance of body_mass_g"),
    ]


def test_csv_has_no_formula_from_others(run: Run, service: Service, people: People) -> None:
    formula = '=HYPERLINK("http://evil.example","\x1b[31mclick")'
    admin = service.client(people.admin)
    named = {"name": "eve", "role": "analyst", "display_name": "@SUM(1)"}
    assert admin.post("/v1/principals", json=named).status_code == 201
    metadata: dict[str, Any] = {
        "name": "formulas",
        "description": formula,
        "epsilon_limit": 1,
        "columns": {"body_mass_g": {"kind": "integer", "bounds": [-5, 7000], "label": "+A1"}},
    }
    assert service.upload(service.client(people.owner), metadata, PENGUINS).status_code == 201
    (row,) = [row for row in rows_of(run("dataset", "list", "--format", "csv").stdout) if row["name"] == "formulas"]
    assert row["description"] == "'" + formula.replace("\x1b", "�")
    (column,) = rows_of(run("dataset", "show", "formulas", "--format", "csv").stdout)
    assert (column["label"], column["bounds"]) == ("'+A1", "[-5, 7000]")
    listed = rows_of(run("principal", "list", "--format", "csv", key=people.admin).stdout)
    assert {row["name"]: row["display_name"] for row in listed}["eve"] == "'@SUM(1)"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1+1", "-1+1", "@A1", "＝1", "\t=1", " =1", "\r=1", "-1e5x", "-", "\n@x", "\u200b=1"]
)
def test_a_formula_is_only_text(text: str) -> None:
    assert protect_cell(text).startswith("'")


@pytest.mark.parametrize("text", ["a;=1", 'a;"=1;b', "a; =1", "a\n-1x", "a;\u200b@x", 'a;""＝1'])
def test_no_part_of_a_text_is_a_formula_where_semicolons_separate_cells(text: str) -> None:
    shown = protect_cell(text)
    assert shown.replace("'", "").replace("�", "\u200b") == text
    for cell in shown.replace("\n", ";").split(";"):
        assert not cell.strip('" �').startswith(tuple("=+-@＝"))


@pytest.mark.parametrize("text", ["-1", "-0.5", "+2", "-1.5e-07", "a=b", "", "0", "2026-01-31", "[-1]"])
def test_other_cells_are_as_they_are(text: str) -> None:
    assert protect_cell(text) == text


def test_nested_members_have_columns_of_their_own() -> None:
    records = [{"a": 1, "w": None}, {"a": None, "w": {"days": 7, "at": "x"}, "l": [1, "2"], "t": True}]
    assert render_csv(records) == 'a,w.days,w.at,l,t\n1,,,,\n,7,x,"[1, ""2""]",true\n'
    assert render_csv([], ("name", "role")) == "name,role\n"
