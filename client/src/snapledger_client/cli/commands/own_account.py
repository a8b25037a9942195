"""`snapledger me` and `new-key`."""

import typer

from snapledger_client.cli import credentials, output
from snapledger_client.cli.commands.principals import format_expiry, write_key
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import connect
from snapledger_client.formatting import format_person


def show_me(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show who you are to the service, when your key expires, and what you may spend on which dataset."""
    with connect() as client:
        me = client.me()

    def show() -> None:
        end = format_expiry(me.key_expires_at)
        key = f"expires at {end}" if end else "does not expire"
        output.print_line(f"{format_person(me.name, me.display_name)}: {me.role}; the key {key}")
        if not me.allowances:
            return
        rows = [
            (each.dataset, f"{each.epsilon_limit:f}", f"{each.epsilon_spent:f}", f"{each.epsilon_remaining:f}")
            for each in me.allowances
        ]
        figures = ("limit", "spent", "remaining")
        output.print_table(("dataset", *figures), rows, figures)

    document = me.to_dict()
    own = {name: each for name, each in document.items() if name != "allowances"}
    records = [own | {"allowance": each} for each in document["allowances"]]
    output.write(output_format, document, show, records or [own])


def replace_own_key(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Replace your own key; the old one stops working.

    A key that `snapledger login` stored is replaced in its file, and not shown. Any other is printed.
    """
    stored = credentials.is_stored()
    with connect() as client:
        issued = client.replace_own_key()
    if stored and _store(issued.key):
        typer.echo(f"The new key is stored in {credentials.find_file()}.")
        return
    write_key(output_format, issued)


def _store(key: str) -> bool:
    """Replace the stored key and return True; return False if that fails, since the key must then be shown."""
    try:
        credentials.store_credentials(credentials.Credentials(credentials.load().url, key))
    except OSError as error:
        typer.echo(f"snapledger: the new key could not be stored: {error.strerror}", err=True)
        return False
    return True
