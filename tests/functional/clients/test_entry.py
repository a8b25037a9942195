"""Where the command line starts: what is known of commands before they are loaded is true of them."""

import os
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest
import typer

from app.cli import entry, service_commands

HEAVY = ("sqlalchemy", "duckdb", "app.db", "app.services", "app.api", "app.engines", "uvicorn", "fastapi")


def commands(app: typer.Typer) -> dict[str, str]:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return {name: command.get_short_help_str(1000) for name, command in group.commands.items()}


def test_every_command_is_told_as_it_tells_of_itself() -> None:
    assert commands(entry.all_commands()) == commands(service_commands.app)
    remote = commands(entry.remote())
    assert {name: remote[name] for name in entry.REMOTE} == entry.REMOTE
    assert not entry.REMOTE.keys() & entry.OPERATORS.keys()


def start(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A process of its own; on its last line, which of the heavy modules it has loaded."""
    code = (
        "import atexit, sys; from app.cli.entry import main; "
        f"atexit.register(lambda: print([each for each in {HEAVY!r} if each in sys.modules])); main()"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")} | settings
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)  # noqa: S603


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("--help",), 0, "Start the service"),
        (("plan", "--help"), 0, "without reading any data"),
        (("ledger", "show", "--help"), 0, "oldest first"),
        (("ledger", "verification", "--help"), 0, "was verified last"),
        (("--version",), 0, f"snapledger {version('snapledger')}"),
        (("budget", "penguins"), 4, "run `snapledger login`"),
    ],
)
def test_what_speaks_to_a_service_loads_none(arguments: tuple[str, ...], status: int, told: str) -> None:
    done = start(*arguments, HOME="/nowhere", XDG_CONFIG_HOME="/nowhere")
    assert done.returncode == status, done.stderr
    assert told in " ".join((done.stdout + done.stderr).split())
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [(("ledger", "public-key", "--help"), 0, "checkpoints"), (("no-such-command",), 2, "no-such-command")],
)
def test_the_service_s_own_commands_are_all_there(
    arguments: tuple[str, ...], status: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["snapledger", *arguments])
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert (end.value.code or 0) == status
    assert told in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("typed", "position", "completed"),
    [("bac", 1, ["backup"]), ("ledger pub", 2, ["public-key"]), ("all", 1, ["allowance"])],
)
def test_a_shell_completes_all_of_them(typed: str, position: int, completed: list[str]) -> None:
    words = {"COMP_WORDS": f"snapledger {typed}", "COMP_CWORD": str(position)}
    done = start(_SNAPLEDGER_COMPLETE="complete_bash", **words)
    assert done.stdout.split()[: len(completed)] == completed, done.stderr
