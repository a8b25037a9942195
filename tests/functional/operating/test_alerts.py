"""Each alert fires on what the service itself tells Prometheus when it is in the state that the alert is about."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from provider import Provider, provider
from service_world import X_COLUMNS, Service, numbers_csv, serving
from sqlalchemy import text

from app.db.database import Database

pytestmark = pytest.mark.slow

ALERTS = Path(__file__).parents[3] / "deploy" / "alerts.yml"
MEAN = {"kind": "mean", "column": "x"}
REALS = {"x": {"kind": "real", "bounds": [0, 100]}}
FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})'
INVALID = "snapledger_ledgers_invalid"
MINUTES = 25

Samples = dict[str, tuple[float, bool]]


@pytest.fixture(scope="session")
def promtool(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Prometheus's own tool: the machine's, or that of Debian's package, unpacked for this run alone."""
    if (found := shutil.which("promtool")) is not None:
        return found
    folder = tmp_path_factory.mktemp("prometheus")
    for command in (["apt-get", "-q", "update"], ["apt-get", "-q", "download", "prometheus"]):
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode != 0:  # noqa: S603
            pytest.skip("there is neither promtool nor Debian's package prometheus")
    (package,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)  # noqa: S603, S607
    return str(folder / "usr" / "bin" / "promtool")


def samples(service: Service) -> Samples:
    """What a scrape with the admin's key gives: values by series, and whether a series only ever rises."""
    answer = httpx.get(f"{service.url}/metrics", headers={"Authorization": f"Bearer {service.admin_key}"})
    found = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = ",".join(f"{name}={json.dumps(value)}" for name, value in sample.labels.items())
            found[f"{sample.name}{{{labels}}}"] = (sample.value, family.type in {"counter", "histogram"})
    return {name: value for name, value in found.items() if name.startswith("snapledger_")}


def series(before: Samples, after: Samples) -> list[dict[str, str]]:
    """The minute between two scrapes, again and again."""
    told = []
    for name, (value, rises) in after.items():
        if not rises:
            values = f"{value}x{MINUTES}"
        elif name in before:
            values = f"{before[name][0]}+{value - before[name][0]}x{MINUTES}"
        else:  # Prometheus sees it from the second scrape on
            values = f"_ {value}+{value}x{MINUTES}"
        told.append({"series": name, "values": values})
    return told


def firing(promtool: str, folder: Path, before: Samples, after: Samples) -> set[str]:
    """The alerts that fire in the end, as Prometheus evaluates them."""
    shutil.copyfile(ALERTS, folder / "alerts.yml")
    expected = {"expr": FIRING, "eval_time": f"{MINUTES - 5}m", "exp_samples": [{"labels": "{none=''}", "value": 1}]}
    test = {"interval": "1m", "input_series": series(before, after), "promql_expr_test": [expected]}
    rules = {"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "test.yml").write_text(json.dumps(rules))
    command = [promtool, "test", "rules", "test.yml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    told = done.stdout + done.stderr
    assert "got:" in told, told  # never what was expected, so that the tool says what it is
    got = told.partition("got:")[2]
    return {part.partition('"')[0] for part in got.split('alertname="')[1:]}


def slowly(service: Service) -> None:
    """A request that takes longer than an alert wants."""

    def pieces() -> Iterator[bytes]:
        yield b"{"
        time.sleep(6)
        yield b"]"

    headers = {"Authorization": f"Bearer {service.admin_key}", "Content-Type": "application/json"}
    assert httpx.post(f"{service.url}/v1/principals", content=pieces(), headers=headers).status_code == 400


@pytest.fixture
def away() -> Iterator[Provider]:
    with provider(Provider) as running:
        running.away = True
        yield running


def test_each_alert_fires_and_none_without_a_cause(promtool: str, tmp_path: Path, away: Provider) -> None:
    settings = {
        "VERIFY_SECONDS": "1",
        "OIDC_ISSUER": away.url,
        "OIDC_AUDIENCE": "snapledger",
        "OIDC_ROLE_MAP": "a=analyst",
    }
    database_url = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, database_url, **settings) as service:
        table, lost = service.table(X_COLUMNS, numbers_csv(20)), service.table(REALS, numbers_csv(30))
        table.fresh(MEAN, epsilon="1")
        quiet = samples(service)
        for _ in range(20):
            assert table.release(MEAN, epsilon="1").status_code == 200
            assert table.release({"kind": "mean", "column": "y"}, epsilon=1).status_code == 422
        after_ordinary_work = samples(service)
        assert firing(promtool, tmp_path, quiet, after_ordinary_work) == set()

        table.fresh(MEAN, epsilon="8.5")
        for _ in range(5):
            answer = service.stranger.get("/v1/me", headers={"Authorization": f"Bearer {away.token('ada')}"})
            assert answer.status_code == 503
        for path in service.data.glob("*.parquet"):
            path.write_bytes(b"no table any more")
        scanned = {"kind": "variance", "column": "x", "bounds": [0, 99]}  # not the declared bounds
        assert lost.release(scanned, epsilon=1).status_code == 503
        slowly(service)
        database = Database(database_url)
        with database.write() as transaction:
            transaction.connection.execute(text("UPDATE entries SET epsilon_nano = 1 WHERE kind = 'debit'"))
            transaction.commit()
        while f"{INVALID} 1" not in httpx.get(f"{service.url}/metrics").text:
            time.sleep(0.1)
        with database.write() as transaction:
            transaction.connection.execute(text("ALTER TABLE releases RENAME TO gone"))
            transaction.commit()
        key = {"Authorization": f"Bearer {service.admin_key}"}
        assert httpx.get(f"{service.url}/v1/releases", headers=key).status_code == 500
        database.close()
        assert firing(promtool, tmp_path, after_ordinary_work, samples(service)) == {
            line.split()[-1] for line in ALERTS.read_text().splitlines() if "- alert:" in line
        }
    subprocess.run([promtool, "check", "rules", str(ALERTS)], check=True, capture_output=True)  # noqa: S603
