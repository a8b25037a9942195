"""A figure tells which rows and values its numbers are of, wherever it is read."""

import csv
import hashlib
import io
import json
from html import unescape
from typing import Any
from xml.etree import ElementTree as ET

import command_line
import pytest
from service_world import Service, Table, key_of
from sqlalchemy import select, update

from app.config import Settings
from app.db import tables
from app.db.database import Database
from app.ledger.answers.answer_storage import pack_content, store
from app.ledger.figures import VERSION_VERSION
from app.services.figures.figure_rows import Row, rows_of_derived
from app.services.figures.row_conditions import MAX_CHARACTERS, conditions_in_words
from app.services.figures.stored_rows import complete_rows
from app.services.operations.ledger_secrets import load_keyring
from snapledger_client import Client

COLUMNS: dict[str, Any] = {
    "cost": {"kind": "integer", "bounds": [0, 50000], "unit": "EUR"},
    "age": {"kind": "integer", "bounds": [0, 110], "nullable": False},
    "weight": {"kind": "integer", "bounds": [0, 2], "nullable": False},
    "region": {"kind": "category", "categories": ["East", "North", "West"], "nullable": False},
}
REGIONS = ("East", "North", "West")
CONTENT = "\n".join(["cost,age,weight,region", *(f"{i * 50},{i % 100},1,{REGIONS[i % 3]}" for i in range(600)), ""])
WEST = {"region": {"in": ["West"]}}
COUNTED = "counting missing values of cost as 25,000"
NEARER = "values outside 0 to 50,000 count as the nearer bound"
LEFT_OUT = "leaving out rows without a value of cost"


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, CONTENT, limit="100", allowance="100")


def publish(table: Table, name: str, **body: Any) -> None:
    answer = table.owner.put(f"{table.path}/figures/{name}", json={"title": "Costs", **body})
    assert answer.status_code == 201, answer.text


def conditions_of(table: Table, name: str) -> list[str]:
    rows = table.owner.get(f"{table.path}/figures/{name}").json()["rows"]
    (line, *_) = csv.DictReader(io.StringIO(table.owner.get(f"{table.path}/figures/{name}.csv").text))
    assert line["conditions"] == rows[0]["conditions"]
    return [row["conditions"] for row in rows]


RELEASES: list[tuple[dict[str, Any], str]] = [
    ({"kind": "count", "where": {"age": {"at_least": 66}, **WEST}}, "age at least 66 and region in West"),
    ({"kind": "mean", "column": "cost"}, f"{COUNTED}; {NEARER}"),
    ({"kind": "mean", "column": "age", "bounds": [18, 90]}, "values outside 18 to 90 count as the nearer bound"),
    ({"kind": "sum", "column": "cost", "where": WEST}, f"region in West; {COUNTED}; {NEARER}"),
    ({"kind": "count", "group_by": "region"}, ""),
]


@pytest.mark.parametrize(("statistic", "told"), RELEASES)
def test_a_release_tells_its_filter_and_its_rules(table: Table, statistic: dict[str, Any], told: str) -> None:
    publish(table, "costs", release=table.fresh(statistic, epsilon="1")["id"])
    assert set(conditions_of(table, "costs")) == {told}


DERIVED: list[tuple[dict[str, Any], str]] = [
    ({"kind": "mean", "column": "cost", "where": WEST}, f"region in West; {COUNTED}; {NEARER}"),
    ({"kind": "mean", "column": "cost", "where": WEST, "missing": "exclude"}, f"region in West; {LEFT_OUT}; {NEARER}"),
    ({"kind": "mean", "column": "age", "weight": "weight", "bounds": [0, 110]}, "weighted by weight; "),
    ({"kind": "proportion", "column": "region", "category": "West"}, "category West"),
    ({"kind": "proportion", "where": {"age": {"at_least": 66}}}, "age at least 66"),
]


@pytest.mark.parametrize(("derived", "told"), DERIVED)
def test_a_derived_answer_tells_its_filter_and_its_rules(table: Table, derived: dict[str, Any], told: str) -> None:
    question = {"derived": derived, "epsilon": "1"}
    assert table.analyst.post(f"{table.path}/derived", json=question).status_code == 201
    publish(table, "costs", derived=question)
    (found,) = conditions_of(table, "costs")
    assert found.startswith(told)
    assert found == told or "weight" in derived


def texts_of(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own


def test_conditions_of_all_rows_are_shown_once(table: Table) -> None:
    publish(table, "costs", release=table.fresh({"kind": "histogram", "column": "cost", "bins": 3}, epsilon="1")["id"])
    (told,) = set(conditions_of(table, "costs"))
    for suffix in ("", ".svg", "/charts/1.svg"):
        shown = unescape(table.owner.get(f"/figures/{table.name}/costs{suffix}").text)
        assert shown.count("Conditions: ") == 1
    assert f'<p class="note">Conditions: {told}.</p>' in unescape(table.owner.get(f"/figures/{table.name}/costs").text)
    drawn = texts_of(table.owner.get(f"/figures/{table.name}/costs.svg").text)
    assert f"Conditions: {told}." in " ".join(drawn)
    key = key_of(table.owner)
    shown = command_line.run("figure", "show", table.name, "costs", URL=table.service.url, KEY=key).out
    assert " ".join(shown.split()).count(told) == 1
    with Client(table.service.url, key) as client:
        assert str(client.dataset(table.name).figure("costs")).count(told) == 1


def test_conditions_that_differ_are_shown_with_each_row(table: Table) -> None:
    filters = ("West", "East")
    releases = [table.fresh({"kind": "count", "where": {"region": each}}, epsilon="1")["id"] for each in filters]
    publish(table, "counts", releases=releases)
    page = table.owner.get(f"/figures/{table.name}/counts").text
    drawn = texts_of(table.owner.get(f"/figures/{table.name}/counts.svg").text)
    key = key_of(table.owner)
    shown = command_line.run("figure", "show", table.name, "counts", URL=table.service.url, KEY=key).out
    for each in filters:
        assert f"<td>region in {each}</td>" in page
        assert f"region in {each}" in drawn
        assert f"region in {each}" in shown


def test_rows_from_before_have_no_conditions_and_their_seal_holds(service: Service, table: Table) -> None:
    publish(table, "costs", release=table.fresh({"kind": "mean", "column": "cost"}, epsilon="1")["id"])
    before = table.owner.get(f"{table.path}/figures/costs")
    (row,) = before.json()["rows"]
    added = {"conditions", "interval_lower_as_date", "interval_upper_as_date"}
    old = json.dumps([{name: value for name, value in row.items() if name not in added}]).encode()
    database, versions, figures = Database(service.database_url), tables.figure_versions, tables.figures
    settings = Settings(database_url=service.database_url, data_dir=service.data)
    keyring = load_keyring(settings)  # as an earlier version of the service sealed it
    with database.write() as transaction:
        query = select(versions).join(figures, figures.c.id == versions.c.figure_id)
        (found,) = transaction.rows(query.where(figures.c.dataset == table.name))
        rows_hash = hashlib.sha256(old).digest()
        members = (found.figure_id, found.version, found.title, found.note, found.source, found.published_by)
        seal = keyring.seal.seal_row(VERSION_VERSION, *members, found.published_at, rows_hash)
        changed = update(versions).where(versions.c.figure_id == found.figure_id)
        values = {"rows": pack_content(store(old).content), "rows_hash": rows_hash, "seal": seal}
        transaction.change(changed.values(**values))
        transaction.commit()
    database.close()
    assert table.owner.get(f"{table.path}/figures/costs").json()["rows"] == [row | {"conditions": ""}]
    page = f"/figures/{table.name}/costs"
    for address in (f"{table.path}/figures/costs.parquet", page, f"{page}.svg"):
        assert table.owner.get(address).status_code == 200
    assert list(complete_rows(json.loads(old))[0]) == list(Row._fields)


def test_the_text_is_short_whatever_was_asked() -> None:
    assert conditions_in_words({"where": {"region": {"in": [f"r{i}" for i in range(20_000)]}}}, {}) == (
        "region in r0, r1, r2, r3 and 19,996 more"
    )
    where = {f"{'c' * 60}{i}": {"not": {"in": ["x" * 1000] * 1000}} for i in range(100)}
    rules = {str(i): {"rule": f"rule {i}"} for i in range(7)}
    assert len(conditions_in_words({"where": where}, rules)) == MAX_CHARACTERS
    assert conditions_in_words({}, rules) == "rule 0; rule 1; rule 2; 4 more columns have such rules"


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ({"between": [2007, 2008]}, "x between 2007 and 2008"),
        ({"above": 1.5, "below": 3}, "x above 1.5 and below 3"),
        ({"not": {"in": [True]}}, "x not in true"),
        ({"is_missing": True}, "x is missing"),
        ({"is_missing": False}, "x is not missing"),
    ],
)
def test_each_kind_of_condition_has_words(condition: dict[str, Any], told: str) -> None:
    answer = {
        "derived": {"kind": "mean", "column": "y", "where": {"x": condition}},
        "estimates": {"mean": {"value": 1.0, "interval": [0.0, 2.0]}},
        "alpha": 0.05,
        "epsilon": "1",
    }
    (row,) = rows_of_derived(answer, "2026-01-31T12:00:00Z")
    assert row.conditions == told
