"""The guide's terminals print what they tell, from a fresh machine on. (`test_guide_examples` has the notebooks.)"""

import asyncio
import shutil
from pathlib import Path

import page_text
import pytest
from shell_text import shell

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[3]


def test_the_owner_s(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial-owner.md").read_text()
    shutil.copy(ROOT / "app" / "demo" / "penguins.csv", tmp_path)
    with shell(tmp_path) as terminal, asyncio.Runner() as loop:
        assert page_text.run(text, {}, terminal, loop) == text.count("\n$ ") > 15


def test_the_installation(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "installation.md").read_text()
    with shell(tmp_path) as terminal, asyncio.Runner() as loop:
        assert page_text.run(text, {}, terminal, loop) == text.count("\n$ ") > 10
