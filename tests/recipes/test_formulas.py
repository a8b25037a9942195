"""What the page gives for Power Query and Google Sheets: read by Microsoft's parser, and names that exist."""

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import psycopg
import pytest
from readings import EXAMPLE_URL, FIGURE_PATH, Readings

from snapledger_client import Client

pytestmark = pytest.mark.recipes
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
BY_KEY, FROM_DATABASE = (EXAMPLES / "power-query" / f"{name}.pq" for name in ("figure-by-key", "figure-from-database"))
TOOLS = ROOT / "tools" / "recipes"


def parse(*formulas: Path) -> "subprocess.CompletedProcess[str]":
    node = shutil.which("node")
    if node is None or not (TOOLS / "node_modules").exists():
        pytest.skip("needs Node.js and tools/recipes/node_modules, which make test-recipes installs")
    return subprocess.run([node, TOOLS / "read_formulas.js", *formulas], capture_output=True, text=True, check=False)  # noqa: S603


def header(readings: Readings) -> list[str]:
    answer = httpx.get(readings.csv_url, auth=("any", readings.key)).raise_for_status()
    return next(csv.reader(io.StringIO(answer.text)))


def test_microsofts_parser_reads_the_formulas(tmp_path: Path) -> None:
    done = parse(BY_KEY, FROM_DATABASE)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "wrong.pq").write_text(BY_KEY.read_text().replace("\nin\n", ",\nin\n"))
    assert parse(tmp_path / "wrong.pq").returncode == 1


def test_power_query_asks_for_what_the_service_has(readings: Readings) -> None:
    text = BY_KEY.read_text()
    (path,) = re.findall(r'RelativePath = "([^"]+)"', text)
    assert f'"{EXAMPLE_URL}"' in text
    assert f"/{path}" == f"{FIGURE_PATH}.csv"
    typed = set(re.findall(r'\{"(\w+)", type (?:number|datetimezone)\}', text))
    assert "value" in typed
    assert typed <= set(header(readings))


def test_power_query_asks_for_what_the_database_has(readings: Readings) -> None:
    text = FROM_DATABASE.read_text()
    ((schema, table),) = re.findall(r'\[Schema = "(\w+)", Item = "(\w+)"\]', text)
    wanted = re.findall(r'\[(\w+)\] = "(\w+)"', text)
    (order,) = re.findall(r'\{"(\w+)", Order.Ascending\}', text)
    conditions = " AND ".join(f'"{column}" = %s' for column, _ in wanted)
    query = f'SELECT label FROM {schema}.{table} WHERE {conditions} ORDER BY "{order}"'  # noqa: S608 - our own page
    with psycopg.connect(readings.database_url) as connection:
        labels = [label for (label,) in connection.execute(query.encode(), [value for _, value in wanted])]
    assert labels == [row["label"] for row in readings.species]


def test_google_sheets_reads_public_figures(readings: Readings) -> None:
    """Without a key, from the addresses of the formulas; and the columns that they choose by number."""
    whole, chosen = (EXAMPLES / "google-sheets.txt").read_text().splitlines()
    addresses = re.findall(r'IMPORTDATA\("([^"]+)"\)', whole + chosen)
    assert addresses == [f"{EXAMPLE_URL}{FIGURE_PATH}.csv"] * 2
    numbers = [int(number) for number in re.findall(r"Col(\d+)", chosen)]
    names = header(readings)
    assert [names[number - 1] for number in numbers] == ["label", "value", "interval_lower", "interval_upper"]
    assert httpx.get(readings.csv_url).status_code == 401
    address = f"{readings.url}{FIGURE_PATH}"
    with Client(readings.url, readings.owner_key) as owner:
        source = owner.dataset("penguins").figure("species").source
        owner.dataset("penguins").publish("sheet", "For a sheet", releases=source["releases"], public=True)
    told = httpx.get(f"{address.removesuffix('species')}sheet.csv").raise_for_status()
    assert next(csv.reader(io.StringIO(told.text))) == names
