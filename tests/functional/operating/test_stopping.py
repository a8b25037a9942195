"""When the service is told to stop, what has begun is finished; and it is not ready on a schema that is not its own."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import dropwhile
from pathlib import Path

import httpx
import pytest
from raw_http import head, line
from service_world import X_COLUMNS, Service, Table, becomes, free_port, key_of, numbers_csv, serving
from sqlalchemy import make_url, text

from app.db.database import Database

pytestmark = pytest.mark.slow

BODY = json.dumps({"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.5", "reuse": False}).encode()


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_what_has_begun_is_finished(tmp_path: Path, options: tuple[str, ...]) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", *options) as service:
        table = service.table(X_COLUMNS, numbers_csv(20))
        headers = ["Content-Type: application/json", f"Content-Length: {len(BODY)}", "Idempotency-Key: k"]
        asked = head("POST", f"{table.path}/releases", *headers, "Expect: 100-continue", authorization=bearer(table))
        with line(service) as opened:
            opened.send(asked)
            assert opened.is_to_continue()  # so the service has begun to read the body
            os.kill(service.pid, signal.SIGTERM)
            assert becomes(lambda: service.log.read_text().count("Shutting down") == (2 if options else 1))
            opened.send(BODY)
            assert opened.answer().status == 201
        assert ended(service)
    database = Database(service.database_url)
    with database.read() as session:
        assert session.connection.execute(text("SELECT count(*) FROM releases")).scalar_one() == 1
    database.close()


def bearer(table: Table) -> str:
    return f"Bearer {key_of(table.analyst)}"


def ended(service: Service) -> bool:
    """Whether the process ends by itself; as a child that nobody has waited for it is a zombie then."""

    def runs() -> bool:
        try:
            return Path(f"/proc/{service.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    return becomes(lambda: not runs())


def test_not_ready_while_the_database_is_behind_the_code(tmp_path: Path, database_url: str) -> None:
    """`/readyz` is false while the schema is not the one of this version: an older one, or a newer."""
    with serving(tmp_path, database_url, AUTO_MIGRATE="false") as service:
        database = Database(database_url)
        with database.read() as session:
            present = session.connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        for version, status in (("0000", 503), (present, 200)):
            with database.write() as transaction:
                transaction.connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})
                transaction.commit()
            answer = service.stranger.get("/readyz")
            assert answer.status_code == status
            assert ("retry-after" in answer.headers) is (status == 503)
            assert service.stranger.get("/healthz").status_code == 200
        database.close()


@pytest.mark.parametrize("empty_database_url", ["postgres"], indirect=True)
def test_an_empty_database_is_not_served_unless_it_may_be_migrated(tmp_path: Path, empty_database_url: str) -> None:
    with pytest.raises(AssertionError), serving(tmp_path, empty_database_url, AUTO_MIGRATE="false"):
        pass
    with serving(tmp_path, empty_database_url) as service:
        assert service.admin.get("/v1/me").status_code == 200


@pytest.mark.parametrize("empty_database_url", ["postgres"], indirect=True)
def test_a_service_waits_for_its_database(tmp_path: Path, empty_database_url: str) -> None:
    """What starts during an outage is there when it ends, and no worker takes the others along."""
    away, log, url = tmp_path / "away", tmp_path / "log", make_url(empty_database_url)
    from_away = url.update_query_dict({"host": str(away)}).render_as_string(hide_password=False)
    with ThreadPoolExecutor(1) as hands, ExitStack() as until_the_end:
        served = hands.submit(lambda: until_the_end.enter_context(serving(tmp_path, from_away, "--workers", "2")))
        assert becomes(lambda: log.exists() and "the database does not answer" in log.read_text())
        assert not served.done()
        away.symlink_to(str(url.query["host"]))
        assert served.result().admin.get("/v1/me").status_code == 200
    assert "failed to start" not in log.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_that_waits_can_be_stopped(tmp_path: Path, number: int) -> None:
    environment = os.environ | {
        "SNAPLEDGER_DATABASE_URL": f"postgresql://nobody@/nothing?host={tmp_path}",
        "SNAPLEDGER_DATA_DIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "app.cli.service_commands", "serve", "--port", str(free_port())]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603
    while "the database does not answer" not in (tmp_path / "log").read_text():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(number)
    assert process.wait(timeout=200) != 0


def test_every_worker_logs_in_json(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", "--workers", "2") as service:
        for _ in range(20):
            httpx.get(f"{service.url}/healthz", headers={"X-Request-Id": "one-of-many"})
        while service.log.read_text().count("one-of-many") < 20:
            time.sleep(0.05)
        lines = list(dropwhile(lambda line: line[0] != "{", service.log.read_text().splitlines()))  # after the greeting
        assert len({json.loads(line)["timestamp"] for line in lines}) > 20
