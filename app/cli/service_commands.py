"""All commands of the command line, and the code of those that run or maintain the service."""

import errno
import os
import resource
import socket
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
import uvicorn
from pydantic import ValidationError

from app import logs, traces
from app.api.schemas.administration import KeyRequest
from app.api.schemas.base import validate
from app.cli import dataset, ledger
from app.cli.start_message import describe_start
from app.config import Settings
from app.errors import SnapledgerError
from app.roles import Role
from app.services import audit_records
from app.services.identity import principals
from app.services.operations import backups, databases, ledger_secrets, migrations, offline_ledger, relocations, startup
from snapledger_client.cli import commands
from snapledger_client.cli.application import application, is_argument, report_errors_in_a_line
from snapledger_client.cli.output import FormatOf, OutputFormat

_KEEP_ALIVE_SECONDS = 75  # longer than proxies keep idle connections, so that they never use one that we close
_UNHEARD_SECONDS = 30  # a silent worker is then killed as hung; long, since a machine may be busy
_OTHER_DESCRIPTORS = 256  # for files, the database and the process itself
_GRACE_SECONDS = 30  # for requests in progress when the service stops

app = application()


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 chooses a free one.", min=0, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(help="The number of worker processes.", min=1)] = 1,
    require_checkpoint: Annotated[
        Path | None, typer.Option(help="Do not start if the ledger is behind this checkpoint.")
    ] = None,
) -> None:
    """Start the service; it migrates its database first unless SNAPLEDGER_AUTO_MIGRATE is false."""
    settings = Settings()
    # Errors that waiting cannot change are printed here, once, and not by each worker.
    traces.require()
    port = _free_port(host, port)
    if require_checkpoint is not None:
        startup.require_checkpoint(settings, require_checkpoint)
    startup.require_ledger(settings)
    typer.echo(describe_start(settings, host, port))
    several = workers > 1
    with tempfile.TemporaryDirectory(prefix="snapledger-metrics-") if several else nullcontext() as folder:
        if folder is not None:  # each worker counts in a file of its own there
            os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder)
        uvicorn.run(
            "app.main:create_app",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            http="app.api.server.http_protocol:HttpProtocol",
            ws="none",
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=list(settings.trusted_proxies),
            limit_concurrency=_max_connections(settings),
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            access_log=False,  # a request's path reveals what somebody asked about
            log_config=logs.configuration(settings.log_level),
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            timeout_worker_healthcheck=_UNHEARD_SECONDS,
        )


def _max_connections(settings: Settings) -> int:
    """Return how many connections a process may accept, so that it keeps enough descriptors for other files."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return settings.max_connections
    return max(1, min(settings.max_connections, descriptors - _OTHER_DESCRIPTORS))


def _free_port(host: str, port: int) -> int:
    """Return the port, or a free one if it is 0.

    Raises:
        ValueError: the service cannot listen on this address and port.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.create_server(address, family=family) as probe:
            free: int = probe.getsockname()[1]
            return free
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            told = (
                f"port {port} of {host} is in use: stop the process that listens there, or choose another with --port"
            )
        else:
            told = f"cannot listen on port {port} of {host}: {error.strerror}"
        raise ValueError(told) from None


def migrate() -> None:
    """Bring the database to the schema of this version."""
    settings = Settings()
    with databases.use_database(settings) as database:
        migrations.migrate(settings, database, audit_records.command_actor())
    typer.echo("The database is migrated.")


def create_key(
    name: Annotated[str, typer.Argument(help="The principal's name.")],
    role: Annotated[Role | None, typer.Option(help="Create the principal, with this role.")] = None,
    expires_at: Annotated[
        str | None, typer.Option(help="When the key expires, such as 2027-01-31T12:00:00Z; never by default.")
    ] = None,
) -> None:
    """Print a new key for a principal, directly from the database: for when every key is lost."""
    settings, by = Settings(), audit_records.command_actor()
    until = validate(KeyRequest, {"key_expires_at": expires_at}).key_expires_at
    with offline_ledger.open_database(settings) as database:
        with database.read() as session:
            seal = ledger_secrets.load_or_create_keyring(settings, session).seal
        if role is None:
            issued = principals.replace_key(database, seal, by, name, until)
        else:
            issued = principals.create_principal(database, seal, by, name, role, until)
    typer.echo(issued.key)


def backup(directory: Annotated[Path, typer.Argument(help="A directory that does not exist yet.")]) -> None:
    """Copy the ledger, the data and a checkpoint consistently, while the service runs.

    The backup does not contain the ledger's secret: keep that elsewhere.
    """
    made = backups.back_up(Settings(), directory)
    typer.echo(f"{directory}: {len(made.heads)} datasets as of {made.at}; it does not contain the ledger's secret")


def restore(directory: Annotated[Path, typer.Argument(help="The directory of a backup.")]) -> None:
    """Fill an empty database and data directory from a backup; then compare it with your latest checkpoint."""
    made = backups.restore(Settings(), directory)
    typer.echo(
        f"The ledger is restored as of {made.at}. Releases since then are lost, and you must write off what they cost:"
    )
    typer.echo("snapledger ledger verify --checkpoint LATEST says which ledgers are behind.")


def migrate_to(
    context: typer.Context,
    url: Annotated[
        str,
        typer.Argument(
            envvar="SNAPLEDGER_TARGET_URL",
            help="The URL of an empty database; set it in the environment if it has a password.",
        ),
    ],
) -> None:
    """Move the whole ledger to another database, verify it there, and retire this one for good.

    Nobody can write to either database until the move has ended. If it is interrupted, run it again to go on. The data
    directory and the secret do not change.
    """
    if is_argument(context, "url") and urlsplit(url).password is not None:
        raise ValueError(
            "others can see the password in a command's arguments: set SNAPLEDGER_TARGET_URL to the URL instead"
        )
    moved = relocations.move_ledger(Settings(), url)
    if moved is None:
        typer.echo("The interrupted move is complete now.")
    else:
        typer.echo(f"{moved.rows} rows are the same in both databases; {moved.datasets} datasets' ledgers are valid.")
    typer.echo("This database is retired: set SNAPLEDGER_DATABASE_URL to the other one before you start the service.")


def demo() -> None:
    """Show what an analyst sees, on real data: a temporary service with the Palmer penguins."""
    from app.demo import tour  # noqa: PLC0415 - only this command needs its terminal library

    tour.run()


def audit(
    epsilon: Annotated[list[str] | None, typer.Option(help="The ε of a mechanism; may be repeated.")] = None,
    rows: Annotated[list[int] | None, typer.Option(help="The number of rows; may be repeated.")] = None,
    *,
    output_format: FormatOf = OutputFormat.TABLE,
    draft: Annotated[bool, typer.Option("--draft", help="Bound the cases of the verification draft.")] = False,
) -> None:
    """Compare the exact privacy and accuracy of releases with the claims; exit status 1 on any excess."""
    from app.mechanism_audit import report  # noqa: PLC0415 - only this command needs it

    if not report.run(epsilon or [], rows or [], output_format=output_format, of_the_draft=draft):
        raise typer.Exit(1)


COMMANDS: dict[str, tuple[commands.Command, str]] = {
    "serve": (serve, "serve --port 8000 --workers 2"),
    "migrate": (migrate, "migrate"),
    "create-key": (create_key, "create-key admin"),
    "backup": (backup, "backup /backups/2027-01-31"),
    "restore": (restore, "restore /backups/2027-01-31"),
    "migrate-to": (migrate_to, "migrate-to sqlite:////srv/snapledger/ledger.sqlite3"),
    "demo": (demo, "demo"),
    "audit": (audit, "audit --epsilon 0.5 --rows 344"),
    "dataset suggest": (dataset.suggest, "dataset suggest penguins.csv"),
    "dataset reindex": (dataset.reindex, "dataset reindex penguins"),
    "ledger verify": (ledger.verify, "ledger verify --checkpoint checkpoint.json"),
    "ledger checkpoint": (ledger.checkpoint, "ledger checkpoint checkpoint.json"),
    "ledger public-key": (ledger.public_key, "ledger public-key"),
    "ledger verify-checkpoint": (
        ledger.verify_checkpoint,
        f"ledger verify-checkpoint checkpoint.json --public-key {'0123456789abcdef' * 4}",
    ),
    "ledger write-off": (ledger.write_off, "ledger write-off penguins 0.5 --reason 'lost with the disk'"),
}
"""Each command, and an example of its use without the word `snapledger`."""

for path, (command, example) in (commands.COMMANDS | COMMANDS).items():
    commands.add_command(app, path, command, example)


def _settings_fault(problem: Mapping[str, Any]) -> str:
    """Return which variable is wrong and why; an error about several variables names them in its own text."""
    told = problem["msg"].removeprefix("Value error, ")
    name = "_".join(("SNAPLEDGER", *map(str, problem["loc"]))).upper()
    return f"{name}: {told}" if problem["loc"] else told


def main() -> None:
    """Run the command line. An error is printed in one line, with exit status 1."""
    with report_errors_in_a_line(SnapledgerError):
        try:
            app(prog_name="snapledger")
        except ValidationError as error:
            # Of Settings: pydantic's own text would show the value, which may be a secret.
            raise ValueError("; ".join(map(_settings_fault, error.errors()))) from None


if __name__ == "__main__":
    main()
