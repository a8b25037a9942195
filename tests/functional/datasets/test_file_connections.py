"""Tables of Parquet files in somebody else's bucket, registered by name: what is told of them, and what never is."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import command_line
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_server import SECRET, FileServer, serve_files
from service_world import X_COLUMNS, Service, a_name, serving
from sourced_tables import SourcedTables

from snapledger_client import Client

pytestmark = pytest.mark.slow  # the stores themselves are tested in tests/engines

MEAN = {"kind": "mean", "column": "x"}


class World(SourcedTables):
    """A bucket, and the service that knows it as `lake`."""

    connection = "lake"

    def __init__(self, bucket: FileServer, service: Service) -> None:
        self.bucket = bucket
        self.service = service

    def put(self, name: str, *values: int) -> None:
        file = io.BytesIO()
        pq.write_table(pa.table({"x": pa.array(values, pa.int64())}), file)
        self.bucket.put(name, file.getvalue())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("lake")
    with (
        serve_files() as bucket,
        serving(folder, f"sqlite:///{folder}/ledger.sqlite3", CONNECTION_LAKE=bucket.connection) as service,
    ):
        yield World(bucket, service)
        assert SECRET not in service.log.read_text()
        assert bucket.url not in service.log.read_text()
        for path in service.data.rglob("*.json"):
            assert SECRET not in path.read_text()


@pytest.mark.parametrize("live", [False, True])
def test_the_files_of_a_directory_are_registered_as_a_table(world: World, live) -> None:
    for i in range(3):
        world.put(f"people/part-{i}.parquet", *range(10 * i, 10 * i + 10))
    table = world.dataset("people", live=live)
    facts = table.owner.get(table.path).json()
    assert (facts["n"], facts["source"]["connection"], facts["source"]["live"]) == (30, "lake", live)
    assert "source" not in table.analyst.get(table.path).json()
    answer = table.fresh(MEAN, epsilon=1000, alpha="1e-9")
    assert answer["value"] == pytest.approx(14.5, abs=answer["accuracy"]["radius"])
    assert table.owner.post(f"{table.path}/revalidation").status_code == 200


def test_a_change_makes_a_live_table_stale_and_an_outage_costs_nothing(world: World) -> None:
    """Neither depends on a value: names, sizes and versions of the files are compared."""
    world.put("t/a.parquet", 1, 2, 3)
    others = set(world.service.data.glob("watched-*"))
    table = world.dataset("t", live=True)
    table.fresh(MEAN, epsilon=1)
    before, key = table.entries(), "again"
    world.bucket.answers[""] = 500, {}
    away = table.release(MEAN, epsilon=2, key=key)
    assert (away.status_code, away.json()["type"]) == (503, "/problems/unavailable")
    assert (table.owner.post(f"{table.path}/revalidation").status_code, table.entries()) == (503, before)
    world.bucket.answers.clear()
    assert table.release(MEAN, epsilon=2, key=key).status_code == 201
    world.put("t/b.parquet", 4)
    answers = [table.release(MEAN, epsilon=3), table.owner.post(f"{table.path}/revalidation")]
    assert [(answer.status_code, answer.json()["type"]) for answer in answers] == [(409, "/problems/stale")] * 2
    assert table.budget()["epsilon_spent"] == "3"
    del world.bucket.files["in/side/t/b.parquet"]
    assert table.owner.post(f"{table.path}/revalidation").json()["state"] == "open"
    table.fresh(MEAN, epsilon=1)
    assert table.owner.delete(table.path).status_code == 204
    assert set(world.service.data.glob("watched-*")) == others


def test_what_an_owner_types_leads_nowhere_else(world: World) -> None:
    _, owner = world.service.principal("owner")
    asked = list(world.bucket.asked)
    with world.service.unchanged():
        for path in ("../t", "/t", "s3://tables/t", "t/*.parquet", "%2e%2e/t"):
            refused = world.register(owner, path, live=False)
            assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "source.table")
    assert world.bucket.asked == asked


def test_the_client_and_the_command_need_no_file(world: World, tmp_path: Path) -> None:
    world.put("sent/a.parquet", 1, 2, 3)
    _, owner = world.service.principal("owner")
    key = owner.headers["Authorization"].removeprefix("Bearer ")
    metadata = {"name": a_name("t"), "epsilon_limit": 1, "columns": X_COLUMNS}
    source = {"source": {"connection": "lake", "table": "sent"}}
    with Client(world.service.url, key) as client:
        assert client.register(metadata | source).n == 3
    path = tmp_path / "people.json"
    path.write_text(json.dumps(metadata | source | {"name": a_name("t")}))
    done = command_line.run("dataset", "add", "--schema", str(path), URL=world.service.url, KEY=key)
    assert (done.status, "3 rows." in done.out) == (0, True), done.err
    for given, content in (([str(path)], metadata | source), ([], metadata)):
        path.write_text(json.dumps(content))
        done = command_line.run("dataset", "add", *given, "--schema", str(path), URL=world.service.url, KEY=key)
        assert (done.status, "either a file or a `source`" in done.err) == (2, True), done.err


def test_a_backup_holds_the_copy_and_what_is_watched(world: World, tmp_path: Path) -> None:
    world.put("kept/a.parquet", 1, 2, 3)
    world.dataset("kept", live=True)
    settings = {"DATABASE_URL": world.service.database_url, "DATA_DIR": str(world.service.data)}
    done = command_line.run("backup", str(tmp_path / "backup"), **settings)
    assert done.status == 0, done.err
    watched = {path.name for path in world.service.data.glob("watched-*")}
    assert {path.suffix for path in (tmp_path / "backup").rglob("watched-*")} == {".parquet", ".prepared", ".json"}
    assert {path.name for path in (tmp_path / "backup").rglob("watched-*")} <= watched


def test_a_table_of_files_is_drafted_from_the_first_of_them(world: World) -> None:
    for i in range(2):
        world.put(f"drafted/part-{i}.parquet", *range(10 * i, 10 * i + 10))
    _, owner = world.service.principal("owner")
    assert owner.get("/v1/connections").json() == {"connections": [{"name": "lake", "leads_to": "files"}]}
    source = {"connection": "lake", "table": "drafted", "live": True}
    with world.service.unchanged():
        answer = owner.post("/v1/drafts", json={"source": source})
    assert answer.status_code == 200, answer.text
    metadata = answer.json()["metadata"]
    assert (metadata["name"], metadata["source"]) == ("drafted", source)
    assert metadata["columns"] == {"x": {"kind": "integer", "bounds": ["0", "9"], "unconfirmed": ["bounds"]}}
    for table in ("nowhere", "../t", "drafted/*"):
        refused = owner.post("/v1/drafts", json={"source": source | {"table": table}})
        assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "source.table")
    world.bucket.put("drafted/damaged.parquet", b"PAR1" + b"\x00" * 20 + b"PAR1")
    damaged = owner.post("/v1/drafts", json={"source": source | {"table": "drafted/damaged.parquet"}})
    assert (damaged.status_code, damaged.json()["errors"][0]["where"]) == (422, "file drafted/damaged.parquet")
