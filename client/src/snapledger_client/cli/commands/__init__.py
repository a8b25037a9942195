"""Commands that talk to a running service through the client; `attach` adds them to an application."""

from collections.abc import Callable

import typer

from snapledger_client.cli.commands import (
    budget_requests,
    budgets,
    datasets,
    multiple_releases,
    principals,
    questions,
    registrations,
    sign_in,
)
from snapledger_client.cli.overview import REMOTE


def find_group(app: typer.Typer, name: str) -> typer.Typer:
    """Return the group with this name, which is made if it does not exist."""
    for registered in app.registered_groups:
        if registered.name == name and registered.typer_instance is not None:
            return registered.typer_instance
    made = typer.Typer(help=REMOTE[name], no_args_is_help=True)
    app.add_typer(made, name=name)
    return made


def attach(app: typer.Typer) -> None:
    """Add all commands of this package to an application."""
    commands: dict[str, Callable[..., None]] = {
        "login": sign_in.login,
        "logout": sign_in.logout,
        "plan": questions.plan,
        "release": questions.release,
        "batch": multiple_releases.release_batch,
        "derived": multiple_releases.release_derived,
        "budget": budgets.show_budget,
        "acts": principals.list_acts,
    }
    for name, command in commands.items():
        app.command(name)(command)
    dataset = find_group(app, "dataset")
    dataset.command("list")(datasets.list_datasets)
    dataset.command("show")(datasets.show_dataset)
    dataset.command("add")(registrations.add)
    ledger = find_group(app, "ledger")
    ledger.command("show")(budgets.show_ledger)
    ledger.command("verification")(budgets.show_verification)
    allowance = find_group(app, "allowance")
    allowance.command("set")(budgets.set_allowance)
    allowance.command("revoke")(budgets.revoke_allowance)
    allowance.command("grantees")(budgets.list_grantees)
    requests = find_group(app, "budget-request")
    requests.command("ask")(budget_requests.ask)
    requests.command("list")(budget_requests.list_requests)
    requests.command("grant")(budget_requests.grant)
    requests.command("decline")(budget_requests.decline)
    principal = find_group(app, "principal")
    principal.command("add")(principals.create_principal)
    principal.command("list")(principals.list_principals)
    principal.command("display-name")(principals.set_display_name)
    principal.command("key")(principals.replace_key)
    principal.command("disable")(principals.disable_principal)
