"""The command line."""

import os
import socket
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, NoReturn

import typer
import uvicorn
from pydantic import ValidationError

from app import logs
from app.commands import dataset, ledger, remote
from app.commands.remote.session import ABOUT_EXIT_CODES
from app.config import Settings
from app.db.engine import Database
from app.db.migrate import migrate as migrate_database
from app.errors import SnapledgerError
from app.services import backups, principals, startup
from app.services.access import Role

_KEEP_ALIVE_SECONDS = 75  # longer than a proxy keeps a connection that it may be about to use
_UNHEARD_SECONDS = 30  # after which a worker is taken for hung: long, since a machine may be busy, and it is killed
_GRACE_SECONDS = 30  # for what is being answered when the service is told to stop

app = typer.Typer(
    help="True statistics of a sensitive table, at a privacy cost that is exact, capped and on record.",
    epilog=ABOUT_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(dataset.app, name="dataset")


app.add_typer(ledger.app, name="ledger")


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(help="How many processes answer.", min=1)] = 1,
    require_checkpoint: Annotated[
        Path | None, typer.Option(help="Refuse to start on a ledger that is behind this checkpoint.")
    ] = None,
) -> None:
    """Start the service; it migrates its database first unless SNAPLEDGER_AUTO_MIGRATE is false."""
    settings = Settings()
    Database(settings.database_url).close()  # a wrong URL is told here, in a line
    if require_checkpoint is not None:
        startup.require_checkpoint(settings, require_checkpoint)
    if port == 0:
        with socket.socket() as probe:
            probe.bind((host, 0))
            port = probe.getsockname()[1]
    typer.echo(f"Snapledger listens on http://{host}:{port} (the interface is described at /docs)")
    several = workers > 1
    with tempfile.TemporaryDirectory(prefix="snapledger-metrics-") if several else nullcontext() as folder:
        if folder is not None:  # each counts for itself, in a file there
            os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder)
        uvicorn.run(
            "app.main:create_app",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            http="app.api.protocol:Protocol",
            ws="none",
            proxy_headers=False,  # nothing depends on where a call says that it came from
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            access_log=False,  # the path of a call names what somebody asked about
            log_config=logs.configuration(settings.log_level),
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            timeout_worker_healthcheck=_UNHEARD_SECONDS,
        )


@app.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""
    database = Database(Settings().database_url)
    migrate_database(database)
    database.close()
    typer.echo("The database is migrated.")


@app.command()
def create_key(
    name: Annotated[str, typer.Argument(help="The principal's name.")],
    role: Annotated[Role | None, typer.Option(help="Make the principal, with this role.")] = None,
) -> None:
    """Print a new key for a principal, straight from the database: the way back in when every key is lost."""
    database = Database(Settings().database_url)
    try:
        issued = principals.rotate(database, name) if role is None else principals.create(database, name, role)
    finally:
        database.close()
    typer.echo(issued.key)


@app.command()
def backup(directory: Annotated[Path, typer.Argument(help="A directory that is not there yet.")]) -> None:
    """Copy ledger, data and a checkpoint of them, consistent with each other, while the service runs.

    The ledger's secret is not in it: keep that elsewhere.
    """
    made = backups.back_up(Settings(), directory)
    typer.echo(f"{directory}: {len(made.heads)} datasets as of {made.at}; the secret is not in it")


@app.command()
def restore(directory: Annotated[Path, typer.Argument(help="A backup.")]) -> None:
    """Fill an empty database and data directory from a backup; then compare it with the latest checkpoint."""
    made = backups.restore(Settings(), directory)
    typer.echo(f"The ledger is as it was at {made.at}. What was released since is forgotten, and must be written off:")
    typer.echo("snapledger ledger verify --checkpoint LATEST says which ledgers are behind.")


@app.command()
def demo() -> None:
    """Run the main job on real data: a temporary service, the Palmer penguins, and what an analyst sees."""
    from app.demo import tour  # noqa: PLC0415 - its terminal library is not for the service

    tour.run()


@app.command()
def audit(
    epsilon: Annotated[list[str] | None, typer.Option(help="The privacy cost of a mechanism; may be repeated.")] = None,
    rows: Annotated[list[int] | None, typer.Option(help="The number of rows; may be repeated.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Bound the cases of the verification draft.")] = False,
) -> None:
    """Compute what the code that draws releases does, exactly, beside what is claimed; exit status 1 on any excess."""
    from app.verification import report  # noqa: PLC0415 - audits are not for the service

    if not report.run(epsilon or [], rows or [], as_json=as_json, of_the_draft=draft):
        raise typer.Exit(1)


remote.attach(app)


def main() -> None:
    """Run the command line; what cannot be done is told in a line, with exit status 1."""
    try:
        app(prog_name="snapledger")
    except ValidationError as error:
        # Settings: pydantic's own text would show the value, which may be a secret.
        told = "; ".join(
            f"SNAPLEDGER_{'_'.join(map(str, problem['loc']))}".upper() + f": {problem['msg']}"
            for problem in error.errors()
        )
        _fail(told)
    except OSError as error:
        _fail(f"{error.filename or 'the system'}: {error.strerror}")
    except (SnapledgerError, ValueError) as error:
        _fail(str(error) or type(error).__name__)


def _fail(told: str) -> NoReturn:
    typer.echo(f"snapledger: {told}", err=True)
    raise SystemExit(1) from None


if __name__ == "__main__":
    main()
