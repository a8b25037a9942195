"""Where the ledger's secrets come from: the settings, or a file of the service's own that it makes once."""

import os
import secrets
from pathlib import Path
from uuid import uuid4

from app.config import Settings
from app.db.session import Session
from app.ledger import heads
from app.ledger.keyring import Keyring

SECRET_FILE = "secret"  # noqa: S105 - a file's name


def keyring(settings: Settings) -> Keyring:
    """The keys by the settings: SNAPLEDGER_SECRET, or else SNAPLEDGER_SECRET_FILE, or else DATA_DIR/secret.

    A file has the current secret in its first line and earlier ones in the lines below, so that secrets can rotate.

    Raises:
        ValueError: the file is missing, cannot be read, or holds no secret. The text repeats nothing of it.
    """
    if settings.secret is not None and settings.secret_file is not None:
        raise ValueError("SNAPLEDGER_SECRET and SNAPLEDGER_SECRET_FILE exclude each other")
    if settings.secret is not None:
        return Keyring([settings.secret.get_secret_value()])
    path = settings.secret_file or settings.data_dir / SECRET_FILE
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"the ledger's secret cannot be read from {path}") from None
    return Keyring([line.strip() for line in lines if line.strip()])


def keyring_or_new(settings: Settings, session: Session) -> Keyring:
    """As `keyring`; where nothing is set, a new secret is written to DATA_DIR, for an empty ledger alone.

    Raises:
        ValueError: as `keyring`; or the ledger was sealed under a secret that is not among these, and to go on would
            hide whether it was changed.
    """
    sealed_under = heads.secret_ids(session)
    configured = settings.secret is not None or settings.secret_file is not None
    if not configured and not sealed_under:
        _generate(settings.data_dir / SECRET_FILE)
    keys = keyring(settings)
    if any(keys.find(secret_id) is None for secret_id in sealed_under):
        raise ValueError(
            "the ledger was sealed under another secret; SNAPLEDGER_SECRET_FILE takes earlier ones, one a line"
        )
    return keys


def _generate(path: Path) -> None:
    """Write a new secret unless there is one; of processes that start at once, all use the first one's."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(partial, path)  # fails where somebody else was first
        _sync(path.parent)
    except FileExistsError:
        pass
    finally:
        partial.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
