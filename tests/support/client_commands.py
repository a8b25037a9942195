"""The client's commands in this process, since a process each would take a second."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.service_commands import app
from snapledger_client import Client
from snapledger_client.cli import session

Run = Callable[..., Result]
"""Runs a command, with another `key`, `url` or standard input `text` if they are given."""


def environment(home: Path, **settings: str | None) -> dict[str, str | None]:
    """Nothing of ours but these, in an empty home directory."""
    cleared: dict[str, str | None] = dict.fromkeys(name for name in os.environ if name.startswith("SNAPLEDGER_"))
    return cleared | {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")} | settings


def running_as(own_key: str, service_url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Commands of whoever has this key; what is sent again is sent without a pause."""
    monkeypatch.setattr(session, "Client", partial(Client, backoff=0.001))

    def run(*arguments: str, key: str | None = own_key, url: str | None = service_url, text: str = "") -> Result:
        settings = environment(home, SNAPLEDGER_URL=url, SNAPLEDGER_KEY=key)
        return CliRunner().invoke(app, arguments, input=text, env=settings, prog_name="snapledger")

    return run
