"""`snapledger budget`, `ledger show` and `allowance …`."""

from typing import Annotated

import typer

from snapledger_client import Account, Allowance, Budget
from snapledger_client.cli import output
from snapledger_client.cli.session import AsJson, DatasetName, connect
from snapledger_client.formatting import format_person

PrincipalName = Annotated[str, typer.Argument(help="The principal's name.")]
FIGURES = ("limit", "spent", "remaining")


def _make_row(name: str, account: Account) -> tuple[str, ...]:
    window = account.window if isinstance(account, Allowance) else None
    revoked = isinstance(account, Allowance) and account.revoked
    until = (
        "revoked" if revoked else "" if window is None else f"{window.ends_at:%Y-%m-%d %H:%M}, every {window.days} days"
    )
    texts = (f"{each:f}" for each in (account.epsilon_limit, account.epsilon_spent, account.epsilon_remaining))
    return name, *texts, until


def _print_budget(budget: Budget, *, as_json: bool) -> None:
    if as_json:
        output.print_json(budget.to_dict())
        return
    rows = [_make_row("the dataset", budget)]
    if budget.allowance is not None:
        rows.append(_make_row("your allowance", budget.allowance))
    rows += [_make_row(format_person(each.principal, each.display_name), each) for each in budget.allowances or ()]
    output.print_table(("ε", *FIGURES, "renewed"), rows, FIGURES)


def show_budget(dataset: DatasetName, *, as_json: AsJson = False) -> None:
    """Show the budget of a dataset and your allowance; its owner sees all allowances."""
    with connect() as client:
        found = client.dataset(dataset).budget()
    _print_budget(found, as_json=as_json)


def show_ledger(dataset: DatasetName, *, as_json: AsJson = False) -> None:
    """List every entry of a dataset's ledger, oldest first; for its owner and auditors."""
    with connect() as client:
        entries = list(client.dataset(dataset).ledger())
    if as_json:
        output.print_json([entry.to_dict() for entry in entries])
        return
    rows = [
        (entry.seq, f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.kind, entry.principal, spent, total, entry.release_id)
        for entry in entries
        for spent, total in [(f"{entry.epsilon:f}", f"{entry.epsilon_spent:f}")]
    ]
    output.print_table(("entry", "at", "kind", "principal", "ε", "spent", "release"), rows, ("entry", "ε", "spent"))


def show_verification(dataset: DatasetName, *, as_json: AsJson = False) -> None:
    """Show when a dataset's ledger was verified last, by whom, and what was found; for its owner and auditors."""
    with connect() as client:
        found = client.dataset(dataset).latest_verification()
    if as_json:
        output.print_json(None if found is None else found.to_dict())
    elif found is None:
        output.print_line("This ledger was never verified while the service ran.")
    else:
        by = found.actor if found.via == "principal" else f"the {found.via}"
        state = "valid" if found.valid else "NOT VALID"
        output.print_line(f"Verified at {found.at:%Y-%m-%d %H:%M:%S} by {by}: {state}, {found.entries} entries.")


def set_allowance(
    dataset: DatasetName,
    principal: PrincipalName,
    epsilon_limit: Annotated[str, typer.Argument(help="The ε that it may spend; 0 allows only the reuse of releases.")],
    window_days: Annotated[int | None, typer.Option(help="Renew the limit every so many days.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Let a principal see a dataset and spend ε on it; for its owner."""
    with connect() as client:
        found = client.dataset(dataset).allow(principal, epsilon_limit, window_days)
    _print_budget(found, as_json=as_json)


def list_grantees(dataset: DatasetName, *, as_json: AsJson = False) -> None:
    """List the principals that may get an allowance on a dataset; for its owner."""
    with connect() as client:
        found = list(client.dataset(dataset).grantees())
    if as_json:
        output.print_json([grantee.to_dict() for grantee in found])
        return
    output.print_table(
        ("principal", "display name", "role"), [(each.name, each.display_name or "", each.role) for each in found]
    )


def revoke_allowance(dataset: DatasetName, principal: PrincipalName) -> None:
    """Revoke a principal's access to a dataset; what it has spent stays spent."""
    with connect() as client:
        client.dataset(dataset).revoke(principal)
    output.print_line(f"{principal} no longer has access to {dataset}.")
