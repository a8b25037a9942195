"""`snapledger principal …`."""

from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from snapledger_client import IssuedKey, Principal
from snapledger_client.cli import output
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, connect, fail
from snapledger_client.formatting import format_person

Role = Literal["admin", "owner", "auditor", "analyst", "viewer"]
NameOf = Annotated[str, typer.Argument(help="The principal's name.")]
Expires = Annotated[
    str | None,
    typer.Option(help="When the key expires, in UTC: 2027-01-31 or 2027-01-31T18:00.", metavar="TIME"),
]


def _parse_time(text: str | None) -> datetime | None:
    try:
        found = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        fail("--expires must be a time such as 2027-01-31 or 2027-01-31T18:00", USAGE)
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found


def write_key(output_format: OutputFormat, issued: IssuedKey) -> None:
    """Print a new key. For people, only the key is on standard output, so that a script can use it."""

    def show() -> None:
        end = format_expiry(issued.key_expires_at)
        until = f"expires at {end}" if end else "does not expire"
        typer.echo(f"The key of {issued.name} ({issued.role}), which {until}; it is shown only this once:", err=True)
        typer.echo(issued.key)

    output.write(output_format, issued.to_dict(), show)


def format_expiry(at: datetime | None) -> str:
    """Return when a key expires; an empty text if it does not."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _describe_state(principal: Principal) -> str:
    if principal.disabled:
        return "disabled"
    end = principal.key_expires_at
    return "expired" if end is not None and end <= datetime.now(UTC) else ""


def create_principal(
    name: NameOf,
    role: Annotated[Role, typer.Argument(help="Its role: what it may do.")],
    expires: Expires = None,
    display_name: Annotated[
        str | None, typer.Option(help="How people call it, such as 'Ada Lovelace'.", metavar="TEXT")
    ] = None,
    *,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Create a principal, and print its key."""
    end = _parse_time(expires)
    with connect() as client:
        issued = client.create_principal(name, role, end, display_name)
    write_key(output_format, issued)


def set_display_name(
    name: NameOf,
    display_name: Annotated[str, typer.Argument(help="How people call it; an empty text removes the display name.")],
    *,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Set the display name of a principal."""
    with connect() as client:
        principal = client.set_display_name(name, display_name or None)

    def show() -> None:
        shown = principal.display_name
        output.print_line(f"{name} is shown as {shown}." if shown else f"{name} has no display name.")

    output.write(output_format, principal.to_dict(), show)


def list_principals(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List all principals."""
    with connect() as client:
        found = list(client.principals())

    def show() -> None:
        rows = [
            (
                each.name,
                each.display_name or "",
                each.role,
                f"{each.created_at:%Y-%m-%d}",
                format_expiry(each.key_expires_at) or "never",
                _describe_state(each),
            )
            for each in found
        ]
        output.print_table(("principal", "display name", "role", "since", "key expires", "state"), rows)

    output.write_list(output_format, "principals", found, show, Principal)


def show_principal(name: NameOf, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show a principal: its role, and when its key expires."""
    with connect() as client:
        found = client.principal(name)

    def show() -> None:
        expiry = format_expiry(found.key_expires_at)
        key = f"the key expires at {expiry}" if expiry else "the key does not expire"
        state = _describe_state(found)
        named = format_person(found.name, found.display_name)
        output.print_line(f"{named}: {found.role}, {key}{f'; {state}' if state else ''}")

    output.write(output_format, found.to_dict(), show)


def replace_key(name: NameOf, expires: Expires = None, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Give a principal a new key, and print it; the old one stops working."""
    end = _parse_time(expires)
    with connect() as client:
        issued = client.replace_key(name, end)
    write_key(output_format, issued)


def disable_principal(name: NameOf) -> None:
    """Disable a principal for good."""
    with connect() as client:
        client.disable_principal(name)
    output.print_line(f"{name} is disabled.")
