"""`snapledger migrate-to URL`: the ledger goes to another database, and there is never more than one to write to."""

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Done, refused, run
from service_world import X_COLUMNS, Service, Table, key_of, numbers_csv, serving
from sqlalchemy import delete, text, update

from app.db import database_copies
from app.db.database import Database
from app.db.repositories import relocation_state
from app.db.tables import entries
from app.errors import UnavailableError
from app.services.operations import relocations as moves

pytestmark = pytest.mark.slow

MEAN = {"kind": "mean", "column": "x"}
PAID = {"statistic": MEAN, "epsilon": "0.5"}


class Home:
    """A service's settings, the database that it has, and the one that it is to have."""

    def __init__(self, folder: Path, source: str, target: str) -> None:
        self.folder, self.source, self.target = folder, source, target
        self.settings = {"SECRET": secrets.token_hex(32), "ADMIN_KEY": secrets.token_urlsafe(32)}

    @contextmanager
    def serving(self, url: str) -> Iterator[Service]:
        with serving(self.folder, url, **self.settings) as service:
            service.admin.headers["Authorization"] = f"Bearer {self.settings['ADMIN_KEY']}"
            yield service

    def run(self, *arguments: str, url: str | None = None) -> Done:
        place = {"DATABASE_URL": url or self.source, "DATA_DIR": str(self.folder / "data")}
        if arguments[0] == "migrate-to":  # a URL may have a password, which is no argument
            arguments, place["TARGET_URL"] = arguments[:1], arguments[1]
        return run(*arguments, **place | self.settings)

    def killed(self, where: str) -> None:
        """The move, killed as by kill -9 when it comes to a function."""
        place = {"DATABASE_URL": self.source, "TARGET_URL": self.target, "DATA_DIR": str(self.folder / "data")}
        place |= self.settings
        environment = {f"SNAPLEDGER_{name}": value for name, value in place.items()} | {
            "PYTHONPATH": ":".join(sys.path)
        }
        module, _, name = where.rpartition(".")
        code = (
            f"import os, signal, {module} as module\nfrom app.cli import service_commands\n"
            f"module.{name} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nservice_commands.main()"
        )
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code, "migrate-to"], env=environment, capture_output=True, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.fixture
def home(tmp_path: Path, database_url: str, empty_database_url: str) -> Home:
    if empty_database_url.startswith("sqlite"):  # else that of both fixtures would be one file
        empty_database_url = f"sqlite:///{tmp_path}/new/ledger.sqlite3"
    return Home(tmp_path, database_url, empty_database_url)


one_way = pytest.mark.parametrize(
    ("database_url", "empty_database_url"), [("sqlite", "postgres"), ("postgres", "sqlite")], indirect=True
)


every_way = pytest.mark.parametrize(
    ("database_url", "empty_database_url"),
    [
        ("sqlite", "postgres"),
        ("postgres", "sqlite"),
        ("sqlite", "sqlite"),
        ("postgres", "postgres"),
    ],
    indirect=True,
)


def filled(service: Service) -> tuple[Table, bytes]:
    """A table with releases, a revoked allowance, a closed dataset, and the answer to one key."""
    table = service.table(X_COLUMNS, numbers_csv(20))
    answer = table.release(MEAN, key="before", epsilon="0.5")
    table.fresh(MEAN, epsilon="0.25")
    table.fresh({"kind": "histogram", "column": "x", "bins": 2}, epsilon="1")
    name, _ = table.another("1")
    assert table.owner.delete(f"{table.path}/allowances/{name}").status_code == 204
    other = service.table(X_COLUMNS, numbers_csv(5))
    assert other.owner.delete(other.path).status_code == 204
    return table, answer.content


def still_works(service: Service, table: Table, answer: bytes) -> None:
    analyst = service.client(key_of(table.analyst))
    headers = {"Idempotency-Key": "before"}
    again = analyst.post(f"{table.path}/releases", json=PAID, headers=headers)
    assert (again.content, again.headers["Idempotency-Replayed"]) == (answer, "true")
    fresh = analyst.post(f"{table.path}/releases", json=PAID | {"reuse": False}, headers={"Idempotency-Key": "new"})
    assert fresh.status_code == 201, fresh.text
    service.table(X_COLUMNS, numbers_csv(5))  # rows are numbered behind those that were moved
    assert service.admin.get(f"{table.path}/ledger/verification").json()["valid"]
    assert service.admin.get("/v1/audit/verification").json()["valid"]


@every_way
def test_a_ledger_is_moved(home: Home) -> None:
    """All of it, in every direction; a service that was running on the source debits nothing there any more."""
    checkpoint = home.folder / "checkpoint.json"
    with home.serving(home.source) as service:
        table, answer = filled(service)
        assert home.run("ledger", "checkpoint", str(checkpoint)).status == 0
        done = home.run("migrate-to", home.target)
        assert done.status == 0, done.err
        refusal = table.release(MEAN, epsilon="0.5", reuse=False)
        assert (refusal.status_code, refusal.json()["type"]) == (503, "/problems/unavailable")
        assert service.admin.post("/v1/principals", json={"name": "late", "role": "owner"}).status_code == 503
        assert service.stranger.get("/readyz").status_code == 503
        assert service.stranger.get("/healthz").status_code == 200
    refused(home.run("create-key", "admin"), "retired", "which has its ledger now")
    refused(home.run("ledger", "write-off", table.name, "1", "--reason", "x"), "retired")
    refused(home.run("migrate-to", home.target), "retired")
    with pytest.raises(AssertionError, match="was retired at"), home.serving(home.source):
        pass
    assert home.run("ledger", "verify", "--checkpoint", str(checkpoint), url=home.source).status == 0
    assert home.run("ledger", "verify", "--checkpoint", str(checkpoint), url=home.target).status == 0
    with home.serving(home.target) as service:
        still_works(service, table, answer)
        moved = service.admin.get("/v1/audit", params={"limit": 1000}).json()["records"]
        assert [each["via"] for each in moved if each["action"] == "database.move"] == ["command"]


@one_way
@pytest.mark.parametrize(
    "where", ["app.db.database_copies.table_fingerprint", "app.db.repositories.relocation_state.refuse_writes"]
)
def test_killed_before_the_source_is_retired(home: Home, where: str) -> None:
    """The source is usable, and the target is not; the same command then moves it, whatever happened meanwhile."""
    with home.serving(home.source) as service:
        table, answer = filled(service)
        home.killed(where)
        if where.endswith("refuse_writes"):
            refused(home.run("create-key", "admin", url=home.target), "incomplete")
            with pytest.raises(AssertionError, match="incomplete"), home.serving(home.target):
                pass
            other = Home(home.folder / "other", f"sqlite:///{home.folder}/other/ledger.sqlite3", home.target)
            other.folder.mkdir()
            with other.serving(other.source):
                pass
            refused(other.run("migrate-to", home.target), "has rows already")  # what is there is another's
        table.fresh(MEAN, epsilon="0.125")
    assert home.run("migrate-to", home.target).status == 0
    with home.serving(home.target) as service:
        still_works(service, table, answer)


@one_way
def test_killed_after_the_source_is_retired(home: Home) -> None:
    """Neither is usable, until the same command has come to the end."""
    with home.serving(home.source) as service:
        table, answer = filled(service)
    home.killed("app.services.operations.relocations._complete_move")
    refused(home.run("create-key", "admin"), "retired")
    refused(home.run("create-key", "admin", url=home.target), "incomplete")
    elsewhere = f"sqlite:///{home.folder}/elsewhere.sqlite3"
    refused(home.run("migrate-to", elsewhere), "retired", "which has its ledger now")
    done = home.run("migrate-to", home.target)
    assert (done.status, "move is complete now" in done.out) == (0, True), done
    with home.serving(home.target) as service:
        still_works(service, table, answer)


@one_way
def test_moves_that_are_refused_change_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with home.serving(home.source) as service:
        filled(service)
        before = service.footprint()
        refused(home.run("migrate-to", home.source), "is the source database itself")
        for url, told in (
            ("mysql://user:secret@host/db", "must start with"),
            ("postgresql://user:secret@127.0.0.1:1/db", "does not answer"),
            ("sqlite://", "is a file"),
        ):
            done = home.run("migrate-to", url)
            refused(done, told)
            assert "secret" not in done.err
        with monkeypatch.context() as patch:
            patch.setattr(moves, "_compare_rows", lambda *_: (_ for _ in ()).throw(ValueError("did not arrive")))
            refused(home.run("migrate-to", home.target), "did not arrive")
        assert service.footprint() == before
    source = Database(home.source)
    with source.write() as transaction:
        transaction.connection.execute(update(entries).where(entries.c.seq == 1).values(epsilon_nano=1))
        transaction.commit()
    refused(home.run("migrate-to", home.target), "not valid")
    source.close()
    target = Database(home.target)
    with target.read() as session:
        assert not database_copies.has_rows(session.connection)
        assert relocation_state.find_relocation(session) is None
    target.close()
    used = home.folder / "used"
    used.mkdir()
    with serving(used, home.target):
        pass
    refused(home.run("migrate-to", home.target), "has rows already")


@one_way
def test_a_loss_on_the_way_is_noticed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows that no chain holds too, such as the answers to keys."""
    with home.serving(home.source) as service:
        filled(service)
    copy_rows = database_copies.copy_rows
    for statement in (
        "DELETE FROM idempotency",
        "UPDATE idempotency SET status = 200",
        "UPDATE datasets SET n = n + 1",
    ):

        def lossy(source: object, connection: object, statement: str = statement) -> None:
            copy_rows(source, connection)  # type: ignore[arg-type]
            connection.execute(text(statement))  # type: ignore[attr-defined]

        monkeypatch.setattr(database_copies, "copy_rows", lossy)
        refused(home.run("migrate-to", home.target), "differs from the source")
    monkeypatch.setattr(database_copies, "copy_rows", copy_rows)
    assert home.run("migrate-to", home.target).status == 0


@one_way
def test_an_empty_ledger_and_a_ledger_of_another_version_are_not_moved(home: Home) -> None:
    refused(home.run("migrate-to", home.target), "nothing to move")
    source = Database(home.source)
    with source.write() as transaction:
        transaction.connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
        transaction.commit()
    source.close()
    refused(home.run("migrate-to", home.target), "snapledger migrate")


@one_way
def test_a_retired_database_refuses_every_write(home: Home) -> None:
    with home.serving(home.source) as service:
        filled(service)
    assert home.run("migrate-to", home.target).status == 0
    source = Database(home.source)
    for statement in (
        delete(entries),
        text("UPDATE accounts SET spent_nano = 0"),
        text("DELETE FROM relocations"),
        text("INSERT INTO principals (name, role, created_at) VALUES ('x', 'owner', 't')"),
    ):
        with pytest.raises(UnavailableError) as told, source.write() as transaction:
            transaction.connection.execute(statement)
        assert "retired" in str(told.value.__cause__)
    source.close()
    backup = home.folder / "backup"
    assert home.run("backup", str(backup)).status == 0
    fresh = f"sqlite:///{home.folder}/fresh/ledger.sqlite3"
    done = run(
        *("restore", str(backup)),
        DATABASE_URL=fresh,
        DATA_DIR=str(home.folder / "fresh"),
        SECRET=home.settings["SECRET"],
    )
    refused(done, "retired")  # a backup of it is none of the ledger
