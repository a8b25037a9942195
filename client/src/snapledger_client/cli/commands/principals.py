"""`snapledger principal …`, and `snapledger acts`."""

from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from snapledger_client import AuditRecord, IssuedKey, Principal
from snapledger_client.cli import output
from snapledger_client.cli.session import USAGE, AsJson, connect, fail

Role = Literal["admin", "owner", "auditor", "analyst"]
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


def _print_key(issued: IssuedKey, *, as_json: bool) -> None:
    """Print only the key on standard output, so that a script can use it."""
    if as_json:
        output.print_json(issued.to_dict())
        return
    end = _format_expiry(issued.key_expires_at)
    until = f"expires at {end}" if end else "does not expire"
    typer.echo(f"The key of {issued.name} ({issued.role}), which {until}; it is shown only this once:", err=True)
    typer.echo(issued.key)


def _format_expiry(at: datetime | None) -> str:
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
    as_json: AsJson = False,
) -> None:
    """Create a principal, and print its key."""
    end = _parse_time(expires)
    with connect() as client:
        issued = client.create_principal(name, role, end, display_name)
    _print_key(issued, as_json=as_json)


def set_display_name(
    name: NameOf,
    display_name: Annotated[str, typer.Argument(help="How people call it; an empty text removes the display name.")],
) -> None:
    """Set the display name of a principal."""
    with connect() as client:
        principal = client.set_display_name(name, display_name or None)
    shown = principal.display_name
    output.print_line(f"{name} is shown as {shown}." if shown else f"{name} has no display name.")


def list_principals(*, as_json: AsJson = False) -> None:
    """List all principals."""
    with connect() as client:
        found = list(client.principals())
    if as_json:
        output.print_json([principal.to_dict() for principal in found])
        return
    rows = [
        (
            each.name,
            each.display_name or "",
            each.role,
            f"{each.created_at:%Y-%m-%d}",
            _format_expiry(each.key_expires_at),
            _describe_state(each),
        )
        for each in found
    ]
    output.print_table(("principal", "display name", "role", "since", "key expires", "state"), rows)


def replace_key(name: NameOf, expires: Expires = None, *, as_json: AsJson = False) -> None:
    """Give a principal a new key, and print it; the old one stops working."""
    end = _parse_time(expires)
    with connect() as client:
        issued = client.replace_key(name, end)
    _print_key(issued, as_json=as_json)


def disable_principal(name: NameOf) -> None:
    """Disable a principal for good."""
    with connect() as client:
        client.disable_principal(name)
    output.print_line(f"{name} is disabled.")


def _find_actor(record: AuditRecord) -> str:
    return record.actor if record.via == "principal" and record.actor else record.via


def list_acts(*, as_json: AsJson = False) -> None:
    """List every administrative act, oldest first, and verify the record of them; for admins and auditors."""
    with connect() as client:
        records, verified = list(client.audit()), client.verify_audit()
    if as_json:
        output.print_json({"records": [each.to_dict() for each in records], "verification": verified.to_dict()})
    else:
        rows = [
            (each.seq, f"{each.at:%Y-%m-%d %H:%M:%S}", _find_actor(each), each.action, each.target or "")
            for each in records
        ]
        output.print_table(("act", "at", "by", "what", "of"), rows, ("act",))
        for problem in verified.problems:
            output.print_line(f"{'the record' if problem.seq is None else f'act {problem.seq}'}: {problem.what}")
        output.print_line("The audit log is valid." if verified.valid else "The audit log is NOT valid.")
    if not verified.valid:
        raise typer.Exit(1)
