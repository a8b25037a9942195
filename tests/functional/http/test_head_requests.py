"""`HEAD` answers as `GET` does, without the body, on every route that answers `GET`."""

from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from openapi_contract import service_contract
from service_world import X_COLUMNS, Service, Table, key_of, numbers_csv

from app.config import Settings
from app.main import create_app

DOCUMENT = service_contract().document
OF_THE_INTERFACE = sorted(path for path, operations in DOCUMENT["paths"].items() if "get" in operations)
PAGES = ["/", "/docs", "/guide", "/openapi.json"]
OF_A_FIGURE, BOARD = "/figures/{dataset}/{figure}", "/collections/{name}"
CHART = "/figures/{dataset}/{figure}/charts/{picture}"
IN_FOLDERS = [
    "/docs/assets/swagger-ui.css",
    "/guide/",
    "/guide/none.html",
    "/problems/stale",
    "/problems/none",
    "/web/main.js",
    "/web/vendor/d3-shape.min.js",
    "/web/none.js",
]
OF_THE_MOMENT = {"date", "x-request-id"}


@pytest.fixture(scope="module")
def table(running) -> Table:
    service: Service = running("sqlite")
    return service.table(X_COLUMNS, numbers_csv(20))


@pytest.fixture(scope="module")
def client(table: Table) -> Iterator[httpx.Client]:
    """Somebody whose answers are not held against the OpenAPI document, which does not mention HEAD."""
    with httpx.Client(base_url=table.service.url, headers={"Accept-Encoding": "identity"}) as client:
        yield client


def asked(client: httpx.Client, method: str, path: str, key: str | None) -> httpx.Response:
    return client.request(method, path, headers={} if key is None else {"Authorization": f"Bearer {key}"})


def assert_same_but_the_body(client: httpx.Client, path: str, key: str | None = None) -> int:
    get, head = (asked(client, method, path, key) for method in ("GET", "HEAD"))
    assert (head.status_code, head.content) == (get.status_code, b""), path
    told = {name: value for name, value in get.headers.items() if name not in OF_THE_MOMENT}
    assert {name: value for name, value in head.headers.items() if name not in OF_THE_MOMENT} == told, path
    assert head.headers.get("content-length") == str(len(get.content)), path
    return get.status_code


def test_all_routes_are_tried_here() -> None:
    routes = list(iter_route_contexts(create_app(Settings()).routes))
    answering = {route.path_format for route in routes if "GET" in (route.methods or ())}
    assert answering == {*OF_THE_INTERFACE, *PAGES, OF_A_FIGURE, CHART, BOARD, "/problems/{slug}"}


@pytest.mark.parametrize("path", OF_THE_INTERFACE)
def test_a_route_of_the_interface(table: Table, client: httpx.Client, path: str) -> None:
    release = table.release({"kind": "mean", "column": "x"}, epsilon="0.1").json()["id"]
    asked_for = {"epsilon": 1, "reason": "more"}  # the same request, as long as nobody has answered it
    request = table.analyst.post(f"{table.path}/budget-requests", json=asked_for).json()["id"]
    name = table.analyst_name if path.startswith("/v1/principals") else table.name
    ids = {"principal": table.analyst_name, "number": 1, "release_id": release, "request_id": request}
    ids |= {"figure": "mass", "version": 1, "report": "monthly"}
    if "figures" in path:
        table.owner.put(f"{table.path}/figures/mass", json={"title": "Mass", "release": release})
    if "reports" in path:
        items = [{"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.5"}]
        report = {"batch": {"items": items}, "figures": [{"figure": "mass", "title": "Mass", "items": [0]}]}
        report |= {"epsilon_per_run": "0.5", "epsilon_total": "0.5"}
        assert table.analyst.put(f"{table.path}/reports/monthly", json=report).is_success
    if "collections" in path:
        table.owner.put(f"{table.path}/figures/mass", json={"title": "Mass", "release": release})
        board = {"title": "Board", "figures": [{"dataset": table.name, "figure": "mass"}]}
        assert table.owner.put(f"/v1/collections/{name}", json=board).is_success
        ids["principal"], _ = table.service.principal("viewer")
        table.owner.put(f"/v1/collections/{name}/viewers/{ids['principal']}")
    elif "viewers" in path:
        ids["principal"], _ = table.service.principal("viewer")
        table.owner.put(f"{table.path}/viewers/{ids['principal']}")
    filled = path.format(name=name, **ids)
    # Counts rise with each request; the metrics that anybody sees are as long as before, but for their digits.
    if path == "/metrics":
        head = asked(client, "HEAD", filled, None)
        assert (head.status_code, head.content) == (200, b"")
        assert int(head.headers["content-length"]) > 1000
        return
    assert assert_same_but_the_body(client, filled, table.service.admin_key) == 200
    if DOCUMENT["paths"][path]["get"]["security"] == [{"key": []}]:
        assert assert_same_but_the_body(client, filled) == 401
    if "{" in path:
        nothing = dict.fromkeys(("principal", "name", "number", "figure", "version", "report"), "none-such")
        of_nobody = path.format(**dict.fromkeys(ids, "01890000-0000-7000-8000-000000000000") | nothing)
        assert assert_same_but_the_body(client, of_nobody, table.service.admin_key) == 404


@pytest.mark.parametrize("path", [*PAGES, *IN_FOLDERS])
def test_a_page_or_a_file(client: httpx.Client, path: str) -> None:
    status = assert_same_but_the_body(client, path)
    assert status == (404 if "none" in path else 307 if path == "/guide" else 200) or path.startswith("/guide")


def test_the_page_of_a_figure(table: Table, client: httpx.Client) -> None:
    release = table.release({"kind": "mean", "column": "x"}, epsilon="0.1").json()["id"]
    figure = {"title": "Mass", "release": release, "audience": "public", "confirm_public": True}
    assert table.owner.put(f"{table.path}/figures/open", json=figure).is_success
    assert assert_same_but_the_body(client, OF_A_FIGURE.format(dataset=table.name, figure="open")) == 200
    for picture, status in (("1.svg", 200), ("9.svg", 401), ("1", 404), ("1.png", 404), ("x.svg", 404)):
        chart = CHART.format(dataset=table.name, figure="open", picture=picture)
        assert assert_same_but_the_body(client, chart) == status
    assert_same_but_the_body(client, OF_A_FIGURE.format(dataset=table.name, figure="none"))  # a sign-in, or nothing
    members = [{"dataset": table.name, "figure": "open"}]
    board = {"title": "Board", "figures": members, "audience": "public", "confirm_public": True}
    assert table.owner.put("/v1/collections/open-board", json=board).is_success
    assert assert_same_but_the_body(client, BOARD.format(name="open-board")) == 200
    assert_same_but_the_body(client, BOARD.format(name="none"))


def test_what_answers_no_get_answers_no_head(table: Table, client: httpx.Client) -> None:
    path = f"{table.path}/plan"
    assert assert_same_but_the_body(client, path, key_of(table.analyst)) == 405
    assert asked(client, "HEAD", path, key_of(table.analyst)).headers["allow"] == "POST"
    assert client.post("/healthz").headers["allow"] == "GET, HEAD"


def test_the_interface_is_described_without_it() -> None:
    assert not [path for path, operations in DOCUMENT["paths"].items() if "head" in operations]
