"""Who may see each version of a figure, what is left of a withdrawn one, and who is told who published it."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from lengths import ON_POSTGRES_SLOWLY
from service_world import Service, Table, serving
from sqlalchemy import create_engine, select, text
from tampering import keyring_of

from app.config import Settings
from app.db import tables
from app.db.database import Database
from app.db.schema_migration import migrate_down
from app.ledger import figure_lists, figures
from app.ledger.figure_lists import FigureListReader, page_of_figures
from app.services import audit_records
from app.services.operations import migrations

COLUMNS = {"mass": {"kind": "integer", "bounds": [0, 100], "nullable": False}}
CONTENT = b"mass\n" + b"".join(b"%d\n" % (i % 101) for i in range(200))
PUBLIC = {"audience": "public", "confirm_public": True}
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, CONTENT, limit="10", allowance="5")


def publish(table: Table, *titles: str, name: str = "mass", **more: Any) -> None:
    """Publish a version for each title."""
    release = table.release({"kind": "mean", "column": "mass"}, epsilon="1").json()["id"]
    for title in titles:
        body = {"title": title, "release": release, **more}
        assert table.owner.put(f"{table.path}/figures/{name}", json=body).status_code in {200, 201}


def shown(table: Table, client: httpx.Client) -> list[int]:
    """The versions that a caller reads one by one, which are those of the list of versions."""
    path = f"{table.path}/figures/mass"
    statuses = {number: client.get(f"{path}/versions/{number}.csv").status_code for number in range(1, 7)}
    assert set(statuses.values()) <= {200, 401, 404}
    found = [number for number, status in statuses.items() if status == 200]
    for order in ("oldest", "newest"):
        listed = client.get(f"{path}/versions", params={"order": order})
        numbers = [each["version"] for each in listed.json().get("versions", ())]
        assert numbers == (found if order == "oldest" else found[::-1])
    latest, page = client.get(path), client.get(f"/figures/{table.name}/mass.svg")
    assert latest.status_code == page.status_code == (200 if found else listed.status_code)
    if found:
        assert latest.json()["version"] == found[-1]
    return found


def test_an_earlier_version_is_shown_to_those_it_was_published_for(service: Service, table: Table) -> None:
    name, viewer = service.principal("viewer")
    table.owner.put(f"{table.path}/viewers/{name}")
    publish(table, "one")
    publish(table, "two", "three", **PUBLIC)
    assert shown(table, service.stranger) == [2, 3]
    assert shown(table, service.principal("viewer")[1]) == [2, 3]
    assert shown(table, viewer) == shown(table, table.owner) == [1, 2, 3]
    listed = table.owner.get(f"{table.path}/figures/mass/versions").json()["versions"]
    assert [each["audience"] for each in listed] == ["viewers", "public", "public"]
    earlier = table.owner.get(f"{table.path}/figures/mass/versions/1")
    assert earlier.headers["Cache-Control"] == "private, no-cache"
    assert earlier.headers["Cross-Origin-Resource-Policy"] == "same-site"
    publish(table, "four")
    assert shown(table, service.stranger) == []
    publish(table, "five", **PUBLIC)
    assert shown(table, service.stranger) == [5]
    assert shown(table, viewer) == [1, 2, 3, 4, 5]


def test_a_withdrawn_version_stays_withdrawn(service: Service, table: Table) -> None:
    publish(table, "one", "two", **PUBLIC)
    assert table.owner.delete(f"{table.path}/figures/mass").status_code == 204
    assert shown(table, service.stranger) == shown(table, table.owner) == []
    publish(table, "two", **PUBLIC)
    assert shown(table, service.stranger) == shown(table, table.owner) == [3]
    assert table.owner.delete(f"{table.path}/figures/mass").status_code == 204
    publish(table, "four")
    assert (shown(table, service.stranger), shown(table, table.owner)) == ([], [4])


def test_only_those_who_see_the_dataset_are_told_who_published(service: Service, table: Table) -> None:
    publish(table, "Mass", **PUBLIC)
    name, viewer = service.principal("viewer")
    table.owner.put(f"{table.path}/viewers/{name}")
    paths = [f"{table.path}/figures/mass{rest}" for rest in ("", ".csv", "/versions", "/versions/1")]
    paths += [f"{table.path}/figures", f"/v1/figures?limit=1000&search={table.name}", "/v1/figures.atom"]
    paths += [f"/figures/{table.name}/mass{rest}" for rest in ("", ".svg")]
    for path in paths:
        for client in (service.stranger, viewer, service.principal("analyst")[1]):
            answer = client.get(path)
            assert answer.status_code == 200, path
            assert table.owner_name not in answer.text, path
    assert service.stranger.get(paths[0]).json()["published_by"] is None
    assert table.analyst.get(paths[0]).json()["published_by"] == table.owner_name
    own = table.owner.get(paths[0])
    assert own.json()["published_by"] == table.owner_name
    assert own.headers["Cache-Control"] == "private, no-cache"  # no shared cache repeats the name to somebody else
    assert own.headers["ETag"] != service.stranger.get(paths[0]).headers["ETag"]
    assert f"published by {table.owner_name}" in table.owner.get(f"/figures/{table.name}/mass").text
    feed = ET.fromstring(table.owner.get("/v1/figures.atom").content)  # noqa: S314 - our own
    assert table.owner_name in {each.text for each in feed.iter(f"{ATOM}name")}
    feed = ET.fromstring(service.stranger.get("/v1/figures.atom").content)  # noqa: S314 - our own
    assert {each.text for each in feed.iter(f"{ATOM}name")} == {"Snapledger"}


def test_a_search_goes_on_behind_what_one_page_looks_at(
    service: Service, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        publish(table, "wanted" if number in {0, 4} else "other", name=f"f{number}", **PUBLIC)
    monkeypatch.setattr(figure_lists, "MAX_SEARCHED", 2)
    database, keyring = Database(service.database_url), keyring_of(service)
    with database.read() as session:
        named = tables.principals.c.name == table.owner_name
        owner = session.row(select(tables.principals.c.id).where(named)).id
        for reader in (FigureListReader(), FigureListReader(owner), FigureListReader(owner, sees_all=True)):
            after: tuple[str, str] | None = (table.name, "")
            found: list[list[str]] = []
            while after is not None and after[0] == table.name:
                page = page_of_figures(session, keyring, reader, after, 100, search="wanted")
                found.append([each.published.figure.name for each in page.listed])
                after = page.following
            assert found[:3] == [["f0"], [], ["f4"]]
    database.close()


@ON_POSTGRES_SLOWLY
def test_figures_of_the_version_before_show_no_more_than_is_known_to_be_meant(
    tmp_path: Path, database_url: str
) -> None:
    with serving(tmp_path, database_url) as service:
        table = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
        publish(table, "one", "two", name="seen")
        publish(table, "one", name="opened")
        publish(table, "two", "three", name="opened", **PUBLIC)
        publish(table, "one", name="gone")
        publish(table, "one", "two", name="back")
        publish(table, "one", name="forged")
        for name in ("gone", "back"):
            assert table.owner.delete(f"{table.path}/figures/{name}").status_code == 204
        publish(table, "three", name="back")
        keyring = keyring_of(service)
    database = Database(database_url)
    migrate_down(database, "0008")
    with database.write() as transaction:
        old = "SELECT id, dataset_id, name, version, audience, withdrawn_at FROM figures"
        for row in transaction.connection.execute(text(old)).all():
            sealed = {"id": row.id, "seal": keyring.seal.seal_row("snapledger-figure-v1", *row)}
            transaction.connection.execute(text("UPDATE figures SET seal = :seal WHERE id = :id"), sealed)
        transaction.connection.execute(text("UPDATE figures SET audience = 'public' WHERE name = 'forged'"))
        transaction.commit()
    settings = Settings(database_url=database_url, data_dir=service.data)
    migrations.migrate(settings, database, audit_records.SERVICE)
    with database.read() as session:
        listed = [figures.published_of_row(row) for row in session.rows(figures.LATEST)]
    database.close()
    sealed_now = [each.figure for each in listed if figures.is_sealed(keyring, each)]
    found = {each.name: (each.first_version, each.public_from) for each in sealed_now}
    assert found == {"seen": (1, None), "opened": (1, 3), "gone": (2, None), "back": (3, None)}


def test_a_list_reads_an_index_in_its_order() -> None:
    """So that it reads as many rows as it shows, and one without a key reads no others. Without a window, no sort."""
    engine = create_engine("sqlite://")
    tables.metadata.create_all(engine)
    with engine.connect() as connection:
        for order, index in ((figure_lists._BY_NAME, "by_name"), (figure_lists._BY_TIME, "by_time")):
            for conditions, kind in (((), ""), ((figure_lists._IS_PUBLIC,), "public_")):
                window = figure_lists._window(order, *conditions).compile(engine)
                asked = f"EXPLAIN QUERY PLAN {window}", (1,) * len(window.positiontup or ())
                (told,) = [row[-1] for row in connection.exec_driver_sql(*asked)]
                assert f" INDEX ix_figures_{kind}{index}" in told
    engine.dispose()
