"""Commands that speak to a service through the client, as any analyst or owner may; `attach` adds them to the rest."""

import typer

from app.commands.remote import budgets, datasets, principals, questions, sign_in, together


def _group(app: typer.Typer, name: str, about: str) -> typer.Typer:
    """The group of this name: commands that work without a service may have made it already."""
    for registered in app.registered_groups:
        if registered.name == name and registered.typer_instance is not None:
            return registered.typer_instance
    made = typer.Typer(help=about, no_args_is_help=True)
    app.add_typer(made, name=name)
    return made


def attach(app: typer.Typer) -> None:
    """Add all of them, after the groups that they have a part in."""
    asking = (questions.plan, questions.release, together.batch, together.derived)
    for command in (sign_in.login, sign_in.logout, *asking, budgets.budget, principals.acts):
        app.command()(command)
    dataset = _group(app, "dataset", "Datasets of the service.")
    dataset.command("list")(datasets.list_all)
    dataset.command("show")(datasets.show)
    _group(app, "ledger", "The ledger.").command("show")(budgets.show_ledger)
    allowance = _group(app, "allowance", "What each principal may spend on a dataset; for its owner.")
    allowance.command("set")(budgets.set_allowance)
    allowance.command("revoke")(budgets.revoke_allowance)
    principal = _group(app, "principal", "Who may call the service; for admins.")
    principal.command("add")(principals.add)
    principal.command("list")(principals.list_all)
    principal.command("key")(principals.key)
    principal.command("disable")(principals.disable)
