"""`snapledger sign-in` and `sign-out`."""

from typing import Annotated

import typer

from snapledger_client import Client, SignInError, SnapledgerError, Unreachable, token_files
from snapledger_client.cli import credentials
from snapledger_client.cli.session import USAGE, fail, reporting_errors
from snapledger_client.private_files import find_directory


def _forget(url: str) -> None:
    """Delete the stored session for a service and revoke its tokens, if there is one."""
    try:
        with Client.sign_in(url, store=True, show=None) as client:
            client.sign_out()
    except SignInError:
        return
    except Unreachable:
        token_files.write_session(find_directory() / token_files.NAME, url, None)
        raise


def sign_in(
    url: Annotated[str | None, typer.Argument(help="The URL of the service.", envvar="SNAPLEDGER_URL")] = None,
) -> None:
    """Sign in with your organisation's account, and stay signed in.

    Open the address that is shown, on any device, and enter the code there. The tokens are stored in a file that only
    you can read, and renewed when needed.
    """
    if not url:
        fail("no URL of a service: give it, or set SNAPLEDGER_URL", USAGE)
    url = url.rstrip("/")
    with reporting_errors():
        _forget(url)
        with Client.sign_in(url, store=True, show=lambda code: typer.echo(str(code), err=True)) as client:
            try:
                reader = client.figure_reader()  # viewers may ask this too
            except SnapledgerError:
                client.sign_out()
                raise
    credentials.store_credentials(credentials.Credentials(url, None))
    typer.echo(f"Signed in to {url} as {reader.name} ({reader.role}).")


def sign_out() -> None:
    """Delete what `snapledger sign-in` stored, and revoke it at the provider."""
    url = credentials.find_account()
    if url is None:
        typer.echo("Nobody was signed in.")
        return
    credentials.delete_credentials()
    with reporting_errors():
        _forget(url)
    typer.echo("Signed out.")
