"""Thousands of polls of figures in all forms leave the ledger, every account and all spending as they were."""

import http.client
import itertools
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from service_world import Service, Table, key_of, serving
from sqlalchemy import select

from app.db.database import Database
from app.db.tables import metadata, verifications

COLUMNS = {
    "mass": {"kind": "integer", "bounds": [0, 100], "unit": "g", "nullable": False},
    "kind": {"kind": "category", "categories": ["cat", "dog"], "nullable": False},
}
CONTENT = b"mass,kind\n" + b"".join(b"%d,%s\n" % (i % 101, [b"cat", b"dog"][i % 2]) for i in range(200))
CLIENTS, POLLS = 50, 10_000
FORMS = ("", ".json", ".csv", ".arrow", ".parquet")
ACCEPTED = ("text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet")


def fill(service: Service) -> Table:
    """A table with a figure for its readers and one for everybody, of two versions each, and a viewer."""
    table = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
    statistics: list[dict[str, Any]] = [{"kind": "mean", "column": "mass"}, {"kind": "histogram", "column": "kind"}]
    releases = [table.fresh(each, epsilon="1")["id"] for each in statistics]
    public = {"audience": "public", "confirm_public": True}
    for name, more in (("closed", {}), ("open", public)):
        for release in releases:
            body = {"title": name, "release": release, **more}
            assert table.owner.put(f"{table.path}/figures/{name}", json=body).is_success
    return table


def paths(table: Table, figure: str) -> list[tuple[str, dict[str, str]]]:
    """Every way to read a figure, with its headers."""
    of_figure, page = f"{table.path}/figures/{figure}", f"/figures/{table.name}/{figure}"
    addresses = [f"{each}{form}" for each in (of_figure, f"{of_figure}/versions/1") for form in FORMS]
    addresses += [f"{page}{suffix}" for suffix in ("", ".svg", ".png")]
    addresses += [f"{of_figure}/versions", f"{table.path}/figures", "/v1/figures", "/v1/figures?search=open"]
    addresses += ["/v1/figures.atom"]
    return [(each, {}) for each in addresses] + [(of_figure, {"Accept": media_type}) for media_type in ACCEPTED]


def polls(table: Table, viewer_key: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Requests without end, in all forms, with every kind of key and with none."""
    basic = b64encode(f"anybody:{viewer_key}".encode()).decode()
    bearers = [f"Bearer {key}" for key in (viewer_key, *map(key_of, (table.owner, table.analyst, table.service.admin)))]
    closed = [
        (path, {"Authorization": each, **more})
        for each in (*bearers, f"Basic {basic}")
        for path, more in paths(table, "closed")
    ]
    return (
        (method, path, headers)
        for method in itertools.cycle(("GET", "GET", "GET", "HEAD"))
        for path, headers in closed + paths(table, "open")
    )


class _Client:
    """Reads on one connection, and half the time tells which version it has."""

    def __init__(self, service: Service) -> None:
        self._connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=60)
        self._has: dict[tuple[str, ...], tuple[str, bytes]] = {}

    def close(self) -> None:
        self._connection.close()

    def poll(self, turn: int, method: str, path: str, headers: dict[str, str]) -> int:
        asked = path, *headers.values()
        tag, content = self._has.get(asked, ("", b""))
        is_conditional = bool(tag) and turn % 2 == 0
        self._connection.request(method, path, headers=headers | ({"If-None-Match": tag} if is_conditional else {}))
        response = self._connection.getresponse()
        body, found = response.read(), response.getheader("ETag") or ""
        assert response.status == (304 if is_conditional else 200), (path, response.status, body)
        if tag:
            assert found == tag
        if method == "GET" and response.status == 200:
            assert not content or body == content, path
            self._has[asked] = found, body
        return response.status


def state_of(database_url: str) -> dict[str, list[Any]]:
    """All rows of all tables; rounds in the background write verifications at any time."""
    database = Database(database_url)
    with database.read() as session:
        rows = {
            table.name: [tuple(row) for row in session.connection.execute(select(table).order_by(*table.primary_key))]
            for table in metadata.sorted_tables
            if table is not verifications
        }
    database.close()
    return rows


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_polls_change_nothing(tmp_path: Path, database_url: str) -> None:
    with serving(tmp_path, database_url) as service:
        table = fill(service)
        name, viewer = service.principal("viewer")
        assert table.owner.put(f"{table.path}/viewers/{name}").status_code == 201
        told = [f"{table.path}/ledger", f"{table.path}/budget", f"{table.path}/allowances/{table.analyst_name}"]
        answers = [table.owner.get(each).json() for each in told]
        before, scans = state_of(database_url), service.scans()
        asked = list(itertools.islice(polls(table, key_of(viewer)), POLLS))

        def run(number: int) -> Counter[int]:
            mine = asked[number::CLIENTS]
            with closing(_Client(service)) as client:
                return Counter(client.poll(turn, *each) for turn, each in enumerate(mine))

        with ThreadPoolExecutor(CLIENTS) as pool:
            statuses = sum(pool.map(run, range(CLIENTS)), Counter[int]())
        assert statuses.total() == POLLS
        assert min(statuses[200], statuses[304]) > POLLS // 20, statuses
        assert state_of(database_url) == before
        assert [table.owner.get(each).json() for each in told] == answers
        assert service.scans() == scans
        assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]
