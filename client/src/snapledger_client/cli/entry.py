"""The entry point of `snapledger`.

The commands that talk to a running service are in this package. Those that run or maintain the service come with the
package `snapledger`, which has a function for them in the entry points of the group `snapledger.commands`. They are
imported only when one of them is used, since the service's modules take seconds.
"""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

import typer

from snapledger_client.cli.application import application, report_errors_in_a_line
from snapledger_client.cli.overview import EXTENDED, REMOTE, SERVICE, SERVICE_IN_GROUPS
from snapledger_client.problems import SnapledgerError

GROUP = "snapledger.commands"
_COMPLETION = "_SNAPLEDGER_COMPLETE"
_INSTALL = "install the package `snapledger`, such as with `pip install snapledger`"
_USAGE = 2


def find_service() -> EntryPoint | None:
    """Return what runs the service's commands, or None if the service is not installed."""
    return next(iter(entry_points(group=GROUP, name="service")), None)


def overview(*, with_service: bool) -> typer.Typer:
    """Return an application with the names of all commands, for help and shell completion."""
    app = application()
    for name, about in ((SERVICE if with_service else {}) | REMOTE).items():
        app.command(name, help=about)(_placeholder_command)
    return app


def _placeholder_command() -> None:
    """Stand for a command in help and completion; it never runs, since `main` runs the real command."""


def remote(*, with_service: bool) -> typer.Typer:
    """Return an application with the commands that talk to a running service; its groups name the others."""
    from snapledger_client.cli import commands  # noqa: PLC0415 - imported late, since the overview needs none of them

    app = application()
    commands.attach(app)
    for group, names in (SERVICE_IN_GROUPS if with_service else {}).items():
        for name, about in names.items():
            commands.find_group(app, group).command(name, help=about)(_placeholder_command)
    return app


def _find_service_command(words: Sequence[str]) -> str | None:
    """Return the command that the words name, if it runs or maintains the service."""
    group, name = (*words, "", "")[:2]
    if group in SERVICE:
        return group
    return f"{group} {name}" if name in SERVICE_IN_GROUPS.get(group, {}) else None


def command_words() -> Sequence[str]:
    """Return the words of the command line without options; for shell completion, those before the incomplete word."""
    if os.environ.get(_COMPLETION):
        words = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
        position = os.environ.get("COMP_CWORD", "")
        typed = words.split()[1:]
        known = typed[: int(position) - 1] if position.isdigit() else typed
        return [word for word in known if not word.startswith("-")]
    return [word for word in sys.argv[1:] if not word.startswith("-")]


def main() -> None:
    """Run the command line. An error is printed in one line, with exit status 1."""
    words, service = command_words(), find_service()
    command = _find_service_command(words)
    if command and (service is not None or command not in EXTENDED):
        if service is None:
            typer.echo(f"snapledger: `snapledger {command}` comes with the service: {_INSTALL}", err=True)
            raise SystemExit(_USAGE)
        service.load()()
        return
    with report_errors_in_a_line(SnapledgerError):
        app = remote if words and words[0] in REMOTE else overview
        app(with_service=service is not None)(prog_name="snapledger")
