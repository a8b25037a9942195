"""What strangers and viewers try: other routes, headers of any size, shared caches, pictures, and formulas."""

import csv
import io
import threading
from typing import Any
from unittest.mock import Mock

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from raw_http import line
from service_world import Service, Table, becomes, key_of

from app.errors import OverloadedError
from app.services.access import KeyDigest
from app.services.figures.display import rendered_forms
from app.services.figures.display.rendered_forms import render_once
from app.services.figures.figure_rows import Row
from app.services.figures.formats import Form, guard_formula, render_rows
from app.services.releasing.bulkhead import PICTURES

COLUMNS = {"mass": {"kind": "integer", "bounds": [0, 100], "nullable": False}}
CONTENT = b"mass\n" + b"".join(b"%d\n" % (i % 101) for i in range(200))
FORMULAS = ["=1", "+cmd|x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1", "－1", "＠1"]


@pytest.fixture
def table(service: Service) -> Table:
    """A table with the figures `mass` for viewers and `open` for everybody."""
    made = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
    body = {"title": "Mass", "release": made.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]}
    for name, more in (("mass", {}), ("open", {"audience": "public", "confirm_public": True})):
        assert made.owner.put(f"{made.path}/figures/{name}", json=body | more).status_code == 201
    return made


@pytest.fixture
def viewer(service: Service, table: Table) -> httpx.Client:
    """A viewer of the table's figures."""
    name, client = service.principal("viewer")
    assert table.owner.put(f"{table.path}/viewers/{name}").status_code == 201
    return client


def unchecked(service: Service, client: httpx.Client | None = None) -> httpx.Client:
    """A client, for what the OpenAPI document does not describe."""
    headers = {} if client is None else {"Authorization": client.headers["Authorization"]}
    made = httpx.Client(base_url=service.url, headers=headers, timeout=60)
    service.clients.append(made)
    return made


def test_no_spelling_of_a_path_shows_a_viewer_more_than_figures(
    service: Service, table: Table, viewer: httpx.Client
) -> None:
    name, path = table.name, table.path
    targets = [
        *(f"{path}/figures/../budget", f"{path}/figures/%2e%2e/budget", f"{path}/figures%2F..%2Fbudget"),
        *(f"{path}%2Fbudget", f"{path}/budget.json", f"{path}/budget.csv", f"{path}/budget/", f"{path}/budget/figures"),
        *(f"/figures/../v1/datasets/{name}/budget", f"/figures/%2e%2e/v1/datasets/{name}"),
        *(f"/figures/{name}/../../v1/me", f"{path}/figures/mass/../../ledger", f"{path}/ledger.atom"),
        *("/v1/figures/../me", "/v1/figures/%2e%2e/me", "/v1/me;/figures", "/v1/me?/figures", "/v1/me%00/figures"),
        *(f"//v1/datasets/{name}/budget", f"/V1/datasets/{name}/budget", f"/v1//datasets/{name}/budget"),
        *(f"{path}.json", "/v1/datasets.json", "/v1/audit.csv", "/metrics"),
        *(f"http://{name}/v1/me", f"{path}/viewers", f"{path}/viewers.json"),
    ]
    head = f"Host: x\r\nAuthorization: Bearer {key_of(viewer)}\r\nConnection: close\r\n\r\n"
    for target in targets:
        for method in ("GET", "HEAD", "get", "POST", "DELETE", "OPTIONS", "QUERY"):
            with line(service) as opened:
                opened.send(f"{method} {target} HTTP/1.1\r\n{head}".encode())
                answer = opened.rest()
            status = int(answer[9:12])
            assert status in {400, 401, 403, 404, 405}, (method, target, answer)
    for method in ("get", "Get", "PUT", "PATCH", "DELETE", "OPTIONS"):
        with line(service) as opened:
            opened.send(f"{method} {path}/figures/mass HTTP/1.1\r\n{head}".encode())
            assert int(opened.rest()[9:12]) in {400, 403, 405}, method


def test_headers_of_any_size_are_read_or_refused(service: Service, table: Table) -> None:
    path = f"{table.path}/figures/open"
    tag = service.stranger.get(path).headers["ETag"]
    many = ", ".join(f'"{number:032x}"' for number in range(800))
    assert service.stranger.get(path, headers={"If-None-Match": many}).status_code == 200
    assert service.stranger.get(path, headers={"If-None-Match": f"{many}, {tag}"}).status_code == 304
    weights = ",".join(f"a/b;q=0.{number}" for number in range(2_000))
    assert (
        service.stranger.get(path, headers={"Accept": f"text/csv,{weights}"}).headers["Content-Type"][:8] == "text/csv"
    )
    for odd in ("*/*;q=nan", ";;;,,,", "text/csv;q=", "a" * 20_000, "text/csv;q=1e999", "/;q=-1"):
        assert service.stranger.get(path, headers={"Accept": odd}).status_code in {200, 406}, odd
    anybody = unchecked(service)
    for name in ("Accept", "If-None-Match", "If-Modified-Since"):
        try:
            status = anybody.get(path, headers={name: "x," * 2**19}).status_code
        except httpx.TransportError:  # closed while the client still wrote
            continue
        assert status in {400, 431}, name
    part = service.stranger.get(f"{path}.csv", headers={"Range": "bytes=0-3", "If-Range": tag})
    assert (part.status_code, part.content) == (200, service.stranger.get(f"{path}.csv").content)


def test_a_shared_cache_repeats_nothing_that_its_next_caller_may_not_see(
    service: Service, table: Table, viewer: httpx.Client
) -> None:
    def is_kept(answer: httpx.Response) -> bool:
        rules = answer.headers["Cache-Control"]
        return "private" not in rules and "no-store" not in rules

    addresses = [f"{table.path}/figures/{{}}{rest}" for rest in ("", ".csv", ".parquet", "/versions/1", "/versions")]
    addresses += [f"/figures/{table.name}/{{}}{rest}" for rest in ("", ".svg", ".png", "/charts/1.svg")]
    owner = unchecked(service, table.owner)
    for address in addresses:
        for client in (unchecked(service), unchecked(service, viewer), owner):
            for method in ("GET", "HEAD"):
                closed = client.request(method, address.format("mass"))
                assert not is_kept(closed), address
                assert closed.headers["Cross-Origin-Resource-Policy"] == "same-site"
                shown = client.request(method, address.format("open"))
                if is_kept(shown):
                    assert "Authorization" in shown.headers["Vary"]
                    assert client is not owner
                    assert shown.content in {b"", service.stranger.get(address.format("open")).content}
    for path in ("/v1/figures", "/v1/figures.atom", f"{table.path}/figures"):
        assert not is_kept(service.stranger.get(path))


def test_pictures_are_drawn_one_by_one_and_one_caller_takes_half_of_the_places() -> None:
    """Whoever reads public figures could otherwise keep all threads busy."""
    started, go_on = threading.Semaphore(0), threading.Event()

    def draw() -> bytes:
        started.release()
        assert go_on.wait(60)
        return b"drawn"

    def ask(key: str, caller: KeyDigest | None = None, form: str = "png") -> bytes:
        opened = Mock()
        opened.tag.return_value = f"{key} {form}"
        return render_once(opened, form, caller, draw)

    with PICTURES.enter(None):
        waiting = [threading.Thread(target=ask, args=(f"{number}",)) for number in range(5)]
        for each in waiting:
            each.start()
        assert becomes(lambda: PICTURES._places[None] == 6)
        with pytest.raises(OverloadedError):
            ask("one more")
        assert not started.acquire(blocking=False)
        go_on.set()
        assert ask("a chart", form="svg") == b"drawn"
    for each in waiting:
        each.join()
    assert ask("0") == b"drawn"


def row(**texts: Any) -> dict[str, Any]:
    plain = Row(
        *("mean", "mass", None, "mean", None, None, -1.5, None, -2.5, -0.5, 0.05, "g", "1", "2026-01-31T12:00:00Z"),
        *(None, None, ""),
    )
    return plain._replace(**texts)._asdict()


@pytest.mark.parametrize("member", ["measure", "columns", "group", "label", "unit", "conditions"])
def test_no_text_is_a_formula_and_every_number_is_one(member: str) -> None:
    texts = [*FORMULAS, *(f"a;{each}" for each in FORMULAS if each[0] not in "\t\r\n "), 'say "=1", or\n=1']
    rows = [row(**{member: text}) for text in texts]
    read = list(csv.DictReader(io.StringIO(render_rows(rows, Form.CSV).decode(), newline="")))
    assert [each[member].replace("'", "") for each in read] == texts
    for each in read:
        for cell in each[member].replace("\n", ";").split(";"):
            assert not cell.strip().startswith(tuple("=+-@＝＋－＠")), each[member]
        assert [each[name] for name in ("value", "interval_lower", "interval_upper")] == ["-1.5", "-2.5", "-0.5"]
    for number in ("-5", "+5", "-1.5e-3", "0.95"):
        assert guard_formula(number) == number


def test_files_have_texts_as_they_are_and_nothing_else() -> None:
    rows = [row(label=text) for text in FORMULAS]
    arrow = pa.ipc.open_stream(render_rows(rows, Form.ARROW)).read_all()
    parquet = pq.ParquetFile(io.BytesIO(render_rows(rows, Form.PARQUET)))
    assert arrow["label"].to_pylist() == parquet.read()["label"].to_pylist() == FORMULAS
    assert arrow.schema.metadata is None
    assert set(parquet.metadata.metadata or ()) <= {b"ARROW:schema"}
    assert all(field.metadata is None for field in arrow.schema)


def test_pictures_take_at_most_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that draws them keeps the interpreter's lock."""
    clock, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    def draw() -> bytes:
        clock[0] += 2
        return b""

    monkeypatch.setattr(rendered_forms, "time", Mock(sleep=sleep, monotonic=lambda: clock[0]))
    pace = rendered_forms._Pace()
    for _ in range(3):
        pace.draw(draw)
    assert slept == [0, 2, 2]
