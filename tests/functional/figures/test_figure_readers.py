"""Who reads figures: viewers, who read nothing else; everybody, if they are public; and programs that know Basic."""

import base64
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from service_world import Service, Table, key_of, pages, serving
from sqlalchemy import select, update

from app.db.database import Database
from app.db.tables import datasets, figures, viewers

COLUMNS = {"mass": {"kind": "integer", "bounds": [0, 100], "nullable": False}}
CONTENT = b"mass\n" + b"".join(b"%d\n" % (i % 101) for i in range(200))
PUBLIC = {"audience": "public", "confirm_public": True}


@pytest.fixture
def table(service: Service) -> Table:
    """A table with a figure `mass` for viewers."""
    made = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
    release = made.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]
    assert publish(made, "mass", release=release).status_code == 201
    return made


def publish(table: Table, name: str, **body: Any) -> httpx.Response:
    return table.owner.put(f"{table.path}/figures/{name}", json={"title": "Mass <b>", **body})


def release_of(table: Table) -> str:
    found: str = table.owner.get(f"{table.path}/figures/mass").json()["source"]["releases"][0]
    return found


def read(table: Table, client: httpx.Client, name: str = "mass", **options: Any) -> httpx.Response:
    return client.get(f"{table.path}/figures/{name}", **options)


def names(client: httpx.Client, path: str = "/v1/figures", **query: Any) -> list[str]:
    found = client.get(path, params=query)
    assert found.status_code == 200, found.text
    return [f"{each['dataset']}/{each['figure']}" for each in found.json()["figures"]]


def named(table: Table, client: httpx.Client) -> list[str]:
    """The table's figures among all that a caller may see, which include what other tests made public."""
    found = [
        name
        for page in pages(client, "/v1/figures", 100)
        for name in (each["figure"] for each in page if each["dataset"] == table.name)
    ]
    return [f"{table.name}/{name}" for name in found]


def assert_refused(found: httpx.Response, status: int, slug: str) -> None:
    assert (found.status_code, found.json()["type"]) == (status, f"/problems/{slug}"), found.text


@pytest.fixture
def viewer(service: Service, table: Table) -> httpx.Client:
    """A viewer of the table's figures."""
    name, client = service.principal("viewer")
    assert table.owner.put(f"{table.path}/viewers/{name}").status_code == 201
    return client


def test_a_viewer_reads_the_figures_it_was_granted(service: Service, table: Table, viewer: httpx.Client) -> None:
    assert read(table, viewer).status_code == 200
    assert read(table, viewer, "mass/versions").status_code == 200
    assert names(viewer, f"{table.path}/figures") == named(table, viewer) == [f"{table.name}/mass"]
    elsewhere = service.table(COLUMNS, CONTENT)
    for path in (f"{elsewhere.path}/figures", "/v1/datasets/no-such/figures", f"{table.path}/figures/other"):
        assert_refused(viewer.get(path), 404, "not-found")
    assert_refused(read(table, service.principal("viewer")[1]), 404, "not-found")
    assert named(table, service.principal("viewer")[1]) == []


def test_a_viewer_reads_nothing_else(service: Service, table: Table) -> None:
    of_figures, viewer = service.principal("viewer")
    of_board, of_collection = service.principal("viewer")
    assert table.owner.put(f"{table.path}/viewers/{of_figures}").status_code == 201
    board = {"title": "Board", "figures": [{"dataset": table.name, "figure": "mass"}]}
    assert table.owner.put(f"/v1/collections/{table.name}", json=board).status_code == 201
    for name in (of_figures, of_board):
        assert table.owner.put(f"/v1/collections/{table.name}/viewers/{name}").status_code == 201
    document = json.loads((files("app.api.openapi") / "openapi.json").read_text())
    values = {"name": table.name, "figure": "mass", "version": "1"}
    asked = 0
    head = httpx.Client(base_url=viewer.base_url, headers={"Authorization": viewer.headers["Authorization"]})
    for path, operations in document["paths"].items():
        if not path.startswith("/v1/") or operations.get("get", {}).get("security") == []:
            continue
        address = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], table.analyst_name), path)
        for method in operations:
            answer = viewer.request(method, address)
            assert of_collection.request(method, address).status_code == answer.status_code, (method, path)
            if method == "get":
                assert head.head(address).status_code == answer.status_code, path
            if method == "get" and ("/figures" in path or path in {"/v1/collections", "/v1/collections/{name}"}):
                assert answer.status_code == 200, path
            else:
                assert_refused(answer, 403, "forbidden")
                asked += 1
    assert asked > 40
    head.close()


def test_a_grant_is_revoked_and_listed(service: Service, table: Table) -> None:
    name, client = service.principal("viewer")
    made, again = (table.owner.put(f"{table.path}/viewers/{name}") for _ in range(2))
    assert (made.status_code, again.status_code) == (201, 204)
    assert table.owner.get(made.headers["location"]).json() == made.json()
    listed = table.owner.get(f"{table.path}/viewers").json()["viewers"]
    assert [each["name"] for each in listed] == [name]
    assert_refused(table.analyst.put(f"{table.path}/viewers/{name}"), 403, "forbidden")
    for unknown in ("nobody-at-all", "..no"):
        refused = table.owner.put(f"{table.path}/viewers/{unknown}")
        assert_refused(refused, 404, "not-found")
        assert refused.json()["detail"] == "There is no such principal, or it is disabled: check its name."
    assert table.owner.delete(f"{table.path}/viewers/{name}").status_code == 204
    assert_refused(read(table, client), 404, "not-found")
    assert_refused(table.owner.delete(f"{table.path}/viewers/{name}"), 404, "not-found")


def test_everybody_with_a_key_learns_its_role(service: Service, table: Table, viewer: httpx.Client) -> None:
    roles = [client.get("/v1/figures/reader").json()["role"] for client in (viewer, table.analyst, service.admin)]
    assert roles == ["viewer", "analyst", "admin"]
    assert_refused(service.stranger.get("/v1/figures/reader"), 401, "unauthenticated")
    assert_refused(service.client("wrong").get("/v1/figures/reader"), 401, "unauthenticated")


def test_who_may_be_made_a_viewer_is_listed(service: Service, table: Table) -> None:
    name, _ = service.principal("viewer")
    auditor, _ = service.principal("auditor")
    found = {
        to: {each["name"] for page in pages(table.owner, f"{table.path}/grantees", 1000, to=to) for each in page}
        for to in ("view", "spend")
    }
    assert {name, table.analyst_name} <= found["view"]
    assert auditor not in found["view"]
    assert name not in found["spend"]
    assert_refused(table.owner.get(f"{table.path}/grantees", params={"to": "own"}), 422, "invalid-request")


def test_a_viewer_gets_no_allowance(service: Service, table: Table) -> None:
    name, _ = service.principal("viewer")
    refused = table.owner.put(f"{table.path}/allowances/{name}", json={"epsilon_limit": "1"})
    assert_refused(refused, 422, "invalid-request")
    grantees = table.owner.get(f"{table.path}/grantees", params={"limit": 1000}).json()["grantees"]
    assert name not in {each["name"] for each in grantees}


def test_a_public_figure_needs_no_key_and_others_do(service: Service, table: Table) -> None:
    refused = read(table, service.stranger)
    assert_refused(refused, 401, "unauthenticated")
    assert read(table, service.stranger, "no-such").json()["type"] == refused.json()["type"]
    assert 'Basic realm="figures"' in refused.headers["WWW-Authenticate"]  # so that a spreadsheet asks for the key
    assert "Basic" not in read(table, service.client("wrong")).headers["WWW-Authenticate"]
    assert publish(table, "open", release=release_of(table), **PUBLIC).status_code == 201
    found = read(table, service.stranger, "open")
    assert (found.status_code, found.headers["Cache-Control"]) == (200, "public, max-age=60")
    assert found.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    for other in (read(table, table.owner), refused):  # a page elsewhere learns neither its size nor that it is there
        assert other.headers["Cross-Origin-Resource-Policy"] == "same-site"
    assert read(table, service.stranger, "open.csv").status_code == 200
    assert f"{table.name}/open" in names(service.stranger, search="open")
    assert names(service.stranger, f"{table.path}/figures") == [f"{table.name}/open"]
    assert_refused(read(table, service.stranger), 401, "unauthenticated")
    assert publish(table, "open", release=release_of(table)).status_code == 200
    assert_refused(read(table, service.stranger, "open"), 401, "unauthenticated")
    assert_refused(service.stranger.get(f"{table.path}/figures"), 401, "unauthenticated")
    assert_refused(service.stranger.put(f"{table.path}/figures/open", json={}), 401, "unauthenticated")
    assert_refused(read(table, service.client("wrong"), "open"), 401, "unauthenticated")


def test_a_key_is_taken_as_a_password_for_figures_alone(service: Service, table: Table, viewer: httpx.Client) -> None:
    def basic(password: str) -> dict[str, str]:
        return {"Authorization": f"Basic {base64.b64encode(f'anybody:{password}'.encode()).decode()}"}

    assert read(table, service.stranger, headers=basic(key_of(viewer))).status_code == 200
    assert_refused(read(table, service.stranger, headers=basic("wrong")), 401, "unauthenticated")
    assert_refused(read(table, service.stranger, headers={"Authorization": "Basic %%%"}), 401, "unauthenticated")
    owner = basic(key_of(table.owner))
    assert_refused(service.stranger.get(table.path, headers=owner), 401, "unauthenticated")
    assert_refused(service.stranger.delete(f"{table.path}/figures/mass", headers=owner), 401, "unauthenticated")


def test_office_programs_may_ask_for_options_first(table: Table, viewer: httpx.Client) -> None:
    """LibreOffice gives up at another answer, and never asks for the key."""
    for client in (viewer, table.service.stranger):
        answer = client.options(f"{table.path}/figures/mass.csv")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "DELETE, GET, HEAD, PUT")
    asked = httpx.head(f"{table.service.url}{table.path}/figures/mass.csv")
    assert 'Basic realm="figures"' in asked.headers["WWW-Authenticate"]
    assert table.service.stranger.options(table.path).status_code == 401


def test_figures_are_found_by_name_and_title(table: Table) -> None:
    for name, title in (("a_1", "Ages"), ("a-1", "100 % of them"), ("b", "AGES again")):
        publish(table, name, title=title, release=release_of(table))
    here = f"{table.path}/figures"
    assert names(table.owner, here) == [f"{table.name}/{name}" for name in ("a-1", "a_1", "b", "mass")]
    assert names(table.owner, here, search="ages") == [f"{table.name}/{name}" for name in ("a_1", "b")]
    assert names(table.owner, here, search="_") == [f"{table.name}/a_1"]
    assert names(table.owner, here, search="%") == [f"{table.name}/a-1"]
    page = table.owner.get(here, params={"limit": 2}).json()
    assert names(table.owner, here, after=page["next"]) == [f"{table.name}/{name}" for name in ("b", "mass")]
    assert_refused(table.owner.get(here, params={"after": "nonsense/"}), 422, "invalid-request")
    assert_refused(table.owner.get(here, params={"search": "x" * 256}), 422, "invalid-request")


def test_a_feed_has_the_latest_first_and_escapes_titles(table: Table, viewer: httpx.Client) -> None:
    publish(table, "later", title="<script>&", release=release_of(table))
    feed = ET.fromstring(viewer.get("/v1/figures.atom").content)  # noqa: S314 - our own
    atom = "{http://www.w3.org/2005/Atom}"

    def link_of(entry: ET.Element) -> str:
        return next(each.attrib["href"] for each in entry.iter(f"{atom}link"))

    entries = [
        each for each in feed.findall(f"{atom}entry") if f"/{table.name}/" in link_of(each)
    ]  # besides what other tests made public
    assert [each.findtext(f"{atom}title") for each in entries] == ["<script>&", "Mass <b>"]
    assert entries[0].findtext(f"{atom}updated") == feed.findtext(f"{atom}updated")
    assert viewer.get(link_of(entries[0])).json()["figure"] == "later"
    assert (entries[0].findtext(f"{atom}id") or "").startswith("urn:uuid:")


def test_a_feed_reader_is_sent_only_what_is_new_to_it(table: Table, viewer: httpx.Client) -> None:
    def ask(client: httpx.Client, *known: str) -> httpx.Response:
        return client.get("/v1/figures.atom", headers=[("If-None-Match", each) for each in known])

    first, name = ask(viewer), viewer.get("/v1/figures/reader").json()["name"]
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "private, no-cache"
    for known in ((tag,), (f"W/{tag}",), (f'"other", {tag}',), ('"other"', tag), ("*",)):
        same = ask(viewer, *known)
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag), known
    for unknown in ('"other"', tag.strip('"'), ""):
        assert ask(viewer, unknown).content == first.content
    for change in (
        lambda: publish(table, "later", release=release_of(table)),
        lambda: publish(table, "later", title="Another title", release=release_of(table)),
        lambda: table.owner.delete(f"{table.path}/figures/later"),
        lambda: table.owner.delete(f"{table.path}/viewers/{name}"),
    ):
        assert change().is_success
        changed = ask(viewer, tag)
        assert changed.status_code == 200
        tag = changed.headers["ETag"]
    assert ask(table.owner, tag).status_code == 200


def test_a_feed_without_a_key_is_another_one(service: Service, table: Table) -> None:
    publish(table, "open", release=release_of(table), **PUBLIC)
    found = service.stranger.get("/v1/figures.atom")
    assert (found.headers["Cache-Control"], found.headers["Vary"]) == ("private, no-cache", "Authorization")
    known = {"If-None-Match": found.headers["ETag"]}
    assert service.stranger.get("/v1/figures.atom", headers=known).status_code == 304
    assert table.owner.get("/v1/figures.atom", headers=known).status_code == 200


def test_no_link_follows_the_address_that_a_caller_names(service: Service, table: Table) -> None:
    publish(table, "open", release=release_of(table), **PUBLIC)
    elsewhere = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher"}
    for path in ("/v1/figures.atom", f"/figures/{table.name}/open", f"/v1/figures?limit=1&search={table.name}"):
        found = service.stranger.get(path, headers=elsewhere)
        assert found.status_code == 200, path
        assert "evil.example" not in f"{found.text}{found.headers}", path
    assert f'href="/v1/datasets/{table.name}/figures/open"' in service.stranger.get("/v1/figures.atom").text


@pytest.mark.slow
def test_links_of_the_feed_have_the_configured_address(tmp_path: Path) -> None:
    url = "https://stats.example.org"
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", PUBLIC_URL=url) as service:
        made = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
        publish(made, "open", release=made.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"], **PUBLIC)
        feed = service.stranger.get("/v1/figures.atom").text
        assert f'href="{url}/v1/datasets/{made.name}/figures/open"' in feed
        assert f'rel="self" href="{url}/v1/figures.atom"' in feed


@pytest.mark.parametrize("changed", ["public_from", "name", "viewer"])
def test_what_was_changed_in_the_database_is_not_shown(
    service: Service, table: Table, viewer: httpx.Client, changed: str
) -> None:
    database = Database(service.database_url)
    of_table = select(datasets.c.id).where(datasets.c.name == table.name).scalar_subquery()
    changes = {
        "viewer": update(viewers).where(viewers.c.dataset_id == of_table).values(granted_at="2020-01-01T00:00:00Z"),
        "public_from": update(figures).where(figures.c.dataset_id == of_table).values(public_from=1),
        "name": update(figures).where(figures.c.dataset_id == of_table).values(name="other"),
    }
    with database.write() as transaction:
        transaction.change(changes[changed])
        transaction.commit()
    database.close()
    name = "other" if changed == "name" else "mass"
    assert read(table, viewer, name).status_code == 503
    assert names(table.owner, f"{table.path}/figures") == ([f"{table.name}/mass"] if changed == "viewer" else [])
    problems = table.owner.get(f"{table.path}/ledger/verification").json()["problems"]
    assert any("was changed after it was sealed" in each["what"] for each in problems)
