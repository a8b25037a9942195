"""`snapledger backup` while the service answers, and `snapledger restore` into either database."""

import itertools
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from command_line import Done, refused, run
from service_world import X_COLUMNS, Service, Table, numbers_csv, serving

from app.ledger.chain import checkpoints

pytestmark = pytest.mark.slow

MEAN = {"kind": "mean", "column": "x"}
PAID = {"statistic": MEAN, "epsilon": "0.001", "reuse": False}


class Home:
    """A database and a data directory, and the service on them."""

    def __init__(self, folder: Path, database_url: str, secret: str) -> None:
        folder.mkdir()
        self.folder, self.url = folder, database_url
        self.settings = {"SECRET": secret, "ADMIN_KEY": secrets.token_urlsafe(32)}

    @contextmanager
    def serving(self, *options: str) -> Iterator[Service]:
        with serving(self.folder, self.url, *options, **self.settings) as service:
            service.admin.headers["Authorization"] = f"Bearer {self.settings['ADMIN_KEY']}"
            yield service

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def run(self, *arguments: str, **settings: str) -> Done:
        place = {"DATABASE_URL": self.url, "DATA_DIR": str(self.data)}
        return run(*arguments, **place | self.settings | settings)


@pytest.fixture
def home(tmp_path: Path, database_url: str) -> Home:
    return Home(tmp_path / "home", database_url, secrets.token_hex(32))


@contextmanager
def under_load(table: Table) -> Iterator[dict[str, httpx.Response]]:
    """Releases, uploads and deletions, one after the other by each of three clients; the answers to the keys."""
    answers: dict[str, httpx.Response] = {}
    stop, numbers = threading.Event(), itertools.count()

    def releases() -> None:
        while not stop.is_set():
            key = f"key {next(numbers)}"
            answers[key] = table.release(MEAN, key=key, epsilon="0.001", reuse=False)

    def datasets() -> None:
        while not stop.is_set():
            metadata = {"name": f"passing-{next(numbers)}", "epsilon_limit": "1", "columns": X_COLUMNS}
            assert table.service.upload(table.owner, metadata, numbers_csv(5).encode()).status_code == 201
            assert table.owner.delete(f"/v1/datasets/{metadata['name']}").status_code == 204

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(releases), pool.submit(releases), pool.submit(datasets)]
        try:
            yield answers
        finally:
            stop.set()
        for each in running:
            each.result()


@pytest.fixture
def table(home: Home) -> Iterator[Table]:
    with home.serving() as service:
        yield service.table(X_COLUMNS, numbers_csv(20))


def test_a_backup_under_load_is_restored(home: Home, table: Table, tmp_path: Path, empty_database_url: str) -> None:
    """What was acknowledged before it began is in it, what is in it adds up, and a service goes on from it."""
    backup = tmp_path / "backup"
    if empty_database_url.startswith("sqlite"):  # else that of both fixtures would be one file
        empty_database_url = f"sqlite:///{tmp_path}/new/ledger.sqlite3"
    new = Home(tmp_path / "new", empty_database_url, home.settings["SECRET"])
    with under_load(table) as answers:
        while len(answers) < 5:
            threading.Event().wait(0.01)
        before = dict(answers)
        done = home.run("backup", str(backup))
        assert done.status == 0, done.err
    table.fresh(MEAN, epsilon="0.001")
    later = home.folder / "later.json"
    assert home.run("ledger", "checkpoint", str(later)).status == 0
    assert home.settings["SECRET"].encode() not in b"".join(
        file.read_bytes() for file in backup.rglob("*") if file.is_file()
    )
    assert {path.stat().st_mode & 0o077 for path in (backup, *backup.rglob("*"))} == {0}

    assert home.run("ledger", "verify", DATABASE_URL=f"sqlite:///{backup}/ledger.sqlite3").status == 0
    content = (backup / "ledger.sqlite3").read_bytes()
    done = new.run("restore", str(backup))
    assert done.status == 0, done.err
    assert (backup / "ledger.sqlite3").read_bytes() == content
    assert new.run("ledger", "verify", "--checkpoint", str(backup / "checkpoint.json")).status == 0
    forgotten = new.run("ledger", "verify", "--checkpoint", str(later))
    assert forgotten.status == 1
    assert table.name in forgotten.out.partition("BEHIND it: ")[2]
    refused(new.run("serve", "--port", "0", "--require-checkpoint", str(later)), "behind")

    with new.serving("--require-checkpoint", str(backup / "checkpoint.json")) as service:
        service.admin.headers["Authorization"] = table.service.admin.headers["Authorization"]
        analyst, owner = (
            service.client(client.headers["Authorization"].removeprefix("Bearer "))
            for client in (table.analyst, table.owner)
        )
        for key, answer in before.items():
            again = analyst.post(f"{table.path}/releases", json=PAID, headers={"Idempotency-Key": key})
            assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
            assert again.content == answer.content
        fresh = analyst.post(f"{table.path}/releases", json=PAID, headers={"Idempotency-Key": "after"})
        assert fresh.status_code == 201, fresh.text
        found = owner.get(f"{table.path}/ledger/verification").json()
        assert (found["valid"], found["problems"]) == (True, [])
        service.table(X_COLUMNS, numbers_csv(20))  # rows are numbered behind those that were restored
    assert new.run("ledger", "verify").status == 0


def test_backups_that_are_refused(home: Home, table: Table, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    refused(home.run("backup", str(tmp_path)), "already")
    refused(home.run("backup", str(backup), SECRET=secrets.token_hex(32)), "another secret")
    (file,) = home.data.glob("*.parquet")
    kept = file.rename(tmp_path / "kept")
    refused(home.run("backup", str(backup)), "missing")
    kept.rename(file)
    assert list(tmp_path.glob(".*")) == []
    assert not backup.exists()
    assert home.run("backup", str(backup)).status == 0
    made = checkpoints.decode_checkpoint((backup / "checkpoint.json").read_bytes())
    assert [head.dataset for head in made.heads] == [table.name]


def test_restores_that_are_refused(home: Home, table: Table, tmp_path: Path) -> None:
    """They change nothing: where there is a ledger, none is put."""
    backup = tmp_path / "backup"
    assert home.run("backup", str(backup)).status == 0
    before = table.service.footprint()
    refused(home.run("restore", str(tmp_path / "nothing")), "not a backup")
    refused(home.run("restore", str(backup)), "already")
    elsewhere = tmp_path / "elsewhere"
    refused(home.run("restore", str(backup), DATA_DIR=str(elsewhere)), "has rows already")
    assert list(elsewhere.iterdir()) == []
    assert table.service.footprint() == before
    (backup / "checkpoint.json").unlink()
    refused(home.run("restore", str(backup), DATA_DIR=str(elsewhere)), "not a backup")
