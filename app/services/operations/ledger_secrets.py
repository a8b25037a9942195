"""Loads the ledger's secrets from the settings, or from a file that the service creates once."""

import os
import secrets
from pathlib import Path
from uuid import uuid4

from app import durable_files
from app.config import Settings
from app.db.session import Session
from app.ledger.chain import chain_heads
from app.ledger.chain.keyring import Keyring
from app.private_files import make_private_directory

SECRET_FILE = "secret"  # noqa: S105 - a file's name


def load_keyring(settings: Settings) -> Keyring:
    """Load the keys from SNAPLEDGER_SECRET, or else SNAPLEDGER_SECRET_FILE, or else DATA_DIR/secret.

    A file has the current secret in its first line and earlier secrets in the lines below, so that secrets can rotate.

    Raises:
        ValueError: both settings are set, or the file is missing, cannot be read or has no valid secret. The message
            does not repeat its content.
    """
    if settings.secret is not None and settings.secret_file is not None:
        raise ValueError("SNAPLEDGER_SECRET and SNAPLEDGER_SECRET_FILE are both set: keep one")
    if settings.secret is not None:
        return Keyring([settings.secret.get_secret_value()])
    path = settings.secret_file or settings.data_dir / SECRET_FILE
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"the ledger's secret cannot be read from {path}") from None
    return Keyring([line.strip() for line in lines if line.strip()])


def load_or_create_keyring(settings: Settings, session: Session) -> Keyring:
    """Do the same as `keyring_for_ledger`. If no secret is set and the ledger is empty, first create one in DATA_DIR.

    Raises:
        ValueError: as `keyring_for_ledger`.
    """
    configured = settings.secret is not None or settings.secret_file is not None
    if not configured and not chain_heads.list_secret_ids(session):
        _generate_secret(settings.data_dir / SECRET_FILE)
    return keyring_for_ledger(settings, session)


def keyring_for_ledger(settings: Settings, session: Session) -> Keyring:
    """Load the keys and check that the ledger was sealed under these secrets.

    Raises:
        ValueError: as `load_keyring`; or the ledger was sealed under another secret. Continuing would hide whether the
            ledger was changed.
    """
    keys = load_keyring(settings)
    if any(keys.find(secret_id) is None for secret_id in chain_heads.list_secret_ids(session)):
        raise ValueError(
            "the ledger was sealed with another secret: add the earlier ones to SNAPLEDGER_SECRET_FILE, one per line"
        )
    return keys


def _generate_secret(path: Path) -> None:
    """Write a new secret unless there is one. If several processes start at once, all use the first secret."""
    if path.exists():
        return
    make_private_directory(path.parent)
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        durable_files.write_new(partial, f"{secrets.token_urlsafe(32)}\n".encode(), 0o600)
        os.link(partial, path)  # fails if another process was first
        durable_files.sync_directory(path.parent)
    except FileExistsError:
        pass
    finally:
        partial.unlink(missing_ok=True)
