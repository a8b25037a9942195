"""`snapledger budget` and `allowance …`."""

from typing import Annotated

import typer

from snapledger_client import Account, Allowance, Budget, Grantee
from snapledger_client.cli import output
from snapledger_client.cli.options import IfMatchOf, OnlyNewOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import DatasetName, connect
from snapledger_client.formatting import format_person

PrincipalName = Annotated[str, typer.Argument(help="The principal's name.")]
FIGURES = ("limit", "spent", "remaining")
_NO_FIGURES = {"allowance", "allowances", "open_requests"}


def _make_row(name: str, account: Account) -> tuple[str, ...]:
    window = account.window if isinstance(account, Allowance) else None
    revoked = isinstance(account, Allowance) and account.revoked
    until = (
        "revoked" if revoked else "" if window is None else f"{window.ends_at:%Y-%m-%d %H:%M}, every {window.days} days"
    )
    texts = (f"{each:f}" for each in (account.epsilon_limit, account.epsilon_spent, account.epsilon_remaining))
    return name, *texts, until


def write_budget(output_format: OutputFormat, budget: Budget) -> None:
    """Print a dataset's budget: a row for each account."""
    named: list[tuple[str, str | None, Account]] = [("the dataset", None, budget)]
    if budget.allowance is not None:
        named.append(("your allowance", None, budget.allowance))
    shared = budget.allowances or ()
    named += [(format_person(each.principal, each.display_name), each.principal, each) for each in shared]

    def show() -> None:
        rows = [_make_row(name, account) for name, _, account in named]
        output.print_table(("ε", *FIGURES, "renewed"), rows, FIGURES)

    records = [
        {"account": "allowance" if principal else name, "principal": principal}
        | {member: value for member, value in account.to_dict().items() if member not in _NO_FIGURES}
        for name, principal, account in named
    ]
    output.write(output_format, budget.to_dict(), show, records)


def show_budget(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show the budget of a dataset and your allowance; its owner sees all allowances."""
    with connect() as client:
        found = client.dataset(dataset).budget()
    write_budget(output_format, found)


def set_allowance(  # noqa: PLR0913 - the members of the request
    dataset: DatasetName,
    principal: PrincipalName,
    epsilon_limit: Annotated[str, typer.Argument(help="The ε that it may spend; 0 allows only the reuse of releases.")],
    window_days: Annotated[int | None, typer.Option(help="Renew the limit every so many days.")] = None,
    *,
    if_match: IfMatchOf = None,
    only_new: OnlyNewOf = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Let a principal see a dataset and spend ε on it; for its owner."""
    with connect() as client:
        found = client.dataset(dataset).allow(
            principal, epsilon_limit, window_days, if_match=if_match, only_new=only_new
        )
    write_budget(output_format, found)


def list_grantees(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the principals that may get an allowance on a dataset; for its owner."""
    with connect() as client:
        found = list(client.dataset(dataset).grantees())
    write_grantees(output_format, found)


def write_grantees(output_format: OutputFormat, found: list[Grantee]) -> None:
    """Write principals to whom something may be granted."""

    def show() -> None:
        rows = [(each.name, each.display_name or "", each.role) for each in found]
        output.print_table(("principal", "display name", "role"), rows)

    output.write_list(output_format, "grantees", found, show, Grantee)


def show_allowance(
    dataset: DatasetName, principal: PrincipalName, *, output_format: FormatOf = OutputFormat.TABLE
) -> None:
    """Show a principal's allowance as it was granted; `snapledger budget` shows what it has spent."""
    with connect() as client:
        found = client.dataset(dataset).allowance(principal)

    def show() -> None:
        renewed = "" if found.window_days is None else f", renewed every {found.window_days} days"
        output.print_line(f"{found.principal} may spend ε {found.epsilon_limit:f} on {found.dataset}{renewed}.")

    output.write(output_format, output.make_tagged(found), show)


def revoke_allowance(dataset: DatasetName, principal: PrincipalName, *, if_match: IfMatchOf = None) -> None:
    """Revoke a principal's access to a dataset; what it has spent stays spent."""
    with connect() as client:
        client.dataset(dataset).revoke(principal, if_match=if_match)
    output.print_line(f"{principal} no longer has access to {dataset}.")
