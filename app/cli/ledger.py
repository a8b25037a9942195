"""`snapledger ledger …`: what an operator and an auditor do with the ledger itself, beside the running service."""

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

app = typer.Typer(help="Verify the ledger, sign checkpoints of it, write off what is in doubt.", no_args_is_help=True)

PublicKey = Annotated[
    str | None,
    typer.Option(help="Check the checkpoint's signature with this key, in hexadecimal, and not with the secret's."),
]


@app.command()
def verify(
    dataset: Annotated[str | None, typer.Option(help="Only this dataset's ledger.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Also refuse a ledger that is behind this one.")] = None,
    public_key: PublicKey = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute every chain and sum again, without changing anything; exit status 1 on any problem.

    It reads the database as it is, with the service running or not, and needs the secret.
    """
    settings = Settings()
    with offline_ledger.open_ledger_snapshot(settings) as session:
        keyring = ledger_secrets.load_keyring(settings)
        known = None
        if checkpoint is not None:
            known = checkpoint_files.read(checkpoint, _public_keys(public_key) or keyring.public_keys)
        found = full_verification.verify_ledgers(session, keyring, dataset, known)
    typer.echo(encode_json(found.document()).decode() if as_json else found.text())
    if not found.valid:
        raise typer.Exit(1)


@app.command()
def checkpoint(
    file: Annotated[Path, typer.Argument(help="Where to write it, away from the database.")],
) -> None:
    """Sign the heads of all chains, so that a ledger which was turned back to before them can be told.

    An earlier checkpoint in the file is replaced, unless the ledger is behind it.
    """
    settings = Settings()
    with offline_ledger.open_ledger_snapshot(settings) as session:
        made = checkpoint_files.write(session, ledger_secrets.keyring_for_ledger(settings, session), file)
    typer.echo(f"{file}: {len(made.heads)} chains at {made.at}, signed by {made.public_key.hex()}")


@app.command()
def public_key() -> None:
    """Print the key that checks the signatures of checkpoints, to be published; then those of earlier secrets."""
    for key in ledger_secrets.load_keyring(Settings()).public_keys:
        typer.echo(key.hex())


@app.command()
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


@app.command()
def write_off(
    dataset: Annotated[str, typer.Argument(help="The dataset's name.")],
    epsilon: Annotated[str, typer.Argument(help="How much to spend.")],
    reason: Annotated[str, typer.Option(help="Why; it is part of the ledger.")],
    principal: Annotated[str, typer.Option(help="Who decides it, by the name in the service.")] = "admin",
) -> None:
    """Spend on a dataset without a release, as for debits that a restored backup has forgotten."""
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
        raise ValueError("a public key has 64 hexadecimal digits") from None
