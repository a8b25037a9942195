"""All ledgers are verified while the service runs, by one process of all; metrics and log have what is found."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from service_world import X_COLUMNS, Service, becomes, numbers_csv, serving
from sqlalchemy import text

from app.config import Settings
from app.db.database import Database

pytestmark = pytest.mark.slow

MEAN = {"kind": "mean", "column": "x"}


def told(service: Service, name: str) -> float:
    """What the metrics have; -1 before the end of the first round."""
    lines = httpx.get(f"{service.url}/metrics").text.splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(f"snapledger_ledgers_{name} ")), -1)


def is_verified_again(service: Service) -> bool:
    """Whether a round has begun and ended from now on."""
    now = time.time()
    return becomes(lambda: told(service, "verified_timestamp_seconds") > now + 1)


def test_what_was_changed_is_found_unasked(tmp_path: Path, database_url: str) -> None:
    with serving(tmp_path, database_url, "--workers", "2", VERIFY_SECONDS="1") as service:
        table, other = (service.table(X_COLUMNS, numbers_csv(20)) for _ in range(2))
        table.fresh(MEAN, epsilon="0.5")
        other.fresh(MEAN, epsilon="0.25")
        assert is_verified_again(service)
        assert told(service, "invalid") == 0
        database = Database(database_url)

        def spent(nano: int) -> None:
            with database.write() as transaction:
                transaction.connection.execute(
                    text("UPDATE entries SET epsilon_nano = :nano WHERE kind = 'debit' AND dataset_id = 1"),
                    {"nano": nano},
                )
                transaction.commit()

        spent(400_000_000)
        assert becomes(lambda: told(service, "invalid") == 1)
        lines = [
            json.loads(line) for line in service.log.read_text().splitlines() if '"snapledger.verification"' in line
        ]
        assert {(line["level"], line["event"], line["ledger"]) for line in lines} == {
            ("error", "ledger is not valid", table.name)
        }
        spent(500_000_000)
        assert becomes(lambda: told(service, "invalid") == 0)
        with database.write() as transaction:
            change = "UPDATE principals SET role = 'admin' WHERE name = :name"
            transaction.connection.execute(text(change), {"name": table.analyst_name})
            transaction.commit()
        assert becomes(lambda: told(service, "invalid") == 1)
        assert '"ledger": "administrative acts"' in service.log.read_text()
        database.close()


@contextmanager
def another(folder: Path, one: Service) -> Iterator[Service]:
    """A process beside one, on the same ledger and data, with the same admin."""
    with serving(folder, one.database_url, VERIFY_SECONDS="1", DATA_DIR=str(one.data)) as other:
        other.admin = other.client(one.admin_key)
        yield other


def test_one_process_makes_the_rounds_until_another_has_to(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", VERIFY_SECONDS="1") as one:
        assert is_verified_again(one)
        with another(tmp_path_factory.mktemp("other"), one) as other:
            assert is_verified_again(one)
            assert is_verified_again(one)
            assert told(other, "verified_timestamp_seconds") == 0
            os.kill(one.pid, signal.SIGKILL)
            assert is_verified_again(other)


def test_a_secret_that_came_since_is_no_false_alarm(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of two processes one was started again with the new secret; the other makes the rounds."""
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", VERIFY_SECONDS="1") as one:
        assert is_verified_again(one)
        secret = one.data / "secret"
        secret.write_text(f"{'new' * 12}\n{secret.read_text()}")
        with another(tmp_path_factory.mktemp("other"), one) as other:
            other.table(X_COLUMNS, numbers_csv(20)).fresh(MEAN, epsilon="0.5")
            assert is_verified_again(one)
            assert is_verified_again(one)
            assert told(one, "invalid") == 0


def test_rounds_that_are_not_wanted_are_not_made(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", VERIFY_SECONDS="0") as service:
        time.sleep(2)
        assert told(service, "verified_timestamp_seconds") == 0
    for wrong in (-1, 7 * 86_400 + 1):
        with pytest.raises(ValueError, match="verify_seconds"):
            Settings(verify_seconds=wrong)
