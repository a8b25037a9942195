"""What all commands share: the application without its commands, and the report of errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer

from snapledger_client._version import __version__

ABOUT = "Differentially private statistics of sensitive tables, with a privacy budget ledger."
ABOUT_EXIT_CODES = (
    "Exit codes: 0 done, 1 error, 2 invalid command or request, 3 budget exhausted, 4 no valid key or not allowed, "
    "5 not found, 6 no answer (try again), 7 conflict with the present state."
)


def application() -> typer.Typer:
    """Return the command line application without any command."""
    app = typer.Typer(epilog=ABOUT_EXIT_CODES, no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback(help=ABOUT)(_take_options)
    return app


def _print_version(asked: bool) -> None:  # noqa: FBT001 - typer's own way
    if asked:
        typer.echo(f"snapledger {__version__}")
        raise typer.Exit


def _take_options(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Accept the options that come before a command."""


def is_argument(context: typer.Context, name: str) -> bool:
    """Return whether a parameter's value was typed in the command line, and does not come from the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@contextmanager
def report_errors_in_a_line(*errors: type[Exception]) -> Iterator[None]:
    """Print an error of the block in one line on standard error, and exit with status 1.

    Args:
        errors: the exceptions to print, besides those of the system and of invalid values.
    """
    told: tuple[type[Exception], ...] = (ValueError, *errors)
    try:
        yield
    except OSError as error:
        _fail(f"{error.filename or 'the system'}: {error.strerror}")
    except told as error:
        _fail(str(error) or type(error).__name__)


def _fail(told: str) -> NoReturn:
    typer.echo(f"snapledger: {told}", err=True)
    raise SystemExit(1) from None
