"""What the pages show beside their sessions is true as well: bodies, answers, settings of other programs."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import households
import httpx
import json_text
import page_text
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from client_world import settle
from service_world import Service, key_of, serving
from shell_text import TOLD_URL, shell
from sqlalchemy import make_url

from app.config import Settings

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
MEAN = {"kind": "mean", "column": "body_mass_g"}

# Whose fenced blocks which tests run; the languages of a page are all that are on it.
RUN = {
    "README.md": {"sh", "json", "python"},
    "choosing.md": {"pycon"},
    "client.md": {"pycon", "console", "python"},  # signing on has tests of its own
    "command-line.md": {"text"},  # generated; a test parses its examples
    "installation.md": {"console"},
    "engines.md": {"sh", "json"},
    "figures.md": {"json", "sh", "html"},  # figures/ has tests of the page, and of what a frame needs
    "how-it-works.md": {"{flow}"},
    "http.md": {"sh"},  # tests of If-Match send what the command does
    "index.md": {"{toctree}"},
    "ledger.md": {"sh", ""},
    "mathematics.md": {"pycon"},
    "deployment.md": {"sh"},  # tests/containers holds the file that it starts, and runs what makes the secrets
    "operations.md": {"yaml", "sh"},  # the command has tests of its own
    "messages.md": {"text"},  # generated, and never run
    "missing-values.md": {"pycon"},
    "performance.md": {"sh"},  # written by make bench, which has run them
    "planning.md": {"json"},
    "rehearsals.md": {"json"},
    "reports.md": {"json"},
    "recipes.md": {"python", "sh", "sql", "{literalinclude}"},  # tests/recipes runs them
    "python.md": set(),  # made of docstrings, whose examples have a test of their own
    "r.md": {"r"},  # tests/r runs it
    "sign-on.md": {"sh"},  # settings and commands, which have tests of their own
    "tutorial-analyst.md": {"pycon"},
    "tutorial-owner.md": {"console", "json"},
}


def blocks(page: str, language: str) -> list[str]:
    path = ROOT / page if page.endswith("README.md") else DOCS / page
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)


def test_every_block_is_run_by_some_test() -> None:
    for path in [ROOT / "README.md", *DOCS.glob("*.md")]:
        fences = re.findall(r"^```(.*)$", path.read_text(), re.MULTILINE)
        assert {fence.split(" ")[0] for fence in fences[::2]} == RUN.get(path.name, set()), path.name
        assert set(fences[1::2]) <= {""}, path.name


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """A service with the penguins of the tutorials, and the key of ada, who may spend 4 on them."""
    home = tmp_path_factory.mktemp("lab")
    with serving(home, f"sqlite:///{home}/ledger.sqlite3") as service:
        yield service, settle(service, limit=10, allowance=4).ada


@pytest.mark.parametrize("page", ["choosing.md", "mathematics.md", "tutorial-analyst.md"])
def test_notebooks(lab: tuple[Service, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str) -> None:
    service, key = lab
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SNAPLEDGER_URL", service.url)
    monkeypatch.setenv("SNAPLEDGER_KEY", key)
    names: dict[str, Any] = {}
    text = (DOCS / page).read_text()
    try:
        with asyncio.Runner() as loop:
            count = page_text.run(text, names, page_text.Terminal(tmp_path), loop)
    finally:
        if "client" in names:
            names["client"].close()
    assert count == text.count(">>> ") > 5


def test_missing_values(lab: tuple[Service, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    service, _ = lab
    table = service.table(households.COLUMNS, households.as_csv(), limit="20", allowance="20")
    monkeypatch.setenv("SNAPLEDGER_URL", service.url)
    monkeypatch.setenv("SNAPLEDGER_KEY", key_of(table.analyst))
    text = (DOCS / "missing-values.md").read_text()
    names: dict[str, Any] = {}
    try:
        with asyncio.Runner() as loop:
            named = text.replace('"households"', f'"{table.name}"')
            assert page_text.run(named, names, page_text.Terminal(tmp_path), loop) == text.count(">>> ")
    finally:
        names["client"].close()
    assert table.release({"kind": "mean", "column": "income"}, epsilon=1).json()["reused"]


def test_lines_are_wrapped() -> None:
    """At 100 columns, but for what cannot be: tables, code, headings, formulas, and words without a space."""
    generated = {DOCS / "messages.md"}
    for path in {*ROOT.glob("*.md"), ROOT / "client" / "README.md", *DOCS.rglob("*.md")} - generated:
        text = re.sub(r"^```.*?^```$|^\$\$$.*?^\$\$$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        long = [
            line for line in text.splitlines() if len(line) > 100 and not re.match(r"\||!\[|#|\$|\S+$", line.strip())
        ]
        assert long == [], path.name


def test_every_setting_is_listed() -> None:
    pages = "".join((DOCS / page).read_text() for page in ("operations.md", "sign-on.md"))
    listed = re.findall(r"^\| `SNAPLEDGER_(\w+)`", pages, re.MULTILINE)
    known = {name.upper() for name in Settings.model_fields} - {"CONNECTION"}
    assert known == set(listed)


def test_planning(lab: tuple[Service, str]) -> None:
    service, key = lab
    derived, bias, free = blocks("planning.md", "json")
    ada = service.client(key)
    width = ada.post("/v1/datasets/penguins/derived/plan", json=json.loads(derived)).json()
    assert width["expected"] == {"half_width": pytest.approx(200, abs=0.01), "basis": "guesses"}
    plan = ada.post("/v1/datasets/penguins/plan", json={"statistic": MEAN, "epsilon": "0.5", "guess": 4200}).json()
    assert json.loads(f"{{{bias}}}") == {"bias": plan["bias"]}
    planned = ada.post("/v1/plan", content=free, headers={"Content-Type": "application/json"})
    assert planned.json()["privacy"]["epsilon"] == "0.871099697"


def test_rehearsals(lab: tuple[Service, str]) -> None:
    service, key = lab
    (body,) = blocks("rehearsals.md", "json")
    answer = service.client(key).post("/v1/datasets/penguins/releases", json=json.loads(body))
    assert (answer.status_code, answer.json()["rehearsed"]) == (200, True)


def test_reports(lab: tuple[Service, str]) -> None:
    service, key = lab
    (body,) = blocks("reports.md", "json")
    ada, path = service.client(key), "/v1/datasets/penguins/reports/monthly"
    assert ada.put(path, json=json.loads(body)).status_code == 201
    assert ada.post(f"{path}/plan").json()["runs"] == 12
    assert ada.delete(path).status_code == 204


def test_what_prometheus_is_told(lab: tuple[Service, str]) -> None:
    service, _ = lab
    (text,) = blocks("operations.md", "yaml")
    (job,) = yaml.safe_load(text)["scrape_configs"]
    assert set(job) == {"job_name", "authorization", "static_configs"}  # the path and the scheme are the defaults
    credentials = {"Authorization": f"Bearer {key_of(service.principal('auditor')[1])}"}
    told = httpx.get(f"{service.url}/metrics", headers=credentials).text
    assert 'snapledger_epsilon_limit{dataset="penguins"} 10.0' in told


@pytest.mark.slow
def test_tables_elsewhere(tmp_path: Path, postgres_server: str) -> None:
    *_, dates, files, body = blocks("engines.md", "json")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE documented")
    url = make_url(postgres_server).set(database="documented").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE people (age int)")
        connection.execute("INSERT INTO people VALUES (20), (30), (40)")
    lake = tmp_path / "lake"
    (lake / "2024" / "people").mkdir(parents=True)
    for i in range(3):
        pq.write_table(pa.table({"age": [20 + i]}), lake / "2024" / "people" / f"{i}.parquet")
    settings = {"CONNECTION_WAREHOUSE": url, "CONNECTION_LAKE": lake.as_uri(), "DATA_DIR": str(tmp_path / "data")}
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", **settings) as service:
        _, owner = service.principal("owner")
        for source in (files, body):
            made = owner.post("/v1/datasets", content=source, headers={"Content-Type": "application/json"})
            assert (made.status_code, made.json()["n"]) == (201, 3)
        metadata = {"name": "patients", "epsilon_limit": "5", "columns": json.loads(dates)}
        content = b"admitted,arrived\n2021-03-31,2021-03-31T14:00+02:00\n2021-04-01,2021-04-01\n"
        assert service.upload(owner, metadata, content).status_code == 201


@pytest.mark.slow
def test_the_readmes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The requests of the service's, in a shell before a service as `make serve` starts it; then the client's."""
    commands = [block for block in blocks("README.md", "sh") if "curl" in block]
    answers = blocks("README.md", "json")
    assert (len(commands), len(answers)) == (3, 2)
    with (
        serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", MAX_EPSILON_PER_RELEASE="10") as service,
        shell(tmp_path, service.url, SNAPLEDGER_ADMIN_KEY=service.admin_key) as terminal,
    ):
        terminal.type(f"cd {ROOT}")
        terminal.type('curl() { command curl --silent --show-error --fail-with-body "$@" && echo; }')
        key = ""
        for i, block in enumerate(commands):
            if "<the key printed above>" in block:
                key = service.admin.post("/v1/principals/ada/keys").json()["key"]
            printed = terminal.type(f"{block.replace('<the key printed above>', key).rstrip()}\n")
            assert '"status":4' not in printed, printed
            if i > 0:
                json_text.compare(answers[i - 1], printed)
        allowance = {"epsilon_limit": "20"}
        service.admin.put("/v1/datasets/penguins/allowances/ada", json=allowance).raise_for_status()
        (code,) = blocks("client/README.md", "python")
        monkeypatch.setenv("SNAPLEDGER_URL", service.url)
        monkeypatch.setenv("SNAPLEDGER_KEY", key)
        names: dict[str, Any] = {}
        exec(code, names)  # noqa: S102 - our own
        names["client"].close()
    assert re.search(r"± 5[01] \(95 %\); ε = 0\.872 paid", capsys.readouterr().out)  # the error covers the rounding


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_commands_of_a_registration(tmp_path: Path) -> None:
    (block,) = blocks("engines.md", "sh")
    rows = "\n".join(str(18 + i % 60) for i in range(50))
    (tmp_path / "people.csv").write_text(f"age\n{rows}\n")
    editor = tmp_path / "confirm"
    editor.write_text("""#!/bin/sh\nsed -i 's/"bounds"$//; s/"18"/"0"/; s/"67"/"120"/' "$1"\n""")
    editor.chmod(0o755)
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3") as service:
        key = settle(service, limit=1, allowance=1).owner
        with shell(tmp_path, service.url, EDITOR=str(editor)) as terminal:
            printed = terminal.type(block.replace("KEY=…", f"KEY={key}"))
    assert "Dataset people is registered: 50 rows" in printed


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_commands_of_the_ledger(tmp_path: Path) -> None:
    """Each line, with names in place of the words in capitals."""
    lines = [line.split("  #")[0].strip() for block in blocks("ledger.md", "sh") for line in block.splitlines()]
    assert len(lines) == 8
    secret = "a secret that is known to this test alone"  # noqa: S105
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", SECRET=secret) as service:
        settle(service, limit=10, allowance=1)
        variables = {
            "SNAPLEDGER_DATABASE_URL": f"sqlite:///{tmp_path}/ledger.sqlite3",
            "SNAPLEDGER_DATA_DIR": str(tmp_path / "data"),
            "SNAPLEDGER_SECRET": secret,
        }
        with shell(tmp_path, **variables) as terminal:
            public_key = terminal.type("snapledger ledger public-key").strip()
            words = {"FILE": "c.json", "KEY": public_key, "DIR": "kept", "DATASET EPSILON": "penguins 0.5"}
            for told in lines:
                line = told
                for word, name in words.items():
                    line = re.sub(rf"(?<![-_])\b{word}\b", name, line)
                if "serve" in line:
                    terminal.type(f"{line} > served.log 2>&1 &")
                    ready = f"curl --silent --retry 60 --retry-delay 1 --retry-connrefused {TOLD_URL}/readyz"
                    assert '"ok"' in terminal.type(ready)
                    continue
                if "restore" in line:
                    terminal.type("export SNAPLEDGER_DATABASE_URL=sqlite:///new.sqlite3 SNAPLEDGER_DATA_DIR=new")
                terminal.type(line)
                assert terminal.type("echo $?") == "0\n", line
