"""Where `snapledger` starts: only what a command needs is loaded, since the service's own modules take seconds.

`app.cli.service_commands` has all commands. Those that speak to a running service are put together here without the
others, and the overview of all of them needs none.
"""

import os
import sys
from collections.abc import Sequence

import typer

from app.cli.application import application, report_errors_in_a_line

OPERATORS = {
    "serve": "Start the service; it migrates its database first unless SNAPLEDGER_AUTO_MIGRATE is false.",
    "migrate": "Bring the database to the schema of this version.",
    "create-key": "Print a new key for a principal, straight from the database: the way back in when every key is"
    " lost.",
    "backup": "Copy ledger, data and a checkpoint of them, consistent with each other, while the service runs.",
    "restore": "Fill an empty database and data directory from a backup; then compare it with the latest checkpoint.",
    "migrate-to": "Move all of the ledger to another database, verify it there, and retire this one for good.",
    "demo": "Run the main job on real data: a temporary service, the Palmer penguins, and what an analyst sees.",
    "audit": "Compute what the code that draws releases does, exactly, beside what is claimed; exit status 1 on any"
    " excess.",
    "ledger": "Verify the ledger, sign checkpoints of it, write off what is in doubt.",
}
REMOTE = {
    "login": "Try a key, and store it with the service's URL where only you can read it.",
    "logout": "Delete what `snapledger login` stored; the key itself stays in force.",
    "plan": "Tell what a release would cost and promise: free, and without reading any data.",
    "release": "Release a private statistic, and pay for it.",
    "batch": "Release many statistics at once: all are paid, or none.",
    "derived": "Tell what follows from releases, and pay for those that are not known yet.",
    "budget": "Tell what a dataset and you may spend; its owner sees everybody's allowance.",
    "dataset": "Describe and upload a table, as its owner.",
    "allowance": "What each principal may spend on a dataset; for its owner.",
    "principal": "Who may call the service; for admins.",
    "acts": "List every administrative act, oldest first, and verify the record of them; for admins and auditors.",
}
_COMPLETION = "_SNAPLEDGER_COMPLETE"


def all_commands() -> typer.Typer:
    """All commands by their names: for help, and for what completes a name."""
    app = application()
    for name, about in (OPERATORS | REMOTE).items():
        app.command(name, help=about)(_placeholder_command)
    return app


def _placeholder_command() -> None:
    """What stands for a command is never run: `main` knows which one is asked for."""


def remote() -> typer.Typer:
    """The commands that speak to a running service."""
    from app.cli import dataset  # noqa: PLC0415 - as late as all here
    from app.cli import remote as of_service  # noqa: PLC0415

    app = application()
    app.add_typer(dataset.app, name="dataset")
    of_service.attach(app)
    return app


def command_words() -> Sequence[str]:
    """The words of the command line but its options; to be completed, those before the last."""
    if os.environ.get(_COMPLETION):
        words = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
        position = os.environ.get("COMP_CWORD", "")
        typed = words.split()[1:]
        known = typed[: int(position) - 1] if position.isdigit() else typed
        return [word for word in known if not word.startswith("-")]
    return [word for word in sys.argv[1:] if not word.startswith("-")]


def main() -> None:
    """Run the command line; what cannot be done is told in a line, with exit status 1."""
    words = command_words()
    if words and words[0] not in REMOTE and list(words[:2]) != ["ledger", "show"]:
        from app.cli import service_commands  # noqa: PLC0415 - the service's own modules

        service_commands.main()
        return
    with report_errors_in_a_line():
        (remote() if words else all_commands())(prog_name="snapledger")
