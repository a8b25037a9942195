"""A command's session with the service: its client, and exit codes that say what happened."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from snapledger_client import (
    BudgetExhausted,
    Client,
    Problem,
    SignInError,
    SnapledgerError,
    Unauthenticated,
    Unreachable,
)
from snapledger_client.cli import credentials

FAULT, USAGE, BUDGET, AUTHORITY, NOTHING_THERE, NO_ANSWER, CONFLICT = 1, 2, 3, 4, 5, 6, 7
EXIT_CODES = {
    **dict.fromkeys((400, 406, 408, 411, 413, 415, 422, 428, 431), USAGE),
    **dict.fromkeys((401, 403), AUTHORITY),
    404: NOTHING_THERE,
    **dict.fromkeys((409, 410, 412), CONFLICT),
    **dict.fromkeys((429, 502, 503, 504), NO_ANSWER),
}
"""The exit code of each HTTP status, for a problem that is not about the budget."""


def find_exit_code(error: SnapledgerError) -> int:
    """Return the exit code of an error."""
    if isinstance(error, BudgetExhausted):
        return BUDGET
    if isinstance(error, SignInError):
        return AUTHORITY
    if isinstance(error, Unreachable):
        return NO_ANSWER
    return EXIT_CODES.get(error.status, FAULT) if isinstance(error, Problem) else FAULT


def describe_error(error: SnapledgerError) -> str:
    """Return what went wrong, and what to do about it at a terminal."""
    if isinstance(error, Unauthenticated):
        reason = error.reason or "The service does not know this key: it may be mistyped, replaced or expired."
        advice = "Run `snapledger login` with another key, or set SNAPLEDGER_KEY."
        return f"{error.title}. {reason} {advice if error.reason == '' else ''}".rstrip()
    return str(error)


def fail(message: str, code: int) -> NoReturn:
    """Print the message on standard error, and exit with the code."""
    typer.echo(f"snapledger: {message}", err=True)
    raise typer.Exit(code)


@contextmanager
def connect(*, rehearse: bool = False) -> Iterator[Client]:
    """Yield a client of the service that the user signed in to; a terminal shows when it waits.

    With `rehearse`, its releases are rehearsals with made-up data.
    """
    try:
        known = credentials.load()
    except ValueError as error:
        fail(str(error), AUTHORITY)
    with connect_with(known, rehearse=rehearse) as client:
        yield client


@contextmanager
def connect_reader() -> Iterator[Client]:
    """Do the same for reading figures, which needs no key: where only SNAPLEDGER_URL is set, what is public is read."""
    try:
        url = credentials.find_url_without_key()
    except ValueError as error:
        fail(str(error), AUTHORITY)
    if url is None:
        with connect() as client:
            yield client
    else:
        typer.echo("snapledger: only what is public is read, because no key for this service is set", err=True)
        with reporting_errors(), Client(url, anonymous=True) as client, _show_waiting():
            try:
                yield client
            except Unauthenticated:
                fail("Not found, or not public. Run `snapledger login` with a key, or set SNAPLEDGER_KEY.", AUTHORITY)


def _show_waiting() -> AbstractContextManager[object]:
    return Console(stderr=True).status("waiting for the service …")


@contextmanager
def connect_with(known: credentials.Credentials, *, rehearse: bool = False) -> Iterator[Client]:
    """Yield a client with these credentials. An error in the block is printed, and ends the command with its code."""
    with reporting_errors(), _open(known, rehearse=rehearse) as client, _show_waiting():
        yield client


def _open(known: credentials.Credentials, *, timeout: float = 60, retries: int = 6, rehearse: bool = False) -> Client:
    if known.key is not None:
        return Client(known.url, known.key, timeout=timeout, retries=retries, rehearse=rehearse)
    try:
        return Client.sign_in(known.url, store=True, show=None, timeout=timeout, retries=retries, rehearse=rehearse)
    except SignInError:
        raise SignInError(f"Your session has ended: run `snapledger sign-in {known.url}`.") from None


@contextmanager
def reporting_errors() -> Iterator[None]:
    """Print an error in the block, and end the command with its code."""
    try:
        yield
    except SnapledgerError as error:
        key, error.idempotency_key = error.idempotency_key, None  # here it is an option, not an argument
        again = "" if key is None else f"; repeat it safely with --key {key}"
        code = find_exit_code(error)
        fail(f"{describe_error(error)}{again if code == NO_ANSWER else ''}", code)
    except ValueError as error:
        fail(str(error), USAGE)


def complete_dataset_names(incomplete: str) -> list[str]:
    """Return the dataset names for shell completion; none if the service does not respond at once."""
    try:
        known = credentials.load()
        with _open(known, timeout=2, retries=0) as client:
            return [facts.name for facts in client.datasets() if facts.name.startswith(incomplete)]
    except (SnapledgerError, ValueError):
        return []


DatasetName = Annotated[str, typer.Argument(help="The dataset's name.", autocompletion=complete_dataset_names)]
Newest = Annotated[bool, typer.Option("--newest", help="List the newest first.")]
