"""Run a temporary service on a free port, with a ledger and data that are deleted when it stops."""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

START_SECONDS = 60


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if client.get("/readyz").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError("the service did not start")


@contextmanager
def temporary() -> Iterator[httpx.Client]:
    """Yield an admin client of a new service; at the end of the block the service stops and its files are deleted.

    Raises:
        RuntimeError: the service did not start.
    """
    admin_key = secrets.token_urlsafe(32)
    with tempfile.TemporaryDirectory(prefix="snapledger-demo-") as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
        environment |= {
            "SNAPLEDGER_DATABASE_URL": f"sqlite:///{folder}/ledger.sqlite3",
            "SNAPLEDGER_DATA_DIR": str(Path(folder) / "data"),
            "SNAPLEDGER_ADMIN_KEY": admin_key,
            "SNAPLEDGER_LOG_LEVEL": "WARNING",
        }
        port = _free_port()
        command = [sys.executable, "-m", "app.cli.service_commands", "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
        try:
            headers = {"Authorization": f"Bearer {admin_key}"}
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as client:
                _wait(client, process)
                yield client
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
