"""Workers that start at the same moment on an empty database: each is ready, and all of them made one service."""

import itertools
import stat
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from first_start import settings_for, start_together
from lengths import LONGER
from sqlalchemy import make_url

from app.config import Settings
from app.db.database import Database
from app.db.repositories import principals as rows
from app.db.repositories.credentials import KeyDigest
from app.db.schema_migration import migrate
from app.db.session import Session
from app.ledger.chain import chain_heads
from app.ledger.chain.keyring import Keyring
from app.services import access
from app.services.identity import principals
from app.services.operations import full_verification, ledger_secrets

WORKERS = 4

Places = Callable[[], tuple[str, Path]]


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Places]:
    """Gives the URL of an empty database and a data directory that is not there yet, others each time."""
    server = request.getfixturevalue("postgres_server") if request.param == "postgres" else None
    made: list[str] = []

    def administer(statement: str) -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(statement.encode())

    def place() -> tuple[str, Path]:
        folder = tmp_path / uuid.uuid4().hex
        if server is None:
            return f"sqlite:///{folder}/ledger/ledger.sqlite3", folder / "data"
        for name in made:
            administer(f"DROP DATABASE {name} WITH (FORCE)")
        made[:] = [f"first_{uuid.uuid4().hex}"]
        administer(f"CREATE DATABASE {made[0]}")
        return make_url(server).set(database=made[0]).render_as_string(hide_password=False), folder / "data"

    yield place
    for name in made:
        administer(f"DROP DATABASE {name} WITH (FORCE)")


def assert_one_service(settings: Settings) -> None:
    """There is one admin, whose key is in the file, one secret, a valid ledger, a lock, and nothing else."""
    database = Database(settings.database_url)
    with database.read() as session:
        key = (settings.data_dir / principals.ADMIN_KEY_FILE).read_text().strip()
        assert access.principal_of(session, KeyDigest(access.digest_of(key))).name == "admin"
        assert [one.name for one in rows.page_of_principals(session, None, 10)] == ["admin"]
        assert full_verification.verify_ledgers(session, ledger_secrets.load_keyring(settings), None, None).valid
    database.close()
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in settings.data_dir.iterdir()}
    lock = {"reports.lock": 0o600}  # of a service that lived long enough
    assert lock | files == {"admin-key": 0o600, "secret": 0o600} | lock


def start(places: Places, times: int) -> None:
    for _ in range(times):
        settings = settings_for(*places())
        assert start_together([settings] * WORKERS) == [""] * WORKERS
        assert_one_service(settings)


@pytest.mark.slow
def test_workers_that_start_at_once_make_one_service(places: Places) -> None:
    start(places, 2)


def test_two_that_both_found_nobody_make_one_admin(
    empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever saw an empty database looks again when nobody else can make the admin."""
    both, exists, firsts = threading.Barrier(2), rows.has_principals, itertools.count()

    def look(session: Session) -> bool:
        found = exists(session)
        if next(firsts) < 2:
            both.wait(60)
        return found

    migrate(database := Database(empty_database_url))
    monkeypatch.setattr(rows, "has_principals", look)
    seal = Keyring(["s" * 32]).seal
    with ThreadPoolExecutor(2) as hands:
        for one in [
            hands.submit(principals.create_first_admin, database, seal, tmp_path / "data", None) for _ in range(2)
        ]:
            one.result()
    with database.read() as session:
        key = (tmp_path / "data" / principals.ADMIN_KEY_FILE).read_text().strip()
        assert access.principal_of(session, KeyDigest(access.digest_of(key))).name == "admin"
    database.close()


@pytest.mark.slow
def test_of_two_new_secrets_only_one_is_used(places: Places) -> None:
    """Two machines share a database, but not the directory in which each makes a secret of its own."""
    url, folder = places()
    all_settings = [settings_for(url, folder / name) for name in ("one", "other")]
    told = start_together(all_settings)
    (refusal,) = [text.splitlines()[-1] for text in told if text]
    assert "was sealed with another secret" in refusal or "secret cannot be read from" in refusal
    database = Database(url)
    with database.read() as session:
        (sealed_under, *_) = chain_heads.list_secret_ids(session)
    database.close()
    files = [one.data_dir / ledger_secrets.SECRET_FILE for one in all_settings]
    keyrings = [
        ledger_secrets.load_keyring(one) for one, file in zip(all_settings, files, strict=True) if file.exists()
    ]
    assert sum(keyring.find(sealed_under) is not None for keyring in keyrings) == 1


@pytest.mark.slow
@pytest.mark.timeout(600 * LONGER)
def test_ten_first_starts(places: Places) -> None:
    start(places, 10 * LONGER)
