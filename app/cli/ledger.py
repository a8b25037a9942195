"""`snapledger ledger …`: commands of operators and auditors that open the ledger's database directly."""

import json
from pathlib import Path
from typing import Annotated

import typer

from app.api.schemas.base import validate
from app.api.schemas.ledger import WriteOffRequest
from app.config import Settings
from app.json_text import encode_json
from app.ledger.chain import checkpoints
from app.ledger.units import epsilon_text
from app.services.operations import checkpoints as checkpoint_files
from app.services.operations import full_verification, ledger_secrets, offline_ledger, write_offs
from snapledger_client.cli import output
from snapledger_client.cli.commands import ledgers
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, fail

PublicKey = Annotated[
    str | None,
    typer.Option(help="Check the checkpoint's signature with this key, in hexadecimal, instead of the secret's."),
]


def verify(  # noqa: PLR0913 - of the service's verification and of the one beside it
    remote_dataset: Annotated[
        str | None,
        typer.Argument(
            help="Let the running service verify this dataset's ledger, as its owner or an auditor.", metavar="DATASET"
        ),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Verify only this dataset's ledger, directly from the database.")
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Also fail if a ledger is behind this checkpoint.")] = None,
    public_key: PublicKey = None,
    *,
    incremental: Annotated[
        bool, typer.Option("--incremental", help="Check each ledger only from its latest verified entry on.")
    ] = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Compute every hash chain and sum again, and change nothing; exit status 1 on any problem.

    Without DATASET, it reads the database directly, whether the service runs or not, and needs the ledger's secret.
    """
    if remote_dataset is not None:
        if (dataset, checkpoint, public_key) != (None, None, None):
            fail("--dataset, --checkpoint and --public-key go with the database, not with a running service", USAGE)
        ledgers.verify(remote_dataset, incremental=incremental, output_format=output_format)
        return
    settings = Settings()
    with offline_ledger.open_ledger_snapshot(settings) as session:
        keyring = ledger_secrets.load_keyring(settings)
        known = None
        if checkpoint is not None:
            known = checkpoint_files.read(checkpoint, _public_keys(public_key) or keyring.public_keys)
        found = full_verification.verify_ledgers(session, keyring, dataset, known, incremental=incremental)
    document = json.loads(encode_json(found.document()))
    records = [
        *document["datasets"],
        *([{"dataset": checkpoints.ACTS} | document["audit"]] if document["audit"] else []),
    ]
    output.write(output_format, document, lambda: typer.echo(found.text()), records)
    if not found.valid:
        raise typer.Exit(1)


def checkpoint(
    file: Annotated[Path, typer.Argument(help="The file to write, away from the database.")],
) -> None:
    """Sign the heads of all hash chains: they show later whether a ledger was reset to an earlier state.

    It replaces an earlier checkpoint in the file, unless the ledger is behind that checkpoint.
    """
    settings = Settings()
    with offline_ledger.open_ledger_snapshot(settings) as session:
        made = checkpoint_files.write(session, ledger_secrets.keyring_for_ledger(settings, session), file)
    typer.echo(f"{file}: {len(made.heads)} chains at {made.at}, signed by {made.public_key.hex()}")


def public_key() -> None:
    """Print the public key of checkpoints' signatures, to be published; then those of earlier secrets."""
    for key in ledger_secrets.load_keyring(Settings()).public_keys:
        typer.echo(key.hex())


def verify_checkpoint(
    file: Annotated[Path, typer.Argument(help="A checkpoint.")],
    public_key: Annotated[str, typer.Option(help="The published key, in hexadecimal.")],
) -> None:
    """Check a checkpoint's signature and print what it holds; this needs neither database nor secret."""
    known = checkpoint_files.read(file, _public_keys(public_key))
    typer.echo(f"signed by {known.public_key.hex()} at {known.at}")
    for head in known.heads:
        typer.echo(f"{head.dataset}: {head.seq} entries, ε {epsilon_text(head.spent_nano)}, head {head.hash.hex()}")
    if known.audit is not None:
        typer.echo(f"{checkpoints.ACTS}: {known.audit.seq} records, head {known.audit.hash.hex()}")


def write_off(
    dataset: Annotated[str, typer.Argument(help="The dataset's name.")],
    epsilon: Annotated[str, typer.Argument(help="The ε to spend.")],
    reason: Annotated[str, typer.Option(help="The reason; it is stored in the ledger.")],
    principal: Annotated[str, typer.Option(help="The principal who decides it.")] = "admin",
) -> None:
    """Spend ε on a dataset without a release, such as debits that a restored backup has lost."""
    asked = validate(WriteOffRequest, {"epsilon": epsilon, "reason": reason})
    settings = Settings()
    with offline_ledger.open_database(settings) as database:
        with database.read() as session:
            keyring = ledger_secrets.keyring_for_ledger(settings, session)
        account = write_offs.write_off(database, keyring, dataset, asked.epsilon, principal, asked.reason)
    typer.echo(f"{dataset}: ε {epsilon_text(account.spent_nano)} spent, {epsilon_text(account.remaining_nano)} left")


def _public_keys(text: str | None) -> list[bytes]:
    if text is None:
        return []
    try:
        return [checkpoints.parse_public_key(bytes.fromhex(text))]
    except ValueError:
        raise ValueError("a public key must have 64 hexadecimal digits") from None
