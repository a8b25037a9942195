"""`snapledger principal …`."""

from enum import StrEnum
from typing import Annotated

import typer

from app.commands.remote import output
from app.commands.remote.session import AsJson, connected
from snapledger_client import IssuedKey, Principal

NameOf = Annotated[str, typer.Argument(help="The principal's name.")]


class Role(StrEnum):
    """What a principal may do."""

    ADMIN = "admin"
    OWNER = "owner"
    AUDITOR = "auditor"
    ANALYST = "analyst"


def _show(issued: IssuedKey, *, as_json: bool) -> None:
    """The key alone on standard output, so that it can be handed on."""
    if as_json:
        output.document(issued.to_dict())
        return
    typer.echo(f"The key of {issued.name} ({issued.role}), shown this once:", err=True)
    typer.echo(issued.key)


def _end(principal: Principal) -> str:
    return "" if principal.key_expires_at is None else f"{principal.key_expires_at:%Y-%m-%d %H:%M} UTC"


def add(
    name: NameOf, role: Annotated[Role, typer.Argument(help="What it may do.")], *, as_json: AsJson = False
) -> None:
    """Make a principal, and print its key."""
    with connected() as client:
        issued = client.create_principal(name, role)
    _show(issued, as_json=as_json)


def list_all(*, as_json: AsJson = False) -> None:
    """List all principals."""
    with connected() as client:
        found = list(client.principals())
    if as_json:
        output.document([principal.to_dict() for principal in found])
        return
    rows = [
        (each.name, each.role, f"{each.created_at:%Y-%m-%d}", _end(each), "disabled" if each.disabled else "")
        for each in found
    ]
    output.table(("principal", "role", "since", "key expires", "state"), rows)


def key(name: NameOf, *, as_json: AsJson = False) -> None:
    """Give a principal a new key, and print it; the old one stops working."""
    with connected() as client:
        issued = client.replace_key(name)
    _show(issued, as_json=as_json)


def disable(name: NameOf) -> None:
    """Take a principal's access away, for good."""
    with connected() as client:
        client.disable_principal(name)
    output.line(f"{name} is disabled.")
