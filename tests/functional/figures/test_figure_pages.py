"""Each figure has a page and pictures, which may stand in another page's frame."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree as ET

import pytest
from service_world import Service, Table, serving

from app.ledger.figures import Figure, FigureVersion, Published
from app.services.figures.display import images, rendered_forms
from app.services.figures.reading import OpenedFigure

COLUMNS = {
    "mass": {"kind": "integer", "bounds": [0, 100], "unit": "g", "nullable": False},
    "kind": {"kind": "category", "categories": ["<i>cat", "dog"], "nullable": False},
}
CONTENT = b"mass,kind\n" + b"".join(b"%d,%s\n" % (i % 101, [b"<i>cat", b"dog"][i % 2]) for i in range(200))
TITLE = "<script>alert(1)</script> & dogs"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def table(service: Service) -> Table:
    """A table with a figure `kinds` of a mean and counts."""
    made = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
    statistics = ({"kind": "mean", "column": "mass"}, {"kind": "histogram", "column": "kind"})
    releases = [made.fresh(each, epsilon="1")["id"] for each in statistics]
    body = {"title": TITLE, "note": "<b>All</b> of them.", "releases": releases}
    assert made.owner.put(f"{made.path}/figures/kinds", json=body).status_code == 201
    return made


def test_a_page_shows_what_is_published_and_nothing_is_markup(table: Table) -> None:
    page = table.owner.get(f"/figures/{table.name}/kinds")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<script>" not in page.text
    assert "<b>All" not in page.text
    assert "&lt;i&gt;cat" in page.text
    rows = table.owner.get(f"{table.path}/figures/kinds").json()["rows"]
    assert f"{rows[1]['value']:,}" in page.text
    assert "version 1, published by" in page.text
    assert "ε = 1." in page.text
    assert "script-src" not in page.headers["Content-Security-Policy"]
    assert page.headers["Content-Security-Policy"].endswith("frame-ancestors 'none'")
    for address in [each.partition('"')[0] for each in page.text.split('href="')[1:]]:
        assert table.owner.get(address).status_code == 200, address
    known = {"If-None-Match": page.headers["ETag"]}
    assert table.owner.get(f"/figures/{table.name}/kinds", headers=known).status_code == 304


def test_pictures_are_svg_and_png(table: Table) -> None:
    drawn = table.owner.get(f"/figures/{table.name}/kinds.svg")
    assert drawn.headers["Content-Type"].startswith("image/svg+xml")
    texts = ["".join(each.itertext()) for each in ET.fromstring(drawn.content).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own
    assert TITLE in texts
    assert {"<i>cat", "dog", "other", "mean of mass", "count by kind"} <= set(texts)
    picture = table.owner.get(f"/figures/{table.name}/kinds.png")
    assert picture.headers["Content-Type"] == "image/png"
    assert picture.content.startswith(PNG)
    unlike = table.owner.get(f"/figures/{table.name}/kinds.gif")
    assert (unlike.status_code, "its suffix is .svg or .png" in unlike.json()["detail"]) == (404, True)


def test_a_picture_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads a public figure could otherwise keep a processor busy with a few requests a second."""
    figure = Figure(1, 1, "counts", 1, None, b"", "penguins", 1, 1, "2026-01-31T12:00:00.000000Z")
    version = FigureVersion(1, 1, "Counts", None, "{}", "ada", "2026-01-31T12:00:00.000000Z", b"hash", b"")
    opened, changed = (
        OpenedFigure(Mock(), Published(figure, each)) for each in (version, replace(version, version=2, title="Others"))
    )
    monkeypatch.setattr(OpenedFigure, "rows", ())
    drawn: list[str] = []
    monkeypatch.setattr(images.resvg_py, "svg_to_bytes", lambda **asked: drawn.append(asked["svg_string"]) or PNG)
    for each in (opened, opened, opened, changed):
        assert rendered_forms.render_once(each, "png", None, lambda each=each: images.render_png(each)) == PNG
    assert ["Others" in svg for svg in drawn] == [False, True]


def test_what_xml_cannot_have_spoils_no_picture_page_or_feed(table: Table) -> None:
    release = table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]
    body = {"title": "A\ufffeB", "note": "One\x0b\nand \x1btwo.", "release": release}
    assert table.owner.put(f"{table.path}/figures/odd", json=body).status_code == 201
    for suffix in (".svg", ".png", ""):
        assert table.owner.get(f"/figures/{table.name}/odd{suffix}").status_code == 200
    ET.fromstring(table.owner.get(f"/figures/{table.name}/odd.svg").content)  # noqa: S314 - our own
    feed = ET.fromstring(table.owner.get("/v1/figures.atom").content)  # noqa: S314 - our own
    told = {each.text for each in feed.iter("{http://www.w3.org/2005/Atom}summary")}
    assert "One\ufffd\nand \ufffdtwo." in told


def test_a_page_is_for_those_who_may_read_the_figure(service: Service, table: Table) -> None:
    for suffix in ("", ".svg", ".png", "/charts/1.svg"):
        path = f"/figures/{table.name}/kinds{suffix}"
        refused = service.stranger.get(path)
        assert refused.status_code == 401
        assert 'Basic realm="figures"' in refused.headers["WWW-Authenticate"]
        _, viewer = service.principal("viewer")
        assert viewer.get(path).status_code == 404


@pytest.mark.slow
def test_a_frame_is_allowed_to_the_origins_that_the_operator_names(tmp_path: Path) -> None:
    origins = "https://intranet.example.org,https://*.example.com:8443"
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", FIGURES_FRAME_ANCESTORS=origins) as service:
        made = service.table(COLUMNS, CONTENT)
        release = made.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]
        body = {"title": "Mass", "release": release, "audience": "public", "confirm_public": True}
        assert made.owner.put(f"{made.path}/figures/mass", json=body).status_code == 201
        policy = service.stranger.get(f"/figures/{made.name}/mass").headers["Content-Security-Policy"]
        assert policy.endswith("frame-ancestors https://intranet.example.org https://*.example.com:8443")
