"""LibreOffice Calc reads a figure by its address and a key, and Base reads the figures' database over ODBC."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from readings import Readings

pytestmark = [pytest.mark.recipes, pytest.mark.timeout(600)]
HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
PYTHON = Path("/usr/bin/python3")  # Debian's, for which python3-uno is
SECONDS = 300
COLUMNS = ("label", "value", "interval_lower", "interval_upper")


def do(folder: Path, *task: str, **more: str) -> dict[str, Any]:
    """Start LibreOffice with an empty profile, have a task done in it, and return what it found."""
    office = shutil.which("soffice")
    if office is None or subprocess.run([PYTHON, "-c", "import uno"], capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("LibreOffice or python3-uno is not installed: make help names Debian's packages")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | more
    profile, pipe = f"-env:UserInstallation={(folder / 'profile').as_uri()}", f"recipes{os.getpid()}"
    options = ("--headless", "--norestore", "--nologo", f"--accept=pipe,name={pipe};urp")
    with subprocess.Popen([office, profile, *options], env=environment, cwd=folder, start_new_session=True) as running:  # noqa: S603
        command = [PYTHON, HERE / "office.py", pipe, *task]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603
        running.wait(timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_calc_asks_for_the_key_and_shows_the_figure(readings: Readings, tmp_path: Path) -> None:
    found = do(tmp_path, "calc", readings.csv_url, readings.key)
    header, *rows = found["cells"]
    shown = [dict(zip(header, row, strict=True)) for row in rows]
    assert [[row[name] for name in COLUMNS] for row in shown] == [
        [row[name] for name in COLUMNS] for row in readings.species
    ]
    assert found["asked"] == 1


def test_calc_shows_nothing_with_a_wrong_key(readings: Readings, tmp_path: Path) -> None:
    found = do(tmp_path, "calc", readings.csv_url, "wrong")
    assert found["cells"] is None
    assert found["asked"] > 1


def test_base_reads_the_database(readings: Readings, tmp_path: Path) -> None:
    if not Path("/etc/odbcinst.ini").exists() or "[PostgreSQL Unicode]" not in Path("/etc/odbcinst.ini").read_text():
        pytest.skip("odbc-postgresql is not installed: make help names Debian's packages")
    described = (DOCS / "examples" / "odbc.ini").read_text()
    settings = tmp_path / "odbc.ini"
    settings.write_text(described.replace("db.example.org", readings.socket))
    section = (DOCS / "recipes.md").read_text().split("\n## LibreOffice\n")[1].split("\n## ")[0]
    (query,) = re.findall(r"^```sql\n(.*?)\n```$", section, re.DOTALL | re.MULTILINE)
    found = do(tmp_path, "base", "figures", query, str(tmp_path), ODBCINI=str(settings))
    assert [(label, float(value)) for label, value in found["rows"]] == [
        (row["label"], row["value"]) for row in readings.species
    ]
