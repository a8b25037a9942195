"""What readers of figures rely on: which form they get, what is new to them, and that texts are harmless."""

import csv
import io
from typing import Any

import httpx
import pytest
from service_world import Service, Table

from app.services.figures.figure_rows import Row
from app.services.figures.formats import Form, choose_form, render_rows

COLUMNS = {"mass": {"kind": "integer", "bounds": [0, 100], "nullable": False}}
CONTENT = b"mass\n" + b"".join(b"%d\n" % (i % 101) for i in range(200))
MEAN = {"kind": "mean", "column": "mass"}
CSV, JSON, ARROW = "text/csv", "application/json", "application/vnd.apache.arrow.stream"


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, CONTENT, limit="10", allowance="5")


def publish(table: Table, name: str, **body: Any) -> httpx.Response:
    answer = table.owner.put(f"{table.path}/figures/{name}", json={"title": "Mass", **body})
    assert answer.status_code in {200, 201}, answer.text
    return answer


@pytest.mark.parametrize(
    ("accepted", "form"),
    [
        ("*/*", Form.JSON),
        (f"{JSON};q=0, */*", Form.CSV),
        (f"*/*, {JSON};q=0", Form.CSV),
        (f"{JSON};q=0, application/*", Form.ARROW),
        (f"text/*;q=0.9, {CSV};q=0.1, {JSON};q=0.5", Form.JSON),
        (f"{CSV};q=0.1, text/*;q=0.9, {JSON};q=0.5", Form.JSON),
        (f"*/*;q=0.2, {ARROW};q=0.1, {JSON};q=0.1", Form.CSV),
        (f"{CSV};q=0.5, {JSON};q=0.5", Form.CSV),
        (f"*/*;q=0.5, {CSV}", Form.CSV),
        (f"text/html, {JSON};q=0, */*;q=0", None),
        ("text/html", None),
    ],
)
def test_the_most_specific_range_of_an_accept_header_counts(accepted: str, form: Form | None) -> None:
    assert choose_form(accepted) is form


def test_no_cell_of_a_csv_is_a_formula_where_semicolons_separate_lists() -> None:
    plain = Row(
        *("mean", "m", None, "mean", None, None, 1.5, None, 1.0, 2.0, 0.05, "g", "1", "2026-01-31T12:00:00Z"),
        *(None, None, ""),
    )
    for text in ('a;"=1+1;b', 'a;""=1', "a; =1", 'a; " =1', 'a\n"=1;b', 'a;\t"+1', "a;\u00a0@SUM(A1)", 'a;"＝1'):
        content = render_rows([plain._replace(label=text)._asdict()], Form.CSV).decode()
        for cell in content.replace("\r\n", "\n").replace("\n", ";").split(";"):
            assert not cell.strip('" \t\u00a0').startswith(tuple("=+-@＝＋－＠")), (text, cell)
        (row,) = csv.DictReader(io.StringIO(content, newline=""))
        assert row["label"].replace("'", "") == text


def test_two_dates_are_no_date(table: Table) -> None:
    publish(table, "mass", release=table.fresh(MEAN, epsilon="1")["id"])
    since = table.owner.get(f"{table.path}/figures/mass").headers["Last-Modified"]

    def ask(*dates: str) -> int:
        headers = [("If-Modified-Since", each) for each in dates]
        return table.owner.get(f"{table.path}/figures/mass", headers=headers).status_code

    assert ask(since) == 304
    assert ask(since, since) == ask(since, "Sat, 01 Jan 2000 00:00:00 GMT") == 200


def test_a_release_that_is_named_twice_is_shown_once(table: Table) -> None:
    """Of a batch, one release may answer several questions."""
    items = [{"statistic": MEAN, "epsilon": "1"}] * 2
    ids = [each["id"] for each in table.analyst.post(f"{table.path}/batches", json={"items": items}).json()["items"]]
    assert ids[0] == ids[1]
    assert publish(table, "mass", releases=ids).json()["source"] == {"releases": ids[:1]}
    assert len(table.owner.get(f"{table.path}/figures/mass").json()["rows"]) == 1


def test_pages_have_no_character_that_html_forbids(table: Table) -> None:
    release = table.fresh(MEAN, epsilon="1")["id"]
    publish(table, "mass", release=release, note="red \x1b[31m bell \x07 end\x01 next\x0bline\n<b>")
    board = {"title": "Board", "figures": [{"dataset": table.name, "figure": "mass"}]}
    assert table.owner.put(f"/v1/collections/{table.name}", json=board | {"note": "bell \x07"}).status_code == 201
    for path in (f"/figures/{table.name}/mass", f"/collections/{table.name}"):
        text = table.owner.get(path).text
        assert "\ufffd" in text
        assert [each for each in text if ord(each) < 32 and each not in "\t\r\n"] == [], path


def test_a_search_finds_letters_of_every_script_in_any_case(table: Table) -> None:
    release = table.fresh(MEAN, epsilon="1")["id"]
    publish(table, "mass", release=release, title="Ärger Straße Жизнь ΣΑΣ İ")
    members = [{"dataset": table.name, "figure": "mass"}]
    board = {"title": "Ärger Straße Жизнь ΣΑΣ İ", "figures": members}
    assert table.owner.put(f"/v1/collections/{table.name}", json=board).status_code == 201
    for path, member in ((f"{table.path}/figures", "figure"), ("/v1/collections", "name")):
        for search in ("Ärger", "ärger", "STRAßE", "жизнь", "ЖИЗНЬ", "ΣΑΣ", "İ", "Ärger Straße Жизнь ΣΑΣ İ"):
            found = table.owner.get(path, params={"search": search}).json()
            assert [each[member] for each in next(iter(found.values()))], (path, search)


def test_a_figure_is_changed_only_from_the_version_that_was_read(service: Service, table: Table) -> None:
    release = table.fresh(MEAN, epsilon="1")["id"]
    path = f"{table.path}/figures/mass"

    def put(title: str, **headers: str) -> int:
        body = {"title": title, "release": release}
        return table.owner.put(path, json=body, headers={"If-Match": headers["match"]}).status_code

    assert put("One", match="*") == 412  # there is none yet
    publish(table, "mass", release=release)
    tags = [table.owner.get(f"{path}{suffix}").headers["ETag"] for suffix in ("", ".csv", ".arrow", ".parquet")]
    tags += [table.owner.get(f"/figures/{table.name}/mass{suffix}").headers["ETag"] for suffix in ("", ".svg")]
    for old, new in enumerate(tags, 1):
        assert put(f"Title {old}", match='"other"') == put(f"Title {old}", match=f"W/{new}") == 412
    assert put("Two", match=f'"other", {tags[1]}') == 200
    assert [put("Three", match=each) for each in tags] == [412] * len(tags)
    assert table.owner.get(path).json()["title"] == "Two"
    assert table.owner.delete(path, headers={"If-Match": tags[0]}).status_code == 412
    for wrong in ("nonsense", tags[0].strip('"')):
        assert put("Three", match=wrong) == 422
        assert table.owner.delete(path, headers={"If-Match": wrong}).status_code == 422
    _, auditor = service.principal("auditor")
    assert auditor.delete(path, headers={"If-Match": "nonsense"}).status_code == 403
    tag = table.analyst.get(path).headers["ETag"]
    assert table.owner.delete(path, headers={"If-Match": tag}).status_code == 204
    assert put("Three", match=tag) == put("Three", match="*") == 412
