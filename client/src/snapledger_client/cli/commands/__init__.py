"""Commands that talk to a running service through the client; `attach` adds them to an application."""

from collections.abc import Callable
from typing import Any

import typer

from snapledger_client.cli.commands import (
    accounts,
    acts,
    budget_requests,
    budgets,
    datasets,
    drafts,
    earlier_releases,
    figure_collections,
    figures,
    ledgers,
    multiple_releases,
    operations,
    own_account,
    plans_without_data,
    principals,
    questions,
    registrations,
    reports,
    sign_in,
)
from snapledger_client.cli.overview import REMOTE

Command = Callable[..., Any]

COMMANDS: dict[str, tuple[Command, str]] = {
    "login": (sign_in.login, "login https://statistics.example.org"),
    "logout": (sign_in.logout, "logout"),
    "sign-in": (accounts.sign_in, "sign-in https://statistics.example.org"),
    "sign-out": (accounts.sign_out, "sign-out"),
    "me": (own_account.show_me, "me"),
    "new-key": (own_account.replace_own_key, "new-key"),
    "plan": (questions.plan, "plan penguins mean body_mass_g --accuracy 50"),
    "plan-without-data": (
        plans_without_data.plan,
        "plan-without-data mean body_mass_g --rows 344 --bounds 2000,7000 --accuracy 50",
    ),
    "release": (questions.release, "release penguins mean body_mass_g --epsilon 0.5"),
    "batch": (multiple_releases.release_batch, "batch penguins questions.json --epsilon 1"),
    "derived": (
        multiple_releases.release_derived,
        "derived penguins quantile body_mass_g --bins 20 --probabilities 0.25,0.5,0.75 --epsilon 0.5",
    ),
    "releases": (earlier_releases.list_releases, "releases penguins --format csv"),
    "budget": (budgets.show_budget, "budget penguins"),
    "dataset list": (datasets.list_datasets, "dataset list"),
    "dataset show": (datasets.show_dataset, "dataset show penguins"),
    "dataset draft": (drafts.draft, "dataset draft penguins.csv"),
    "dataset add": (registrations.add, "dataset add penguins.csv --schema penguins.json"),
    "dataset limit": (datasets.set_limit, "dataset limit penguins 12 --reason 'a second wave of questions'"),
    "dataset revalidate": (datasets.revalidate, "dataset revalidate penguins"),
    "dataset close": (datasets.close, "dataset close penguins"),
    "connections": (datasets.list_connections, "connections"),
    "ledger show": (ledgers.show_ledger, "ledger show penguins"),
    "ledger verify": (ledgers.verify, "ledger verify penguins"),
    "ledger verification": (ledgers.show_verification, "ledger verification penguins"),
    "allowance set": (budgets.set_allowance, "allowance set penguins ada 2 --window-days 30"),
    "allowance show": (budgets.show_allowance, "allowance show penguins ada"),
    "allowance revoke": (budgets.revoke_allowance, "allowance revoke penguins ada"),
    "allowance grantees": (budgets.list_grantees, "allowance grantees penguins"),
    "budget-request ask": (
        budget_requests.ask,
        "budget-request ask penguins 0.5 --reason 'The report needs the means by island too.'",
    ),
    "budget-request list": (budget_requests.list_requests, "budget-request list penguins"),
    "budget-request show": (budget_requests.show_request, "budget-request show penguins REQUEST"),
    "budget-request grant": (budget_requests.grant, "budget-request grant penguins REQUEST --epsilon 0.25"),
    "budget-request decline": (
        budget_requests.decline,
        "budget-request decline penguins REQUEST --answer 'The table closes this week.'",
    ),
    "figure list": (figures.list_figures, "figure list penguins --search mass"),
    "figure show": (figures.show_figure, "figure show penguins body-mass --format csv"),
    "figure versions": (figures.list_versions, "figure versions penguins body-mass"),
    "figure publish": (
        figures.publish,
        "figure publish penguins body-mass --title 'Body mass' --release RELEASE",
    ),
    "figure withdraw": (figures.withdraw, "figure withdraw penguins body-mass"),
    "figure feed": (figures.print_feed, "figure feed"),
    "figure reader": (figures.show_reader, "figure reader"),
    "viewer list": (figures.list_viewers, "viewer list penguins"),
    "viewer show": (figures.show_viewer, "viewer show penguins bob"),
    "viewer add": (figures.add_viewer, "viewer add penguins bob"),
    "viewer grantees": (figures.list_grantees, "viewer grantees penguins"),
    "viewer revoke": (figures.revoke_viewer, "viewer revoke penguins bob"),
    "report put": (reports.put_report, "report put penguins monthly report.json --per-run 0.75 --total 9"),
    "report list": (reports.list_reports, "report list penguins"),
    "report show": (reports.show_report, "report show penguins monthly"),
    "report plan": (reports.plan_report, "report plan penguins monthly"),
    "report runs": (reports.list_runs, "report runs penguins monthly"),
    "report retry": (reports.retry, "report retry penguins monthly"),
    "report delete": (reports.delete, "report delete penguins monthly"),
    "collection put": (
        figure_collections.put_collection,
        "collection put penguins-2009 penguins/body-mass penguins/flippers --title Penguins",
    ),
    "collection show": (figure_collections.show_collection, "collection show penguins-2009"),
    "collection list": (figure_collections.list_collections, "collection list --search penguins"),
    "collection delete": (figure_collections.delete_collection, "collection delete penguins-2009"),
    "collection viewers": (figure_collections.list_viewers, "collection viewers penguins-2009"),
    "collection viewer": (figure_collections.show_viewer, "collection viewer penguins-2009 bob"),
    "collection grant": (figure_collections.grant, "collection grant penguins-2009 bob"),
    "collection revoke": (figure_collections.revoke, "collection revoke penguins-2009 bob"),
    "principal add": (principals.create_principal, "principal add ada analyst --expires 2027-01-31"),
    "principal list": (principals.list_principals, "principal list"),
    "principal show": (principals.show_principal, "principal show ada"),
    "principal display-name": (principals.set_display_name, "principal display-name ada 'Ada Lovelace'"),
    "principal key": (principals.replace_key, "principal key ada"),
    "principal disable": (principals.disable_principal, "principal disable ada"),
    "acts list": (acts.list_acts, "acts list --format csv"),
    "acts verify": (acts.verify, "acts verify"),
    "acts verification": (acts.show_verification, "acts verification"),
    "status": (operations.show_status, "status"),
    "metrics": (operations.print_metrics, "metrics"),
}
"""Each command, and an example of its use without the word `snapledger`."""


def add_command(app: typer.Typer, path: str, command: Command, example: str) -> None:
    """Add a command to an application, or to a group of it if its path has two words, with an example in its help."""
    group, _, name = path.rpartition(" ")
    target = find_group(app, group) if group else app
    target.command(name, epilog=f"Example: snapledger {example}")(command)


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
    for path, (command, example) in COMMANDS.items():
        add_command(app, path, command, example)
