"""The command line, as a user of a new machine meets it."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from service_world import Service, serving


def run(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
    environment |= {f"SNAPLEDGER_{name}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "app.cli.service_commands", *arguments]
    return subprocess.run(  # noqa: S603
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.slow
def test_the_demonstration(tmp_path: Path) -> None:
    done = run(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    for shown in ("87.11", "0.630680479", "Gentoo", "Reuse", "Replay", "budget-exhausted"):
        assert shown in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_new_key_from_the_database(tmp_path: Path, database_url: str) -> None:
    there = {"DATABASE_URL": database_url, "DATA_DIR": str(tmp_path / "data")}
    with serving(tmp_path, database_url) as service:
        made = run(tmp_path, "create-key", "grace", "--role", "owner", **there)
        assert made.returncode == 0, made.stderr
        headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
        assert httpx.get(f"{service.url}/v1/me", headers=headers).json()["role"] == "owner"
        renewed = run(tmp_path, "create-key", "grace", **there)
        assert httpx.get(f"{service.url}/v1/me", headers=headers).status_code == 401
        headers = {"Authorization": f"Bearer {renewed.stdout.strip()}"}
        assert httpx.get(f"{service.url}/v1/me", headers=headers).status_code == 200
        nobody = run(tmp_path, "create-key", "nobody", **there)
        assert (nobody.returncode, nobody.stdout) == (1, "")
        assert "no such principal" in nobody.stderr
        assert run(tmp_path, "create-key", "grace", "--role", "owner", **there).returncode == 1


def told_at_the_start(service: Service) -> list[str]:
    """What is for a person: the log is JSON, and on standard error."""
    return [line for line in service.log.read_text().splitlines() if not line.startswith("{")][:3]


def test_what_to_do_with_a_service_that_was_started(one_service: Service) -> None:
    where, key, stop = told_at_the_start(one_service)
    for path in ("/", "/guide/", "/docs"):
        assert f"{one_service.url}{path}" in where.replace(",", " ").split()
    assert "SNAPLEDGER_ADMIN_KEY" in key
    assert one_service.admin_key not in key
    assert "Ctrl+C" in stop


@pytest.mark.slow
def test_the_admin_s_key_is_written_where_only_its_owner_reads(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path}/new/ledger.sqlite3", ADMIN_KEY="") as service:
        pass
    path = tmp_path / "data" / "admin-key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"key is in {path} " in told_at_the_start(service)[1]
    key = path.read_text().strip()
    assert len(key) >= 43
    assert key not in service.log.read_text()


@pytest.mark.slow
def test_what_serves_must_be_migrated(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.sqlite3"
    migrated = run(tmp_path, "migrate", DATABASE_URL=url)
    assert (migrated.returncode, migrated.stdout) == (0, "The database is migrated.\n")
    with serving(tmp_path, url, AUTO_MIGRATE="false"):
        pass


@pytest.mark.slow
def test_where_nothing_can_listen_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run(tmp_path, "serve", "--port", port, "--workers", "2", DATABASE_URL=f"sqlite:///{tmp_path}/l")
    assert (done.returncode, done.stdout) == (1, "")
    told = f"port {port} of 127.0.0.1 is in use: stop the process that listens there, or choose another with --port"
    assert done.stderr == f"snapledger: {told}\n"
    nowhere = run(tmp_path, "serve", "--host", "192.0.2.1", DATABASE_URL=f"sqlite:///{tmp_path}/l")
    assert (nowhere.returncode, nowhere.stdout) == (1, "")
    assert nowhere.stderr.startswith("snapledger: cannot listen on port 8000 of 192.0.2.1: ")


@pytest.mark.slow
def test_what_no_waiting_would_help_is_told_before_any_worker_starts(tmp_path: Path) -> None:
    there = {"DATABASE_URL": f"sqlite:///{tmp_path}/l", "DATA_DIR": str(tmp_path / "data")}
    secret = tmp_path / "data" / "secret"
    with serving(tmp_path, there["DATABASE_URL"]):
        pass
    for wrong, told in {
        "another"
        * 8: "the ledger was sealed with another secret: add the earlier ones to SNAPLEDGER_SECRET_FILE, one per line",
        "": f"the ledger's secret cannot be read from {secret}",
    }.items():
        secret.unlink()
        if wrong:
            secret.write_text(wrong)
        done = run(tmp_path, "serve", "--port", "0", "--workers", "2", **there)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"snapledger: {told}\n")


@pytest.mark.slow
def test_help_is_there(tmp_path: Path) -> None:
    done = run(tmp_path, "--help")
    assert done.returncode == 0
    for command in ("serve", "migrate", "create-key", "backup", "restore", "ledger", "demo"):
        assert command in done.stdout


@pytest.mark.slow
def test_wrong_settings_are_told_in_a_line_that_holds_no_secret(tmp_path: Path) -> None:
    for settings in (
        {"MAX_UPLOAD_BYTES": "hush"},
        {"LOG_LEVEL": "hush"},
        {"MAX_EPSILON_PER_RELEASE": "hush"},
        {"DATABASE_URL": "mysql://hush@host/name"},
        {"DATABASE_URL": "sqlite://"},
    ):
        done = run(tmp_path, "serve", **settings)
        assert done.returncode == 1
        assert done.stderr.startswith("snapledger: ")
        assert len(done.stderr.splitlines()) == 1
        assert "hush" not in done.stderr
    assert run(tmp_path, "serve", OIDC_ISSUER="https://provider.example").stderr == (
        "snapledger: SNAPLEDGER_OIDC_ISSUER needs SNAPLEDGER_OIDC_AUDIENCE and SNAPLEDGER_OIDC_ROLE_MAP\n"
    )
    assert run(tmp_path, "serve", RATE_LIMIT="often").stderr == (
        "snapledger: SNAPLEDGER_RATE_LIMIT: must be a rate such as 600/minute or 20/second;600/minute, or off\n"
    )
