"""Checkpoints as files, and ledgers that must not be behind one."""

from collections.abc import Collection
from pathlib import Path

from app import durable_files
from app.db.session import Session
from app.ledger.chain import checkpoints
from app.ledger.chain.checkpoints import Checkpoint
from app.ledger.chain.keyring import Keyring


def read(path: Path, public_keys: Collection[bytes]) -> Checkpoint:
    """A checkpoint from a file, signed with one of the keys.

    Raises:
        ValueError: there is none, it cannot be read, or its signature is wrong.
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise ValueError(f"{path} is not a checkpoint, or cannot be read") from None
    checkpoint = checkpoints.decode_checkpoint(content)
    checkpoint.require_signature(public_keys)
    return checkpoint


def write(session: Session, keyring: Keyring, path: Path) -> Checkpoint:
    """Write a checkpoint of the ledger as of now; never over one that the ledger is behind.

    Raises:
        ValueError: the file holds what is no checkpoint of this ledger's, or a later one.
        OSError: it cannot be written.
    """
    if path.exists():
        require(session, read(path, keyring.public_keys))
    made = checkpoints.make_checkpoint(session, keyring)
    durable_files.replace(path, made.encode(), 0o644)
    return made


def require(session: Session, checkpoint: Checkpoint) -> None:
    """Refuse a ledger that is behind a checkpoint.

    Raises:
        ValueError: it lacks entries that the checkpoint names, or has others.
    """
    if behind := checkpoints.find_behind(session, checkpoint):
        raise ValueError(f"the ledger is behind the checkpoint of {checkpoint.at}: {', '.join(behind)}")
