"""The page's code for pandas and DuckDB reads what is published."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest
from readings import Readings
from sqlalchemy import make_url

pytestmark = pytest.mark.recipes
PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text()


def blocks(section: str, language: str) -> list[str]:
    """The fenced blocks of a section of the page."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own page
    return names


@pytest.fixture(autouse=True)
def with_addresses(readings: Readings, monkeypatch: pytest.MonkeyPatch) -> None:
    database = make_url(readings.database_url).set(drivername="postgresql+psycopg")
    monkeypatch.setenv("SNAPLEDGER_URL", readings.url)
    monkeypatch.setenv("SNAPLEDGER_KEY", readings.key)
    monkeypatch.setenv("FIGURES_DATABASE", database.render_as_string(hide_password=False))


@pytest.mark.parametrize("way", [0, 1], ids=["by key", "from the database"])
def test_pandas(readings: Readings, way: int) -> None:
    names = run(blocks("pandas", "python")[way])
    if "engine" in names:
        names["engine"].dispose()
    frame: pd.DataFrame = names["species"]
    for column in ("label", "value", "interval_lower", "interval_upper"):
        assert list(frame[column]) == [row[column] for row in readings.species]


def test_duckdb(readings: Readings) -> None:
    (code,) = blocks("DuckDB", "python")
    frequent = [(row["label"], row["value"]) for row in readings.species if row["value"] > 50]
    assert len(frequent) == 3
    assert run(code)["most"] == sorted(frequent, key=lambda each: -each[1])


def test_the_user_of_the_database_reads_and_nothing_else(readings: Readings) -> None:
    with psycopg.connect(readings.database_url, autocommit=True) as connection:
        counted = connection.execute("SELECT count(*) FROM published.figure_rows WHERE figure = 'species'").fetchone()
        assert counted == (len(readings.species),)
        for refused in ("DELETE FROM published.figures", "SELECT * FROM published.state"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(refused)
