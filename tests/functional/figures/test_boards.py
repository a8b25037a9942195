"""The board of a collection: its figures' charts on one page, for screens on walls."""

import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree as ET

import pytest
from service_world import Service, Table, a_name, serving

from app.ledger.figure_collections import Collection
from app.ledger.figures import Figure, FigureVersion, Published
from app.services.figures.collection_reading import OpenedCollection
from app.services.figures.display import board_page

COLUMNS = {"mass": {"kind": "integer", "bounds": [0, 100], "unit": "g", "nullable": False}}
CONTENT = b"mass\n" + b"".join(b"%d\n" % (i % 101) for i in range(200))
EVIL = "<script>alert(1)</script>\ufffe & <img src=x onerror=alert(2)>"
ODD = ("1", "1.png", "01.svg.svg", "0.svg", "9.svg", "x.svg", "-1.svg", f"{'9' * 30}.svg", ".svg")
PUBLIC = {"audience": "public", "confirm_public": True}


def publish(table: Table, name: str, title: str, **more: object) -> None:
    release = table.fresh({"kind": "mean", "column": "mass"}, epsilon="0.1")["id"]
    body = {"title": title, "release": release, **more}
    assert table.owner.put(f"{table.path}/figures/{name}", json=body).status_code in {200, 201}


def make_board(table: Table, *names: str, **more: object) -> str:
    """A collection of figures; the path of its page."""
    path = f"/collections/{a_name('board')}"
    body = {"title": EVIL, "note": EVIL, "figures": [{"dataset": table.name, "figure": each} for each in names], **more}
    assert table.owner.put(f"/v1{path}", json=body).status_code == 201
    return path


@pytest.fixture
def table(service: Service) -> Table:
    made = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
    publish(made, "mass", EVIL)
    publish(made, "open", "Open", **PUBLIC)
    return made


def pictures_of(page: str) -> list[str]:
    return re.findall('<img src="([^"]*)" alt="Chart of ', page)


def test_a_board_shows_each_chart_and_nothing_is_markup(table: Table) -> None:
    path = make_board(table, "mass", "open")
    page = table.owner.get(path)
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert (page.text.count("<article>"), page.text.count("<img ")) == (2, 2)
    assert "<script" not in page.text
    assert "script-src" not in page.headers["Content-Security-Policy"]
    assert page.headers["Content-Security-Policy"].endswith("frame-ancestors 'none'")
    published = [table.owner.get(f"{table.path}/figures/{each}").json()["published_at"] for each in ("mass", "open")]
    assert re.findall("Published on ([0-9-]*)", page.text) == [each[:10] for each in published]
    links = [each.partition('"')[0] for each in page.text.split('<a href="')[1:]]
    assert links == [f"/figures/{table.name}/mass", f"/figures/{table.name}/open"]
    assert all(table.owner.get(each).status_code == 200 for each in links)
    pictures = pictures_of(page.text)
    assert pictures == [f"/figures/{table.name}/{each}/charts/1.svg" for each in ("mass", "open")]
    for each in pictures:
        drawn = table.owner.get(each)
        assert drawn.headers["Content-Type"] == "image/svg+xml"
        assert ">Open</text>" not in drawn.text  # the page has the title
        assert ET.fromstring(drawn.content).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
    assert [table.owner.get(f"/figures/{table.name}/mass/charts/{odd}").status_code for odd in ODD] == [404] * len(ODD)


def test_a_picture_stays_as_long_as_its_version_is_shown(service: Service, table: Table) -> None:
    """A screen that loads a board each minute asks for a picture once, and for the next version by another address."""
    path = make_board(table, "mass", "open")
    (before, public) = pictures_of(table.owner.get(path).text)
    first = table.owner.get(before)
    assert first.headers["Cache-Control"] == "private, max-age=86400"
    assert "Authorization" in first.headers["Vary"]
    assert service.stranger.get(public).headers["Cache-Control"] == "public, max-age=60"
    assert service.stranger.get(before).status_code == 401
    publish(table, "mass", "Later")
    assert pictures_of(table.owner.get(path).text)[0] == before.replace("1.svg", "2.svg")
    assert table.owner.get(before).content == first.content
    known = {"If-None-Match": first.headers["ETag"]}
    assert table.owner.get(before, headers=known).status_code == 304
    assert table.owner.delete(f"{table.path}/figures/mass").status_code == 204
    assert table.owner.get(before, headers=known).status_code == 404


def test_a_board_is_304_until_a_figure_is_published_again(table: Table) -> None:
    path = make_board(table, "mass")
    tag = table.owner.get(path).headers["ETag"]
    assert table.owner.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert table.owner.get(path, params={"refresh": 60}).headers["ETag"] != tag
    publish(table, "mass", "Later")
    assert "Later" in table.owner.get(path, headers={"If-None-Match": tag}).text
    later = table.owner.get(path).headers["ETag"]
    assert table.owner.delete(f"{table.path}/figures/mass").status_code == 204
    gone = table.owner.get(path, headers={"If-None-Match": later})
    assert "This figure was withdrawn." in gone.text
    assert "Later" not in gone.text


def test_a_screen_on_a_wall_loads_it_again(table: Table) -> None:
    path = make_board(table, "mass")
    assert "http-equiv" not in table.owner.get(path).text
    for seconds in (10, 86_400):
        page = table.owner.get(path, params={"refresh": seconds})
        assert f'<meta http-equiv="refresh" content="{seconds}">' in page.text
    for wrong in ("9", "86401", "0", "-60", "60;url=https://example.org", "1e3", "\u0661\u0662"):
        refused = table.owner.get(path, params={"refresh": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "refresh")


def test_a_board_is_for_those_who_may_see_it(service: Service, table: Table) -> None:
    _, viewer = service.principal("viewer")
    path = make_board(table, "mass", "open")
    refused = service.stranger.get(path)
    assert refused.status_code == 401
    assert 'Basic realm="figures"' in refused.headers["WWW-Authenticate"]
    assert viewer.get(path).status_code == 404
    public = make_board(table, "mass", "open", **PUBLIC)
    page = service.stranger.get(public)
    assert (page.status_code, page.text.count("<article>")) == (200, 1)
    assert page.headers["Cache-Control"] == "public, max-age=60"
    assert page.headers["ETag"] != table.owner.get(public).headers["ETag"]
    assert "figures/" + table.name + "/mass" not in page.text


def test_a_dataset_named_collections_keeps_its_pages(service: Service) -> None:
    path = "/v1/datasets/collections"
    if service.admin.get(path).status_code == 404:
        metadata = {"name": "collections", "epsilon_limit": "1", "columns": COLUMNS}
        assert service.upload(service.admin, metadata, CONTENT).status_code == 201
    assert service.admin.put(f"{path}/allowances/admin", json={"epsilon_limit": 1}).is_success
    asked = {"statistic": {"kind": "mean", "column": "mass"}, "epsilon": "0.1"}
    release = service.admin.post(f"{path}/releases", json=asked).json()["id"]
    assert service.admin.put(f"{path}/figures/mass", json={"title": "Mass", "release": release}).is_success
    assert "Mass" in service.admin.get("/figures/collections/mass").text
    assert service.admin.get("/collections/mass").status_code == 404


@pytest.mark.slow
def test_a_frame_is_allowed_to_the_origins_that_the_operator_names(tmp_path: Path) -> None:
    origin = "https://intranet.example.org"
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", FIGURES_FRAME_ANCESTORS=origin) as service:
        made = service.table(COLUMNS, CONTENT)
        publish(made, "open", "Open", **PUBLIC)
        policy = service.stranger.get(make_board(made, "open", **PUBLIC)).headers["Content-Security-Policy"]
        assert policy.endswith(f"frame-ancestors {origin}")


def test_a_board_reads_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a hundred large figures would otherwise read a million of them before anything is shown."""
    version = FigureVersion(1, 1, "Cells", None, "{}", "ada", "2026-01-31T12:00:00.000000Z", b"hash", b"")
    members = [
        Published(
            Figure(place, 1, f"cell-{place}", 1, None, b"", "penguins", 1, 1, version.published_at),
            replace(version, figure_id=place),
        )
        for place in range(1, 4)
    ]
    collection = Collection(1, "cells", "Cells", None, "public", 1, b"", version.published_at, b"", "ada")
    database = Mock()
    page = board_page.render_board(
        OpenedCollection(database, collection, members, is_managed=False), "/stats", None
    ).decode()
    assert pictures_of(page) == [f"/stats/figures/penguins/cell-{place}/charts/1.svg" for place in range(1, 4)]
    assert database.mock_calls == []
