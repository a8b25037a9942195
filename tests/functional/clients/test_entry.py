"""Where the command line starts: what is known of commands before they are loaded is true of them."""

import os
import runpy
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import typer

from app.cli import service_commands
from snapledger_client._version import __version__
from snapledger_client.cli import entry, overview

HEAVY = ("sqlalchemy", "duckdb", "app", "uvicorn", "fastapi")
ROOT = Path(__file__).parents[3]


def commands(app: typer.Typer) -> dict[str, str]:
    """The path and the short help of every command and group."""
    group = typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():
        found[name] = command.get_short_help_str(1000)
        found |= {
            f"{name} {inner}": each.get_short_help_str(1000) for inner, each in getattr(command, "commands", {}).items()
        }
    return found


def test_every_command_is_told_as_it_tells_of_itself() -> None:
    everything = commands(service_commands.app)
    assert commands(entry.remote(with_service=True)) | overview.SERVICE == everything
    overviewed = commands(entry.overview(with_service=True))
    assert overviewed == {name: about for name, about in everything.items() if " " not in name}
    of_service = {f"{group} {name}" for group, names in overview.SERVICE_IN_GROUPS.items() for name in names}
    here = commands(entry.remote(with_service=False))
    assert here.keys() == everything.keys() - (of_service - overview.EXTENDED) - overview.SERVICE.keys()
    assert commands(entry.overview(with_service=False)) == overview.REMOTE


def declared() -> dict[str, str]:
    """The entry points of the service's package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return dict(project["entry-points"][entry.GROUP])


def test_the_service_s_package_declares_its_commands() -> None:
    ((name, value),) = declared().items()
    assert EntryPoint(name, value, entry.GROUP).load() is service_commands.main
    assert name == "service"


@pytest.fixture(params=["with the service", pytest.param("without", marks=pytest.mark.slow)])
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    """The directory with the metadata of the service's package, where it is installed."""
    if request.param == "without":
        return None
    metadata = tmp_path / f"snapledger-{__version__}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.4\nName: snapledger\nVersion: {__version__}\n")
    lines = [f"{name} = {value}" for name, value in declared().items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{entry.GROUP}]", *lines]))
    return tmp_path


def start(*arguments: str, installed: Path | None, **settings: str) -> subprocess.CompletedProcess[str]:
    """A process of its own; on its last line, which of the heavy modules it has loaded."""
    absent = "" if installed else "entry.find_service = lambda: None; "
    code = (
        f"import atexit, sys; from snapledger_client.cli import entry; {absent}"
        f"atexit.register(lambda: print([each for each in {HEAVY!r} if each in sys.modules])); entry.main()"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")} | settings
    paths = [str(installed or ""), str(ROOT), str(ROOT / "client/src")]
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "200"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)  # noqa: S603


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        pytest.param(("--help",), 0, "without reading any data", marks=pytest.mark.slow),
        pytest.param(("plan", "--help"), 0, "without reading any data", marks=pytest.mark.slow),
        pytest.param(("ledger", "--help"), 0, "oldest first", marks=pytest.mark.slow),
        pytest.param(("ledger", "verification", "--help"), 0, "was verified last", marks=pytest.mark.slow),
        pytest.param(("--version",), 0, f"snapledger {__version__}", marks=pytest.mark.slow),
        pytest.param(("no-such-command",), 2, "no-such-command", marks=pytest.mark.slow),
        (("budget", "penguins"), 4, "run `snapledger login`"),
    ],
)
def test_what_speaks_to_a_service_loads_none(
    arguments: tuple[str, ...], status: int, told: str, installed: Path | None
) -> None:
    done = start(*arguments, installed=installed, HOME="/nowhere", XDG_CONFIG_HOME="/nowhere")
    assert done.returncode == status, done.stderr
    printed = " ".join((done.stdout + done.stderr).split())
    assert told in printed
    assert done.stdout.splitlines()[-1] == "[]"
    if arguments == ("--help",):
        assert ("Start the service" in printed) == bool(installed)
    if arguments == ("ledger", "--help"):
        assert ("write-off" in printed) == bool(installed)


@pytest.mark.parametrize("arguments", [("serve",), ("ledger", "public-key"), ("dataset", "reindex", "penguins")])
def test_without_the_service_its_commands_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(entry, "find_service", lambda: None)
    monkeypatch.setattr(sys, "argv", ["snapledger", *arguments])
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert end.value.code == 2
    command = " ".join(arguments[:2] if arguments[0] in overview.SERVICE_IN_GROUPS else arguments[:1])
    told = f"snapledger: `snapledger {command}` comes with the service: install the package"
    assert capsys.readouterr().err.startswith(told)


def test_the_commands_run_as_a_module_and_tell_their_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["snapledger", "--version"])
    monkeypatch.delitem(sys.modules, "app.cli.service_commands")  # as in a process that has not loaded it
    with pytest.raises(SystemExit) as end:
        runpy.run_module("app.cli.service_commands", run_name="__main__")
    assert not end.value.code
    assert capsys.readouterr().out == f"snapledger {__version__}\n"


def test_with_the_service_its_commands_are_all_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    service = EntryPoint("service", declared()["service"], entry.GROUP)
    monkeypatch.setattr(entry, "find_service", lambda: service)
    monkeypatch.setattr(sys, "argv", ["snapledger", "ledger", "public-key", "--help"])
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert not end.value.code
    assert "checkpoints" in "".join(capsys.readouterr())


def test_the_completion_script_asks_this_command() -> None:
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = start("--show-completion", "bash", installed=None, **named)
    assert done.returncode == 0, done.stderr
    assert "_SNAPLEDGER_COMPLETE=complete_bash" in done.stdout


@pytest.mark.parametrize(
    ("typed", "position", "completed"),
    [
        pytest.param("bac", 1, ["backup"], marks=pytest.mark.slow),
        ("ledger pub", 2, ["public-key"]),
        pytest.param("all", 1, ["allowance"], marks=pytest.mark.slow),
    ],
)
def test_a_shell_completes_all_that_is_installed(
    typed: str, position: int, completed: list[str], installed: Path | None
) -> None:
    words = {"COMP_WORDS": f"snapledger {typed}", "COMP_CWORD": str(position)}
    done = start(installed=installed, _SNAPLEDGER_COMPLETE="complete_bash", **words)
    *found, loaded = done.stdout.splitlines()
    here = completed if installed or completed == ["allowance"] else []
    assert [each for each in found if each] == here, done.stderr
    assert loaded == "[]"
