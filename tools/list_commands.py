"""Write docs/command-line.md: every command as its `--help` shows it, and the command for each route of the API.

Run: python tools/list_commands.py [--check]
With --check, the script writes nothing and exits with status 1 if the page is stale.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "command-line.md"
OPENAPI = ROOT / "app" / "api" / "openapi" / "openapi.json"
WIDTH = 96
METHODS = ("get", "post", "put", "patch", "delete")

HEAD = """# Every command

This page is generated from the commands themselves (`make messages`). [From Python and from a
terminal](client.md#from-a-terminal) has a session that shows them at work, and the exit codes.

`pip install snapledger-client` installs `snapledger` with every command that talks to a running
service. The package `snapledger` adds those that run or maintain one.

* **Keys.** `snapledger login` stores a key in a file that only you can read. `SNAPLEDGER_URL` and
  `SNAPLEDGER_KEY` take precedence. No command takes a key or a password as an argument, because
  other users of a machine can see those. Where only `SNAPLEDGER_URL` is set, `figure` and
  `collection` read what is public.
* **Accounts.** `snapledger sign-in` shows an address and a code to sign in with your organisation's
  account, where the service has [sign-on](sign-on.md). Tokens are stored like keys and renewed.
* **Formats.** Every command that answers something takes `--format`. `table` is for people, and may
  change. `json` is what the API answers; a list is one page with all items. `csv` has a row for
  each item, or for each value of a release, and exact figures. A text that a spreadsheet would take
  for a formula is preceded by an apostrophe.
* **Retries.** A command repeats a request whose answer was lost, a release always with the same
  idempotency key. When it gives up, it exits with status 6 and prints the `--key` with which you
  can repeat the release: it is charged once.
* **Completion.** `snapledger --install-completion` lets bash, zsh, fish or PowerShell complete
  commands, options, kinds of statistics and the names of datasets. `--show-completion` prints the
  script instead.
* **Exit codes.** 0 done, 1 error, 2 invalid command or request, 3 budget exhausted, 4 no valid key
  or not allowed, 5 not found, 6 no answer (try again), 7 conflict with the present state.
"""
ROUTES = """
## The command for each route

Everything that the [HTTP interface](http.md) does has a command.

| route | command |
|---|---|
"""
COMMANDS = {
    "POST /v1/datasets/{name}/plan": "plan",
    "POST /v1/plan": "plan-without-data",
    "POST /v1/datasets/{name}/releases": "release",
    "GET /v1/datasets/{name}/releases": "releases DATASET",
    "GET /v1/releases": "releases",
    "GET /v1/releases/{release_id}": "releases --id",
    "POST /v1/datasets/{name}/derived/plan": "derived --plan",
    "POST /v1/datasets/{name}/derived": "derived",
    "POST /v1/datasets/{name}/batches/plan": "batch --plan",
    "POST /v1/datasets/{name}/batches": "batch",
    "GET /v1/datasets/{name}/budget": "budget",
    "GET /v1/datasets/{name}/grantees": "allowance grantees",
    "PUT /v1/datasets/{name}/allowances/{principal}": "allowance set",
    "DELETE /v1/datasets/{name}/allowances/{principal}": "allowance revoke",
    "POST /v1/datasets/{name}/budget/adjustments": "dataset limit",
    "GET /v1/datasets/{name}/budget/limit": "dataset limit DATASET",
    "GET /v1/datasets/{name}/allowances/{principal}": "allowance show",
    "GET /v1/datasets/{name}/ledger/{number}": "ledger show --entry",
    "GET /v1/datasets/{name}/budget-requests/{request_id}": "budget-request show",
    "GET /v1/datasets/{name}/viewers/{principal}": "viewer show",
    "GET /v1/principals/{name}": "principal show",
    "GET /v1/datasets/{name}/ledger": "ledger show",
    "GET /v1/datasets/{name}/ledger/verification": "ledger verify DATASET",
    "GET /v1/datasets/{name}/ledger/verification/latest": "ledger verification",
    "POST /v1/datasets/{name}/budget-requests": "budget-request ask",
    "GET /v1/datasets/{name}/budget-requests": "budget-request list",
    "POST /v1/datasets/{name}/budget-requests/{request_id}/grant": "budget-request grant",
    "POST /v1/datasets/{name}/budget-requests/{request_id}/decline": "budget-request decline",
    "POST /v1/datasets": "dataset add",
    "POST /v1/dataset-uploads": "dataset add FILE",
    "GET /v1/datasets": "dataset list",
    "GET /v1/datasets/{name}": "dataset show",
    "DELETE /v1/datasets/{name}": "dataset close",
    "POST /v1/datasets/{name}/revalidation": "dataset revalidate",
    "POST /v1/drafts": "dataset draft --connection",
    "POST /v1/draft-uploads": "dataset draft FILE",
    "GET /v1/connections": "connections",
    "GET /v1/figures": "figure list",
    "GET /v1/figures/reader": "figure reader",
    "GET /v1/figures.atom": "figure feed",
    "GET /v1/datasets/{name}/figures": "figure list DATASET",
    "GET /v1/datasets/{name}/figures/{figure}": "figure show",
    "PUT /v1/datasets/{name}/figures/{figure}": "figure publish",
    "DELETE /v1/datasets/{name}/figures/{figure}": "figure withdraw",
    "GET /v1/datasets/{name}/figures/{figure}/versions": "figure versions",
    "GET /v1/datasets/{name}/figures/{figure}/versions/{version}": "figure show --version",
    "GET /v1/datasets/{name}/viewers": "viewer list",
    "PUT /v1/datasets/{name}/viewers/{principal}": "viewer add",
    "DELETE /v1/datasets/{name}/viewers/{principal}": "viewer revoke",
    "GET /v1/datasets/{name}/reports": "report list",
    "PUT /v1/datasets/{name}/reports/{report}": "report put",
    "GET /v1/datasets/{name}/reports/{report}": "report show",
    "DELETE /v1/datasets/{name}/reports/{report}": "report delete",
    "POST /v1/datasets/{name}/reports/{report}/plan": "report plan",
    "GET /v1/datasets/{name}/reports/{report}/runs": "report runs",
    "POST /v1/datasets/{name}/reports/{report}/runs": "report retry",
    "GET /v1/collections": "collection list",
    "GET /v1/collections/{name}": "collection show",
    "PUT /v1/collections/{name}": "collection put",
    "DELETE /v1/collections/{name}": "collection delete",
    "GET /v1/collections/{name}/viewers": "collection viewers",
    "GET /v1/collections/{name}/viewers/{principal}": "collection viewer",
    "PUT /v1/collections/{name}/viewers/{principal}": "collection grant",
    "DELETE /v1/collections/{name}/viewers/{principal}": "collection revoke",
    "POST /v1/principals": "principal add",
    "GET /v1/principals": "principal list",
    "POST /v1/principals/{name}/keys": "principal key",
    "PUT /v1/principals/{name}/display-name": "principal display-name",
    "DELETE /v1/principals/{name}": "principal disable",
    "GET /v1/sign-on": "sign-in",
    "GET /v1/me": "me",
    "POST /v1/me/key": "new-key",
    "GET /v1/audit": "acts list",
    "GET /v1/audit/verification": "acts verify",
    "GET /v1/audit/verification/latest": "acts verification",
    "GET /healthz": "status --alive",
    "GET /readyz": "status",
    "GET /metrics": "metrics",
}
"""The command for each route of the API."""


def list_routes() -> list[str]:
    """Return the routes of the API in the order of its document."""
    document = json.loads(OPENAPI.read_text("utf-8"))
    return [
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method in METHODS
        if method in operations
    ]


def list_service_commands() -> set[str]:
    """Return the commands that come with the service's package."""
    from snapledger_client.cli.overview import SERVICE, SERVICE_IN_GROUPS  # noqa: PLC0415 - of a package to be installed

    return {*SERVICE, *(f"{group} {name}" for group, names in SERVICE_IN_GROUPS.items() for name in names)}


def _render_help(command: Any, path: str, parent: Any = None) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - of typer's click
    """Yield the path and the plain help of each command below one, without the groups themselves."""
    command.rich_markup_mode = None
    name = path.rpartition(" ")[2]
    context = type(command).context_class(
        command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )
    for inner, each in getattr(command, "commands", {}).items():
        yield from _render_help(each, f"{path} {inner}", context)
    if not hasattr(command, "commands"):
        yield path, command.get_help(context)


def render_page() -> str:
    """Return the page as the commands say."""
    from app.cli.service_commands import app  # noqa: PLC0415 - the service's own modules

    application = typer.main.get_command(app)
    parts = [HEAD]
    for path, text in _render_help(application, "snapledger"):
        parts.append(f"\n## `{path}`\n\n```text\n{_strip_lines(text)}\n```\n")
    parts.append(ROUTES)
    parts += [f"| `{route}` | `snapledger {COMMANDS[route]}` |\n" for route in list_routes() if route in COMMANDS]
    return "".join(parts)


def _strip_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


def main() -> int:
    """Write the page or, with --check, only say whether it is stale; return the exit status."""
    page = render_page()
    stale = not PAGE.exists() or PAGE.read_text("utf-8") != page
    if stale:
        print(f"{PAGE.relative_to(ROOT)} is stale: run make messages" if "--check" in sys.argv else PAGE)
    if stale and "--check" not in sys.argv:
        PAGE.write_text(page, "utf-8")
    return int(stale and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
