"""A Superset of its own, from when it answers until it is stopped."""

import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from service_world import free_port

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".venv-recipes" / "bin" / "python"
SECONDS = 900  # a quiet machine needs 40
SETTINGS = """
SECRET_KEY = {secret!r}
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
TALISMAN_ENABLED = False  # it wants TLS for its cookies
"""


@dataclass
class Superset:
    """Where it is, and the password of its admin."""

    url: str
    password: str


@contextmanager
def running_superset(folder: Path) -> Iterator[Superset]:
    settings, log = folder / "superset_config.py", folder / "log"
    settings.write_text(SETTINGS.format(secret=secrets.token_urlsafe(32), folder=folder))
    superset = Superset(f"http://127.0.0.1:{free_port()}", secrets.token_urlsafe(16))
    command = [PYTHON, HERE / "serve_superset.py", superset.url.rsplit(":", 1)[1], superset.password]
    known = {name: value for name, value in os.environ.items() if not name.startswith(("SNAPLEDGER_", "PYTHON"))}
    environment = {**known, "SUPERSET_CONFIG_PATH": str(settings), "SUPERSET_HOME": str(folder)}
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=folder)  # noqa: S603
    try:
        wait_until_healthy(superset.url, process, log)
        yield superset
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_until_healthy(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-5_000:]
        try:
            if httpx.get(f"{url}/health").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    raise AssertionError(log.read_text()[-5_000:])
