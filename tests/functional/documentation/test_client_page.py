"""The page about the client is true, from its first line to its last."""

import asyncio
import re
from pathlib import Path
from typing import Any

import page_text
import pytest
from client_world import settle
from service_world import serving
from session_text import masked

from snapledger_client import Client

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "client.md"
README_SESSION = re.compile(r"## From Python\n\n```python\n(.*?)```", re.DOTALL)
EXIT_CODES = range(8)


@pytest.mark.slow
def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text()
    with (
        serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", MAX_EPSILON_PER_RELEASE="10") as service,
        asyncio.Runner() as loop,
    ):
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("SNAPLEDGER_KEY", service.admin_key)
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        python, _, terminal = text.replace("http://127.0.0.1:8000", service.url).partition("## From a terminal")
        names: dict[str, Any] = {}
        clients: list[Client] = []
        try:
            examples = page_text.run(python, names, page_text.Terminal(tmp_path), loop)
            clients = [each for each in names.values() if isinstance(each, Client)]
            (tmp_path / "ada.key").write_text(names["ada"].key)
        finally:
            for each in clients:
                each.close()
        monkeypatch.delenv("SNAPLEDGER_KEY")
        commands = page_text.run(terminal, {}, page_text.Terminal(tmp_path), loop)
    assert (examples, commands) == (text.count(">>> "), text.count("\n$ "))


@pytest.mark.slow
def test_the_readme_s_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = README_SESSION.findall((ROOT / "README.md").read_text())
    names: dict[str, Any] = {}
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3") as service:
        ada = settle(service, limit=10, allowance=6).ada
        exec(code.replace("http://127.0.0.1:8000", service.url).replace("…", ada, 1), names)  # noqa: S102 - our own
        names["client"].close()
    printed = capsys.readouterr().out.splitlines()
    for told, line in zip(re.findall(r"print\(.*#(.*)", code), printed, strict=True):
        assert masked(line).startswith(masked(told.strip()).removesuffix("…"))


def test_every_exit_code_is_told() -> None:
    told = [line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert told == ["exit code", *map(str, EXIT_CODES)]
