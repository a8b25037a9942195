"""Grafana's files: held against Grafana's own types and documented settings, and what their queries ask."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml
from readings import Readings

pytestmark = pytest.mark.recipes
ROOT = Path(__file__).parents[2]
FILES = ROOT / "docs" / "examples" / "grafana"
TOOLS = ROOT / "tools" / "recipes"
DASHBOARD = FILES / "penguins.json"

# What Grafana 13 reads of a provisioned data source, and what each plug-in reads of `jsonData` and `secureJsonData`.
SOURCE = {"name", "type", "access", "url", "user", "basicAuth", "basicAuthUser", "jsonData", "secureJsonData", "uid"}
PLUGINS = {
    "grafana-postgresql-datasource": ({"database", "sslmode", "postgresVersion", "maxOpenConns"}, {"password"}),
    "yesoreyeram-infinity-datasource": (
        {"auth_method", "allowedHosts", "timeoutInSeconds", "tlsSkipVerify"},
        {"basicAuthPassword", "bearerToken", "apiKeyValue"},
    ),
}


def sources() -> dict[str, dict[str, Any]]:
    told = yaml.safe_load((FILES / "datasources.yaml").read_text())
    assert told.keys() == {"apiVersion", "datasources"}
    return {source["uid"]: source for source in told["datasources"]}


def panel(uid: str) -> dict[str, Any]:
    """The dashboard's panel that reads a data source."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    (found,) = (each for each in panels if each["datasource"]["uid"] == uid)
    assert found["datasource"]["type"] == sources()[uid]["type"]
    return dict(found)


def test_data_sources_have_settings_that_grafana_reads() -> None:
    for source in sources().values():
        settings, secrets = PLUGINS[source["type"]]
        assert source.keys() <= SOURCE
        assert source["jsonData"].keys() <= settings
        assert source["secureJsonData"].keys() <= secrets
        assert all(secret.startswith("$") for secret in source["secureJsonData"].values())


def test_the_provider_has_what_grafana_reads() -> None:
    told = yaml.safe_load((FILES / "dashboards.yaml").read_text())
    (provider,) = told["providers"]
    assert told.keys() == {"apiVersion", "providers"}
    assert provider.keys() <= {"name", "orgId", "folder", "folderUid", "type", "options", "updateIntervalSeconds"}
    assert provider["type"] == "file"
    assert provider["options"].keys() == {"path"}


def compile_dashboard(folder: Path, dashboard: str) -> str:
    """Return what TypeScript says of a dashboard that should be of Grafana's types."""
    if shutil.which("node") is None or not (TOOLS / "node_modules").exists():
        pytest.skip("needs Node.js and tools/recipes/node_modules, which make test-recipes installs")
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(TOOLS / "node_modules")
        for name in ("package.json", "tsconfig.json", "dashboard_types.ts"):
            shutil.copy(TOOLS / name, folder)
    line = (
        f'import type {{ BarCharts }} from "./dashboard_types.js";\nexport const dashboard: BarCharts = {dashboard};\n'
    )
    (folder / "dashboard.ts").write_text(line)
    compiler = TOOLS / "node_modules" / ".bin" / "tsc"
    return subprocess.run([compiler, "-p", folder], capture_output=True, text=True, check=False).stdout  # noqa: S603


def test_the_dashboard_is_of_grafanas_types(tmp_path: Path) -> None:
    text = DASHBOARD.read_text()
    assert compile_dashboard(tmp_path, text) == ""
    wrong = text.replace('"xField"', '"xfield"')
    assert "'\"xfield\"' does not exist" in compile_dashboard(tmp_path, wrong)


def test_the_query_of_the_database_answers_the_figure(readings: Readings) -> None:
    (target,) = panel("figures-by-sql")["targets"]
    with psycopg.connect(readings.database_url) as connection:
        rows = connection.execute(target["rawSql"].encode()).fetchall()
    assert rows == [(row["label"], row["value"]) for row in readings.species]


def test_the_request_by_key_answers_the_figure(readings: Readings) -> None:
    source, (target,) = sources()["figures-by-key"], panel("figures-by-key")["targets"]
    assert source["secureJsonData"]["basicAuthPassword"] == "$SNAPLEDGER_KEY"
    login = (source["basicAuthUser"], readings.key)
    answer = httpx.request(target["url_options"]["method"], readings.url + target["url"], auth=login)
    rows = csv.DictReader(io.StringIO(answer.raise_for_status().text))
    label, value = (column["selector"] for column in target["columns"])
    assert [(row[label], float(row[value])) for row in rows] == [
        (row["label"], row["value"]) for row in readings.species
    ]
