"""Superset shows a figure from the figures' database, in a browser, as the page's script makes the chart."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Response, sync_playwright
from readings import Readings
from service_world import becomes
from sqlalchemy import make_url
from superset_world import PYTHON, Superset, running_superset

pytestmark = [pytest.mark.recipes, pytest.mark.timeout(1200)]
SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "superset_chart.py"
CHROMIUM = shutil.which("chromium")
SEEN = 0.2  # of the highest bar; lower ones may be noise

# Keeps what the chart writes onto its canvas.
LISTEN = """
window.written = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
  window.written.push(String(text));
  return fillText.call(this, text, ...more);
};
"""


@pytest.fixture(scope="module")
def superset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Superset]:
    if not PYTHON.exists():
        pytest.skip("needs .venv-recipes, which make test-recipes installs")
    with running_superset(tmp_path_factory.mktemp("superset")) as running:
        yield running


def make_chart(superset: Superset, readings: Readings, *arguments: str) -> "subprocess.CompletedProcess[str]":
    database = make_url(readings.database_url).set(drivername="postgresql+psycopg2")
    environment = os.environ | {
        "SUPERSET_URL": superset.url,
        "SUPERSET_USER": "admin",
        "SUPERSET_PASSWORD": superset.password,
        "FIGURES_DATABASE": database.render_as_string(hide_password=False),
    }
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.fixture(scope="module")
def chart_url(superset: Superset, readings: Readings) -> str:
    made = make_chart(superset, readings, "penguins", "species")
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout.strip()


@pytest.fixture
def page() -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("needs Debian's package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1000, "height": 700})
        browser.close()


def test_the_chart_shows_the_numbers(
    superset: Superset, readings: Readings, chart_url: str, page: Page, tmp_path: Path
) -> None:
    page.set_default_timeout(300_000)
    page.add_init_script(LISTEN)
    page.goto(f"{superset.url}/login/")
    page.fill("#username", "admin")
    page.fill("#password", superset.password)
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "/login" not in url)

    def is_data(answer: Response) -> bool:
        return "/api/v1/chart/data" in answer.url

    with page.expect_response(is_data) as told:
        page.goto(f"{chart_url}&standalone=1")
    data = told.value.json()["result"][0]["data"]
    assert [(row["bar"], row["value"]) for row in data] == [(row["label"], row["value"]) for row in readings.species]
    labels = {row["label"] for row in readings.species}
    values = {f"{row['value']:,.2f}" for row in readings.species}
    wanted = json.dumps([*labels, *values])
    page.wait_for_function(f"{wanted}.every((text) => window.written.includes(text))")
    largest = max(row["value"] for row in readings.species)
    expected = [row["value"] / largest for row in readings.species if row["value"] > largest * SEEN]
    assert len(expected) == 3
    picture = tmp_path / "superset.png"
    assert becomes(lambda: bar_heights(page.screenshot(path=picture)) == pytest.approx(expected, abs=0.02))


def bar_heights(picture: bytes) -> list[float]:
    """The heights of the bars in a picture from left to right, each divided by the largest; not of low ones.

    Bars have the commonest colour that is no grey.
    """
    with Image.open(io.BytesIO(picture)) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    counts[np.ptp(colours, axis=1) < 60] = 0
    heights = (pixels == colours[counts.argmax()]).all(axis=2).sum(axis=0)
    seen = heights > heights.max() * SEEN
    ends = np.flatnonzero(np.diff(np.concatenate([[False], seen, [False]]).astype(int)))
    return [float(heights[left:right].max() / heights.max()) for left, right in zip(ends[::2], ends[1::2], strict=True)]


def test_the_script_uses_again_what_it_made(superset: Superset, readings: Readings, chart_url: str) -> None:
    assert make_chart(superset, readings, "penguins", "species").stdout.strip() == chart_url


def test_a_wrong_password_is_said(superset: Superset, readings: Readings) -> None:
    wrong = make_chart(Superset(superset.url, "wrong"), readings, "penguins", "species")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("Superset refused /api/v1/security/login: ")
    assert "Traceback" not in wrong.stderr
