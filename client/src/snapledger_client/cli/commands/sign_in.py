"""`snapledger login` and `logout`."""

import os
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from snapledger_client.cli import credentials
from snapledger_client.cli.session import USAGE, connect_with, fail


def _read_key() -> str:
    """Return the key from the environment, a hidden prompt or standard input; never from an argument."""
    if key := os.environ.get("SNAPLEDGER_KEY"):
        return key
    if sys.stdin.isatty():
        return str(typer.prompt("Key", hide_input=True)).strip()
    return sys.stdin.readline().strip()


def login(
    url: Annotated[str | None, typer.Argument(help="The URL of the service.", envvar="SNAPLEDGER_URL")] = None,
) -> None:
    """Check a key, and store it with the service's URL in a file that only you can read.

    Type the key when asked, or give it as SNAPLEDGER_KEY or on standard input: others can see a command's arguments.
    """
    if not url and not sys.stdin.isatty():
        fail("no URL of a service: give it, or set SNAPLEDGER_URL", USAGE)
    if url and "@" in urlsplit(url).netloc:
        fail("the URL must not contain a name or a password: others can see a command's arguments", USAGE)
    given = credentials.Credentials((url or str(typer.prompt("URL"))).rstrip("/"), _read_key())
    with connect_with(given) as client:
        reader = client.figure_reader()  # viewers may ask this too
    credentials.store_credentials(given)
    typer.echo(
        f"Signed in to {given.url} as {reader.name} ({reader.role}); the key is stored in {credentials.find_file()}"
    )


def logout() -> None:
    """Delete what `snapledger login` stored; the key itself stays valid."""
    if credentials.find_account() is not None:
        fail("you are signed in with an account: run `snapledger sign-out`", USAGE)
    typer.echo("Signed out." if credentials.delete_credentials() else "No key was stored.")
