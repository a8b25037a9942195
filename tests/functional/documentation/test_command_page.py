"""The page of commands is what `--help` says, and every route of the API has a command."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from tool_modules import ROOT, load_tool

from app.cli.service_commands import app
from app.roles import Role
from snapledger_client.cli.commands import principals


def find_commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each command with its path, without groups."""
    for name, each in getattr(command, "commands", {}).items():
        yield from find_commands(each, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        yield path, command


COMMANDS = dict(find_commands(typer.main.get_command(app)))
WITHOUT_ANSWER = {
    "login",
    "logout",
    "sign-in",
    "sign-out",
    "dataset close",
    "allowance revoke",
    "principal disable",
    "metrics",
}
WITHOUT_ANSWER |= {"figure withdraw", "figure feed", "viewer add", "viewer revoke", "report delete"}
WITHOUT_ANSWER |= {"collection delete", "collection grant", "collection revoke"}
SERVICE_FORMATS = {"audit", "ledger verify"}


def test_the_page_of_commands_is_not_stale() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert load_tool("list_commands").render_page() == page, "run make messages"


def test_every_route_has_a_command() -> None:
    tool = load_tool("list_commands")
    assert set(tool.COMMANDS) == set(tool.list_routes())
    for words in tool.COMMANDS.values():
        path = next(path for path in COMMANDS if words == path or words.startswith(f"{path} "))
        option = words.removeprefix(path).strip()
        names = {name for each in COMMANDS[path].params for name in each.opts} | {"DATASET", "FILE", ""}
        assert option in names, words


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_an_example_that_it_accepts(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = COMMANDS[path]
    assert command.epilog.startswith(f"Example: snapledger {path}")
    words = shlex.split(command.epilog)[2 + len(path.split()) :]
    monkeypatch.chdir(tmp_path)
    for word in words:
        if word.endswith((".csv", ".json")):
            (tmp_path / word).write_text("{}")
    with command.make_context(path, words) as context:  # parses all arguments and options, and runs nothing
        assert context.params is not None


def test_every_command_that_answers_something_has_formats() -> None:
    of_service = load_tool("list_commands").list_service_commands()
    for path, command in COMMANDS.items():
        has_formats = "--format" in {name for each in command.params for name in each.opts}
        expected = path in SERVICE_FORMATS if path in of_service else path not in WITHOUT_ANSWER
        assert has_formats == expected, path


def test_the_roles_are_those_of_the_service() -> None:
    assert get_args(principals.Role) == tuple(each.value for each in Role)


def test_no_secret_is_an_argument() -> None:
    """Others can see a command's arguments: keys and passwords come from the environment, a prompt or a pipe."""
    names = {name for command in COMMANDS.values() for each in command.params for name in [*each.opts, each.name]}
    assert not [name for name in names if any(word in name for word in ("password", "secret", "token", "credential"))]
    keys = {name for name in names if "key" in name}
    assert keys == {"key", "--key", "public_key", "--public-key"}  # idempotency keys, and a published key
