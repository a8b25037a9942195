"""What is taken away from a result: the picture, the exact figures, the question as a program, a citation."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from dashboard import Dashboard, Penguins
from playwright.sync_api import Page, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
SPECIES = {"kind": "histogram", "column": "species"}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def release(penguins: Penguins) -> dict[str, Any]:
    found: dict[str, Any] = penguins.table.fresh(SPECIES, epsilon="1")
    return found


@pytest.fixture
def page(opened: Opened, penguins: Penguins, release: dict[str, Any]) -> Page:
    dashboard = opened(permissions=["clipboard-read", "clipboard-write"])
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/releases/{release['id']}")
    dashboard.settled()
    return page


def saved(page: Page, what: str) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save the {what}").click()
    assert download.value.suggested_filename.startswith("table-")
    return download.value.path()


def copied(page: Page, button: str) -> str:
    page.get_by_role("button", name=button).click()
    expect(page.locator(".toast")).to_contain_text("is copied.")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_the_picture_stands_alone(page: Page) -> None:
    text = saved(page, "picture as SVG").read_text()
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
    assert "Chinstrap" in text
    assert "var(" not in text
    content = saved(page, "picture as PNG").read_bytes()
    assert content.startswith(PNG)
    width = int.from_bytes(content[16:20])
    assert width > 1_000  # twice as fine as on the page


def test_the_figures_are_exact(page: Page, release: dict[str, Any]) -> None:
    rows = list(csv.reader(saved(page, "figures as CSV").read_text().splitlines()))
    assert rows[0] == ["species", "value", "lower", "upper"]
    assert [row[0] for row in rows[1:4]] == ["Adelie", "Chinstrap", "Gentoo"]
    figures = [[float(each) for each in row[1:]] for row in rows[1:]]
    stored = zip(release["value_in_range"], release["accuracy"]["interval"], strict=True)
    assert figures == [[value, *interval] for value, interval in stored]


def test_the_program_gets_the_same_release_for_nothing(
    page: Page, penguins: Penguins, release: dict[str, Any], tmp_path: Path
) -> None:
    program = tmp_path / "question.py"
    program.write_text(copied(page, "Copy the question as Python") + "print(answer.id, answer.budget.charged)\n")
    environment = os.environ | {"SNAPLEDGER_KEY": penguins.analyst_key}
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == f"{release['id']} 0"


def test_curl_gets_the_same_release_for_nothing(page: Page, penguins: Penguins, release: dict[str, Any]) -> None:
    command = copied(page, "Copy the question as curl")
    if not shutil.which("curl"):
        pytest.skip("needs curl")
    environment = os.environ | {"SNAPLEDGER_KEY": penguins.analyst_key}
    done = subprocess.run(  # noqa: S602 - our own command
        command, shell=True, env=environment, capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert (answer["id"], answer["budget"]["charged"]) == (release["id"], "0")


def test_r_asks_the_same(page: Page, penguins: Penguins) -> None:
    program = copied(page, "Copy the question as R")
    assert f'/v1/datasets/{penguins.name}/releases"' in program
    assert 'req_body_json(list(statistic = list(kind = "histogram", column = "species"), epsilon = "1"))' in program


def test_a_citation_names_the_release(page: Page, release: dict[str, Any]) -> None:
    sentence = copied(page, "Copy a sentence to cite this")
    assert release["id"] in sentence
    assert re.search(r"ε = 1, snapping mechanism\) on \d{4}-\d\d-\d\d", sentence)


def test_names_of_formulas_stay_texts(opened: Opened, service: Service) -> None:
    """A spreadsheet computes what begins with an equals sign."""
    columns = {"answer": {"kind": "category", "categories": ["=1+1", "a,b", 'say "so"']}}
    table = Penguins.of(service.table(columns, 'answer\n=1+1\n"a,b"\n'), service)
    release = table.table.fresh({"kind": "histogram", "column": "answer"}, epsilon="1")
    dashboard = opened()
    page = dashboard.sign_in(table.analyst_key, f"#/datasets/{table.name}/releases/{release['id']}")
    dashboard.settled()
    rows = list(csv.reader(saved(page, "figures as CSV").read_text().splitlines()))
    assert [row[0] for row in rows[1:4]] == ["'=1+1", "a,b", 'say "so"']
