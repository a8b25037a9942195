"""The guide's tutorials go as they tell, from a fresh machine on: each command and each line that it prints."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import page_text
import pytest
from client_world import settle
from service_world import serving
from shell_text import TOLD_URL, shell

from snapledger_client import Client

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_owner_s(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial-owner.md").read_text()
    shutil.copy(ROOT / "app" / "demo" / "penguins.csv", tmp_path)
    with shell(tmp_path) as terminal, asyncio.Runner() as loop:
        assert page_text.run(text, {}, terminal, loop) == text.count("\n$ ") > 15


def test_the_analyst_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "tutorial-analyst.md").read_text()
    names: dict[str, Any] = {}
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3") as service, asyncio.Runner() as loop:
        monkeypatch.setenv("SNAPLEDGER_URL", service.url)
        monkeypatch.setenv("SNAPLEDGER_KEY", settle(service, limit=10, allowance=4).ada)
        with shell(tmp_path, service.url) as terminal:
            try:
                count = page_text.run(text.replace(TOLD_URL, service.url), names, terminal, loop)
            finally:
                for each in names.values():
                    if isinstance(each, Client):
                        each.close()
    assert count == text.count(">>> ") > 15


@pytest.mark.slow
def test_the_deployment(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "deployment.md").read_text()
    with shell(tmp_path) as terminal, asyncio.Runner() as loop:
        assert page_text.run(text, {}, terminal, loop) == text.count("\n$ ") > 10
