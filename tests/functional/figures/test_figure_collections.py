"""Collections: figures of several datasets under a name. Their viewers see what is in them now, and nothing else."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import Service, Table, a_name
from sqlalchemy import ColumnElement, Executable, Row, delete, insert, select, update
from sqlalchemy import Table as SqlTable

from app.db import tables
from app.db.database import Database
from app.db.session import Session

COLUMNS = {"mass": {"kind": "integer", "bounds": [0, 100], "nullable": False}}
CONTENT = b"mass\n" + b"".join(b"%d\n" % (i % 101) for i in range(200))
PUBLIC = {"audience": "public", "confirm_public": True}


def assert_refused(found: httpx.Response, status: int, slug: str) -> None:
    assert (found.status_code, found.json()["type"]) == (status, f"/problems/{slug}"), found.text


def publish(table: Table, name: str, **more: Any) -> None:
    release = table.fresh({"kind": "mean", "column": "mass"}, epsilon="0.1")["id"]
    body = {"title": f"Title of {name}", "release": release, **more}
    assert table.owner.put(f"{table.path}/figures/{name}", json=body).status_code in {200, 201}


def members(*names: str) -> list[dict[str, str]]:
    return [dict(zip(("dataset", "figure"), each.split("/"), strict=True)) for each in names]


class World:
    """A table with the figures `mass` and `other`, another one of the same owner with `far`, and a collection."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.table = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
        publish(self.table, "mass")
        publish(self.table, "other")
        self.owner, self.name = self.table.owner, a_name("board")
        self.path = f"/v1/collections/{self.name}"
        far_name = a_name("far")
        metadata = {"name": far_name, "epsilon_limit": "10", "columns": COLUMNS}
        assert service.upload(self.owner, metadata, CONTENT).status_code == 201
        assert (
            self.owner.put(
                f"/v1/datasets/{far_name}/allowances/{self.table.owner_name}", json={"epsilon_limit": 5}
            ).status_code
            == 201
        )
        asked = {"statistic": {"kind": "mean", "column": "mass"}, "epsilon": "0.1"}
        release = self.owner.post(f"/v1/datasets/{far_name}/releases", json=asked).json()["id"]
        figure = {"title": "Far", "release": release}
        assert self.owner.put(f"/v1/datasets/{far_name}/figures/far", json=figure).status_code == 201
        self.mass, self.other, self.far = f"{self.table.name}/mass", f"{self.table.name}/other", f"{far_name}/far"
        self.viewer_name, self.viewer = service.principal("viewer")

    def put(self, *names: str, client: httpx.Client | None = None, **more: Any) -> httpx.Response:
        headers = more.pop("headers", None)
        body = {"title": "Board", "figures": members(*names), **more}
        return (client or self.owner).put(self.path, json=body, headers=headers)

    def grant(self, client: httpx.Client | None = None) -> httpx.Response:
        return (client or self.owner).put(f"{self.path}/viewers/{self.viewer_name}")

    def shown(self, client: httpx.Client) -> list[str]:
        found = client.get(self.path)
        assert found.status_code == 200, found.text
        return [f"{each['dataset']}/{each['figure']}" for each in found.json()["figures"]]

    def listed(self, client: httpx.Client) -> set[str]:
        found = client.get("/v1/figures", params={"limit": 1000}).json()["figures"]
        return {f"{each['dataset']}/{each['figure']}" for each in found} & {self.mass, self.other, self.far}

    def opens(self, client: httpx.Client, name: str) -> int:
        dataset, figure = name.split("/")
        return client.get(f"/v1/datasets/{dataset}/figures/{figure}").status_code


@pytest.fixture
def world(service: Service) -> World:
    return World(service)


def test_a_collection_is_made_changed_and_deleted(world: World) -> None:
    made = world.put(world.far, world.mass, note="Both.")
    assert (made.status_code, made.headers["Location"]) == (201, world.path)
    assert made.json() == world.owner.get(world.path).json()
    assert [each["title"] for each in made.json()["figures"]] == ["Far", "Title of mass"]
    told = {name: made.json()[name] for name in ("name", "title", "note", "audience", "owner")}
    assert told == {
        "name": world.name,
        "title": "Board",
        "note": "Both.",
        "audience": "viewers",
        "owner": world.table.owner_name,
    }
    again = world.put(world.far, world.mass, note="Both.")
    assert (again.status_code, again.json()) == (200, made.json())
    changed = world.put(world.mass, world.far)
    assert (changed.status_code, changed.json()["note"]) == (200, None)
    assert world.shown(world.owner) == [world.mass, world.far]
    assert world.owner.delete(world.path).status_code == 204
    assert_refused(world.owner.get(world.path), 404, "not-found")
    assert_refused(world.owner.delete(world.path), 404, "not-found")
    acts = [
        (each["action"], each["details"].get("figures"))
        for each in world.service.admin.get("/v1/audit", params={"order": "newest", "limit": 50}).json()["records"]
        if each["target"] == f"collections/{world.name}"
    ]
    assert acts == [
        ("collection.delete", None),
        ("collection.put", f"{world.mass} {world.far}"),
        ("collection.put", f"{world.far} {world.mass}"),
    ]
    assert world.service.admin.get("/v1/audit/verification").json()["problems"] == []


def test_its_entity_tag_changes_with_each_member(world: World) -> None:
    world.put(world.mass, world.far)
    first = world.owner.get(world.path)
    tag = first.headers["ETag"]
    known = world.owner.get(world.path, headers={"If-None-Match": tag})
    assert (known.status_code, known.content, known.headers["ETag"]) == (304, b"", tag)
    publish(world.table, "other")
    assert world.owner.get(world.path).headers["ETag"] == tag
    publish(world.table, "mass")
    assert world.owner.get(world.path, headers={"If-None-Match": tag}).status_code == 200
    assert_refused(world.put(world.far, headers={"If-Match": tag}), 412, "precondition-failed")
    assert_refused(world.owner.delete(world.path, headers={"If-Match": tag}), 412, "precondition-failed")
    tag = world.owner.get(world.path).headers["ETag"]
    assert world.put(world.far, headers={"If-Match": tag}).status_code == 200
    assert world.owner.delete(world.path, headers={"If-Match": "*"}).status_code == 204
    assert_refused(world.put(world.far, headers={"If-Match": "*"}), 412, "precondition-failed")


def test_a_viewer_sees_what_is_in_it_now_and_nothing_else(world: World) -> None:
    world.put(world.mass, world.far)
    assert_refused(world.viewer.get(world.path), 404, "not-found")
    assert world.listed(world.viewer) == set()
    made, again = world.grant(), world.grant()
    assert (made.status_code, again.status_code) == (201, 204)
    assert world.owner.get(made.headers["Location"]).json() == made.json()
    assert [each["name"] for each in world.owner.get(f"{world.path}/viewers").json()["viewers"]] == [world.viewer_name]
    assert world.shown(world.viewer) == [world.mass, world.far]
    assert world.listed(world.viewer) == {world.mass, world.far}
    assert [world.opens(world.viewer, each) for each in (world.mass, world.far, world.other)] == [200, 200, 404]
    of_table = world.viewer.get(f"{world.table.path}/figures").json()["figures"]
    assert [each["figure"] for each in of_table] == ["mass"]
    assert "Title of mass" in world.viewer.get("/v1/figures.atom").text
    assert world.viewer.get(world.table.path).status_code == 403
    assert world.viewer.get(f"{world.path}/viewers").status_code == 403
    world.put(world.far, world.other)
    assert world.shown(world.viewer) == [world.far, world.other]
    assert world.listed(world.viewer) == {world.far, world.other}
    assert [world.opens(world.viewer, each) for each in (world.mass, world.other)] == [404, 200]
    gone = f"{world.path}/viewers/{world.viewer_name}"
    assert world.owner.delete(gone).status_code == 204
    assert_refused(world.owner.delete(gone), 404, "not-found")
    assert_refused(world.viewer.get(world.path), 404, "not-found")
    assert (world.listed(world.viewer), world.opens(world.viewer, world.far)) == (set(), 404)
    assert_refused(world.viewer.get(f"{world.table.path}/figures"), 404, "not-found")
    world.grant()
    world.owner.delete(world.path)
    world.put(world.mass)
    assert_refused(world.viewer.get(world.path), 404, "not-found")  # whatever was granted on the one before it


def test_only_owners_of_its_figures_and_admins_compose_and_grant(service: Service, world: World) -> None:
    other = World(service)
    for named in (other.mass, f"{world.table.name}/no-such", "no-such/mass"):
        refused = world.put(world.mass, named)
        assert_refused(refused, 422, "invalid-request")
        assert refused.json()["errors"] == [
            {"where": "figures.1", "what": "must be a published figure of a dataset that you own"}
        ]
    assert world.owner.get(world.path).status_code == 404
    world.put(world.mass)
    assert_refused(world.put(other.mass, client=other.owner), 409, "name-taken")
    assert_refused(other.owner.delete(world.path), 404, "not-found")
    assert_refused(other.owner.put(f"{world.path}/viewers/{world.viewer_name}"), 404, "not-found")
    assert_refused(other.owner.get(f"{world.path}/viewers"), 404, "not-found")
    assert_refused(world.put(world.mass, client=world.table.analyst), 403, "forbidden")
    assert world.put(world.mass, other.mass, client=service.admin).status_code == 200
    assert world.owner.get(world.path).json()["owner"] == world.table.owner_name
    assert world.shown(world.owner) == [world.mass]  # no figure that the reader could not open without it
    assert_refused(world.grant(), 403, "forbidden")
    assert_refused(world.put(world.mass, other.mass), 422, "invalid-request")
    assert world.grant(service.admin).status_code == 201
    assert world.shown(world.viewer) == [world.mass, other.mass]
    other_name, colleague = service.principal("owner")
    assert service.admin.put(f"{world.path}/viewers/{other_name}").status_code == 201
    assert_refused(colleague.delete(world.path), 403, "forbidden")
    assert_refused(colleague.get(f"{world.path}/viewers"), 403, "forbidden")
    assert_refused(world.owner.put(f"{world.path}/viewers/nobody-at-all"), 404, "not-found")


def test_a_public_collection_shows_public_figures_without_a_key(service: Service, world: World) -> None:
    publish(world.table, "open", **PUBLIC)
    opened = f"{world.table.name}/open"
    assert_refused(world.put(world.mass, opened, audience="public"), 422, "invalid-request")
    world.put(world.mass, opened)
    assert_refused(service.stranger.get(world.path), 401, "unauthenticated")
    assert world.put(world.mass, opened, **PUBLIC).status_code == 200
    found = service.stranger.get(world.path)
    assert [each["figure"] for each in found.json()["figures"]] == ["open"]
    assert (found.headers["Cache-Control"], found.headers["Vary"]) == ("public, max-age=60", "Authorization")
    assert world.shown(world.owner) == [world.mass, opened]
    assert world.owner.get(world.path).headers["Cache-Control"] == "private, no-cache"
    assert world.shown(world.viewer) == [opened]
    assert [each.get(world.path).json()["owner"] for each in (service.stranger, world.viewer)] == [None, None]
    assert world.opens(world.viewer, world.mass) == 404
    names = [each["name"] for each in service.stranger.get("/v1/collections").json()["collections"]]
    assert world.name in names
    assert_refused(service.stranger.get(f"{world.path}/viewers"), 401, "unauthenticated")
    assert_refused(service.stranger.put(world.path, json={}), 401, "unauthenticated")


def test_a_withdrawn_figure_leaves_a_place_without_its_title(world: World) -> None:
    world.put(world.mass, world.other)
    world.grant()
    tag = world.viewer.get(world.path).headers["ETag"]
    assert world.owner.delete(f"{world.table.path}/figures/mass").status_code == 204
    found = world.viewer.get(world.path, headers={"If-None-Match": tag})
    assert found.json()["figures"][0] == {
        **dict.fromkeys(("dataset", "figure", "version", "title", "note", "published_at")),
        "withdrawn": True,
    }
    assert found.json()["figures"][1]["figure"] == "other"
    assert "mass" not in found.text
    own = world.owner.get(world.path).json()["figures"][0]
    assert (own["figure"], own["title"], own["withdrawn"]) == ("mass", None, True)
    assert world.put(world.mass, world.other, title="Again").status_code == 200  # it may stay
    world.put(world.other)
    assert_refused(world.put(world.mass), 422, "invalid-request")
    world.put(world.other)
    publish(world.table, "mass")
    assert world.put(world.mass).status_code == 200


def test_collections_are_found_by_name_and_title(world: World) -> None:
    names = sorted(a_name("list") for _ in range(3))
    for place, name in enumerate(names):
        body = {"title": f"{world.name} 100 % {'ABC'[place]}", "figures": members(world.mass)}
        assert world.owner.put(f"/v1/collections/{name}", json=body).status_code == 201

    def listed(client: httpx.Client, **asked: Any) -> list[str]:
        return [each["name"] for each in client.get("/v1/collections", params=asked).json()["collections"]]

    assert listed(world.owner, search=world.name) == names
    assert listed(world.owner, search="100 % b") == [names[1]]
    assert listed(world.owner, search=names[2]) == [names[2]]
    assert listed(world.viewer, search=world.name) == []
    page = world.owner.get("/v1/collections", params={"search": world.name, "limit": 2}).json()
    assert page["next"] == names[1]
    assert listed(world.owner, search=world.name, after=page["next"]) == [names[2]]
    world.owner.put(f"/v1/collections/{names[0]}/viewers/{world.viewer_name}")
    assert listed(world.viewer, search=world.name) == [names[0]]
    assert_refused(world.owner.get("/v1/collections", params={"after": "No"}), 422, "invalid-request")


def test_collections_are_bounded(one_service: Service) -> None:
    world = World(one_service)
    for names in ((), (world.mass, world.mass), ("Some/mass",), [f"some/figure-{place}" for place in range(101)]):
        assert_refused(world.put(*names), 422, "invalid-request")
    others = tables.collections.c.name.startswith("one-of-many-")
    database = Database(one_service.database_url)
    with database.write() as transaction:
        facts = {"title": "Many", "audience": "viewers", "owner_id": 1, "changed_at": "t"}
        many = [{"name": f"one-of-many-{place}", **facts, "members_hash": b"", "seal": b""} for place in range(1_000)]
        transaction.connection.execute(insert(tables.collections), many)
        transaction.commit()
    assert_refused(world.put(world.mass), 422, "invalid-request")
    with database.write() as transaction:
        transaction.connection.execute(delete(tables.collections).where(others))
        transaction.commit()
    database.close()
    assert world.put(world.mass).status_code == 201


@contextmanager
def tampering(service: Service, name: str) -> Iterator[Callable[[Executable], None]]:
    """Runs statements in the ledger's database; afterwards the collection's rows are put back as they were."""
    database, ids = Database(service.database_url), tables.collections.c
    with database.read() as session:
        board = session.connection.execute(select(tables.collections).where(ids.name == name)).one()
    members = {of: of.c.collection_id == board.id for of in (tables.collection_figures, tables.collection_viewers)}

    def run(*statements: Executable) -> None:
        with database.write() as transaction:
            for each in statements:
                transaction.connection.execute(each)
            transaction.commit()

    with database.read() as session:
        kept = [insert(of).values(**row._mapping) for of, where in members.items() for row in rows(session, of, where)]
    yield run
    stored = {column: value for column, value in board._mapping.items() if column != "id"}
    run(update(tables.collections).where(ids.id == board.id).values(**stored))
    run(*(delete(of).where(where) for of, where in members.items()), *kept)
    database.close()


def rows(session: Session, of: SqlTable, where: ColumnElement[bool]) -> Sequence[Row[Any]]:
    return session.connection.execute(select(of).where(where)).all()


def problems_of(service: Service, name: str) -> list[str]:
    found = service.admin.get("/v1/audit/verification").json()["problems"]
    return [each["what"] for each in found if name in each["what"]]


@SERVICE_ON_POSTGRES_SLOWLY
@pytest.mark.parametrize("changed", ["title", "member", "viewer", "withheld"])
def test_what_was_changed_in_the_database_is_not_shown(service: Service, world: World, changed: str) -> None:
    world.put(world.mass, world.far)
    world.grant()
    boards, places, viewers = tables.collections, tables.collection_figures, tables.collection_viewers
    of_board = boards.c.name == world.name
    board = select(boards.c.id).where(of_board).scalar_subquery()
    of_table = select(tables.datasets.c.id).where(tables.datasets.c.name == world.table.name).scalar_subquery()
    other = select(tables.figures.c.id).where(tables.figures.c.name == "other", tables.figures.c.dataset_id == of_table)
    first, second = ((places.c.collection_id == board) & (places.c.position == place) for place in (1, 2))
    changes: dict[str, Executable] = {
        "title": update(boards).where(of_board).values(title="lie"),
        "member": update(places).where(first).values(figure_id=other.scalar_subquery()),
        "viewer": update(viewers).where(viewers.c.collection_id == board).values(granted_at="2020-01-01T00:00:00Z"),
        "withheld": delete(places).where(second),
    }
    with tampering(service, world.name) as run:
        run(changes[changed])
        assert_refused(world.viewer.get(world.path), 503, "seal-broken")
        assert [world.opens(world.viewer, each) for each in (world.mass, world.other)] == (
            [404, 503] if changed == "member" else [503, 404]
        )
        assert any("was changed after it was sealed" in each for each in problems_of(service, world.name))
    assert problems_of(service, world.name) == []
    assert world.shown(world.viewer) == [world.mass, world.far]


def test_a_grant_that_was_put_back_or_removed_is_found(service: Service, world: World) -> None:
    """It has its seal, but the audit log tells another story."""
    world.put(world.mass)
    world.grant()
    viewers, boards = tables.collection_viewers, tables.collections
    board = select(boards.c.id).where(boards.c.name == world.name).scalar_subquery()
    with tampering(service, world.name) as run:
        run(delete(viewers).where(viewers.c.collection_id == board))
        assert problems_of(service, world.name) == [f"the collection {world.name} is not what the records say"]
    assert problems_of(service, world.name) == []
    database = Database(service.database_url)
    with database.read() as session:
        (granted,) = rows(session, viewers, viewers.c.collection_id == board)
    database.close()
    assert world.owner.delete(f"{world.path}/viewers/{world.viewer_name}").status_code == 204
    with tampering(service, world.name) as run:
        run(insert(viewers).values(**granted._mapping))
        assert problems_of(service, world.name) == [f"the collection {world.name} is not what the records say"]
    assert problems_of(service, world.name) == []


def test_a_collection_that_was_removed_is_found(one_service: Service) -> None:
    world = World(one_service)
    world.put(world.mass)
    database = Database(one_service.database_url)
    places, boards = tables.collection_figures, tables.collections
    with database.read() as session:
        (board,) = rows(session, boards, boards.c.name == world.name)
        (place,) = rows(session, places, places.c.collection_id == board.id)
    for statements, found in (
        (
            (delete(places).where(places.c.collection_id == board.id), delete(boards).where(boards.c.id == board.id)),
            [f"the collection {world.name} is missing"],
        ),
        ((insert(boards).values(**board._mapping), insert(places).values(**place._mapping)), []),
    ):
        with database.write() as transaction:
            for each in statements:
                transaction.connection.execute(each)
            transaction.commit()
        assert problems_of(one_service, world.name) == found
    database.close()


def test_a_name_that_nothing_can_have_is_told(world: World) -> None:
    dataset, figure = world.mass.split("/")
    release = world.owner.get(f"/v1/datasets/{dataset}/releases").json()["releases"][0]["id"]
    members = {"dataset": dataset, "figure": figure}
    for path, body in (
        (f"/v1/datasets/{dataset}/figures/Bad%20Name", {"title": "Bad", "release": release}),
        ("/v1/collections/Bad%20Name", {"title": "Bad", "figures": [members]}),
    ):
        refused = world.owner.put(path, json=body)
        assert refused.status_code == 404, refused.text
        assert "A name has up to 63 lower-case letters, digits, - and _" in refused.json()["detail"]
