"""The entry point of `snapledger`. It imports only what a command needs, since the service's modules take seconds.

`app.cli.service_commands` has all commands. For a command that talks to a running service, this module builds an
application without the others. The overview of all commands imports none of them.
"""

import os
import sys
from collections.abc import Sequence

import typer

from app.cli.application import application, report_errors_in_a_line

OPERATORS = {
    "serve": "Start the service; it migrates its database first unless SNAPLEDGER_AUTO_MIGRATE is false.",
    "migrate": "Bring the database to the schema of this version.",
    "create-key": "Print a new key for a principal, directly from the database: for when every key is lost.",
    "backup": "Copy the ledger, the data and a checkpoint consistently, while the service runs.",
    "restore": "Fill an empty database and data directory from a backup; then compare it with your latest checkpoint.",
    "migrate-to": "Move the whole ledger to another database, verify it there, and retire this one for good.",
    "demo": "Show what an analyst sees, on real data: a temporary service with the Palmer penguins.",
    "audit": "Compare the exact privacy and accuracy of releases with the claims; exit status 1 on any excess.",
    "ledger": "Verify the ledger, sign checkpoints of it, write off lost debits.",
}
REMOTE = {
    "login": "Check a key, and store it with the service's URL in a file that only you can read.",
    "logout": "Delete what `snapledger login` stored; the key itself stays valid.",
    "plan": "Show what a release would cost and promise: free, and without reading any data.",
    "release": "Release a differentially private statistic, and spend ε on it.",
    "batch": "Release many statistics at once: all of them or none.",
    "derived": "Derive a statistic from releases, and spend ε on those that do not exist yet.",
    "budget": "Show the budget of a dataset and your allowance; its owner sees all allowances.",
    "dataset": "Describe and upload a table, as its owner.",
    "allowance": "Set what each principal may spend on a dataset; for its owner.",
    "budget-request": "Ask for a larger allowance, or answer those who ask.",
    "principal": "Manage who may use the service; for admins.",
    "acts": "List every administrative act, oldest first, and verify the record of them; for admins and auditors.",
}
_REMOTE_OF_LEDGER = {("ledger", "show"), ("ledger", "verification")}
_COMPLETION = "_SNAPLEDGER_COMPLETE"


def all_commands() -> typer.Typer:
    """Return an application with the names of all commands, for help and shell completion."""
    app = application()
    for name, about in (OPERATORS | REMOTE).items():
        app.command(name, help=about)(_placeholder_command)
    return app


def _placeholder_command() -> None:
    """Stand for a command in help and completion; it never runs, since `main` runs the real command."""


def remote() -> typer.Typer:
    """Return an application with the commands that talk to a running service."""
    from app.cli import dataset  # noqa: PLC0415 - imported late, like everything here
    from app.cli import remote as of_service  # noqa: PLC0415

    app = application()
    app.add_typer(dataset.app, name="dataset")
    of_service.attach(app)
    return app


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
    words = command_words()
    if words and words[0] not in REMOTE and tuple(words[:2]) not in _REMOTE_OF_LEDGER:
        from app.cli import service_commands  # noqa: PLC0415 - the service's own modules

        service_commands.main()
        return
    with report_errors_in_a_line():
        (remote() if words else all_commands())(prog_name="snapledger")
