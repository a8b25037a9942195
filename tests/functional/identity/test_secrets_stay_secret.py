"""Where secrets could get out: arguments and environments of processes, tables, files and the log."""

import json
import secrets
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
from service_world import X_COLUMNS, Service, key_of, numbers_csv, serving
from sqlalchemy import make_url, select, text

from app.db import tables
from app.db.database import Database

pytestmark = pytest.mark.slow

PASSWORD = "a-password-that-nobody-may-see"  # noqa: S105


def everything_stored(url: str) -> str:
    """All rows of all tables, as text."""
    database = Database(url)
    with database.read() as session:
        rows = [row for table in tables.metadata.sorted_tables for row in session.connection.execute(select(table))]
    database.close()
    return json.dumps([[bytes(v).hex() if isinstance(v, bytes | memoryview) else str(v) for v in row] for row in rows])


def use(service: Service) -> list[str]:
    """Do a bit of everything; the keys that were given out."""
    table = service.table(X_COLUMNS, numbers_csv(20))
    table.fresh({"kind": "mean", "column": "x"}, epsilon="0.5")
    renewed = table.analyst.post("/v1/me/key").json()["key"]
    service.client(renewed).get("/v1/me")
    service.client(renewed + "x").get("/v1/me")
    service.stranger.get("/v1/me", headers={"Authorization": f"Basic {renewed}"})
    service.stranger.get(f"/v1/datasets/{renewed}", params={"key": renewed})
    return [key_of(table.owner), key_of(table.analyst), renewed]


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_no_secret_shows(tmp_path: Path, database_url: str, options: tuple[str, ...]) -> None:
    """With secrets in files none is in an environment; with any, none is in an argument, a row, a metric or a line."""
    url = database_url
    if database_url.startswith("postgres"):
        url = make_url(database_url).set(password=PASSWORD).render_as_string(hide_password=False)
    given = {"ADMIN_KEY": secrets.token_urlsafe(32), "SECRET": secrets.token_hex(32), "DATABASE_URL": url}
    for name, value in given.items():
        (tmp_path / name).write_text(value)
    in_files = {f"{name}_FILE": str(tmp_path / name) for name in given} | {"ADMIN_KEY": "", "DATABASE_URL": ""}
    warehouse = {"CONNECTION_WAREHOUSE": f"postgresql://reader:{PASSWORD}@127.0.0.1:1/x", "LOG_LEVEL": "DEBUG"}
    with serving(tmp_path, database_url, *options, **in_files, **warehouse) as service:
        service.admin.headers["Authorization"] = f"Bearer {given['ADMIN_KEY']}"
        keys = use(service)
        source = {"connection": "warehouse", "table": "t"}
        metadata = {"name": "elsewhere", "epsilon_limit": 1, "columns": X_COLUMNS, "source": source}
        assert service.admin.post("/v1/datasets", json=metadata).status_code == 503
        text_of_metrics = httpx.get(f"{service.url}/metrics").text
        arguments, environments = "", list[dict[str, str]]()
        for process in (psutil.Process(service.pid), *psutil.Process(service.pid).children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # a reader of files that has ended since
                arguments += " ".join(process.cmdline())
                environments.append({**process.environ()})
        assert environments
    hidden = [*keys, given["ADMIN_KEY"], given["SECRET"], PASSWORD]
    for place in (arguments, everything_stored(database_url), text_of_metrics, service.log.read_text()):
        assert not [secret for secret in hidden if secret in place]
    for environment in environments:
        environment.pop("SNAPLEDGER_CONNECTION_WAREHOUSE", None)  # given to the service, which hands it on to no reader
        assert not [secret for secret in hidden if secret in str(environment)]
    files = [path for path in service.data.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if any(secret.encode() in path.read_bytes() for secret in hidden)]
    assert not [path for path in files if path.stat().st_mode & 0o077]


def test_the_server_shows_no_password_to_its_other_users(tmp_path: Path, database_url: str) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("SQLite has no server")
    url = make_url(database_url).set(password=PASSWORD).render_as_string(hide_password=False)
    with serving(tmp_path, url) as service:
        use(service)
        database = Database(database_url)
        with database.read() as session:
            seen = session.connection.execute(text("SELECT * FROM pg_stat_activity")).fetchall()
        database.close()
    assert "snapledger" in str(seen)
    assert PASSWORD not in str(seen)


@pytest.mark.parametrize("setting", ["DATABASE_URL", "CONNECTION_X", "SECRET", "RATE_LIMIT_STORAGE"])
@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_a_wrong_setting_is_refused_without_its_text(tmp_path: Path, setting: str, command: str) -> None:
    wrong = {
        "DATABASE_URL": f"mysql://a:{PASSWORD}@b/c",
        "SECRET": PASSWORD[:20],
        "RATE_LIMIT_STORAGE": f"odd://:{PASSWORD}@b",
    }
    environment = {
        f"SNAPLEDGER_{setting}": wrong.get(setting, f"odd://a:{PASSWORD}@b/c"),
        "SNAPLEDGER_DATA_DIR": str(tmp_path),
    }
    environment = {
        "SNAPLEDGER_DATABASE_URL": f"sqlite:///{tmp_path}/l.sqlite3",
        "PATH": "",
        "PYTHONPATH": ":".join(sys.path),
    } | environment
    if command == "migrate" and setting == "RATE_LIMIT_STORAGE":
        pytest.skip("a migration counts no calls")
    run = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "app.cli.service_commands", command],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert run.returncode != 0
    assert PASSWORD[:20] not in run.stdout + run.stderr
    assert f"SNAPLEDGER_{setting}" in run.stderr or "the database URL" in run.stderr
