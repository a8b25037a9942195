"""Reads and writes checkpoint files, and checks that a ledger is not behind one."""

from collections.abc import Collection
from pathlib import Path

from app import durable_files
from app.db.session import Session
from app.ledger.chain import checkpoints
from app.ledger.chain.checkpoints import Checkpoint
from app.ledger.chain.keyring import Keyring


def read(path: Path, public_keys: Collection[bytes]) -> Checkpoint:
    """Read a checkpoint from a file and check that one of the keys signed it.

    Raises:
        ValueError: the file cannot be read, is not a checkpoint, or its signature is wrong.
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise ValueError(f"{path} is not a checkpoint, or cannot be read") from None
    checkpoint = checkpoints.decode_checkpoint(content)
    checkpoint.require_signature(public_keys)
    return checkpoint


def write(session: Session, keyring: Keyring, path: Path) -> Checkpoint:
    """Write a checkpoint of the ledger's current state. It never overwrites a checkpoint that the ledger is behind.

    Raises:
        ValueError: the file exists and is not a checkpoint of this ledger, or is a later one.
        OSError: the file cannot be written.
    """
    if path.exists():
        require(session, read(path, keyring.public_keys))
    made = checkpoints.make_checkpoint(session, keyring)
    durable_files.replace(path, made.encode(), 0o644)
    return made


def require(session: Session, checkpoint: Checkpoint) -> None:
    """Check that a ledger is not behind a checkpoint.

    Raises:
        ValueError: entries that the checkpoint names are missing or were replaced.
    """
    if behind := checkpoints.find_behind(session, checkpoint):
        raise ValueError(f"the ledger is behind the checkpoint of {checkpoint.at}: {', '.join(behind)}")
