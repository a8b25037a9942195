"""The service's URL and key: from the environment, or from the file that `snapledger login` or `sign-in` stored."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from snapledger_client.private_files import find_directory, write_private


class Credentials(NamedTuple):
    """A URL, and a key or None for an account whose tokens are stored; its text form does not show the key."""

    url: str
    key: str | None

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r})"


def find_file() -> Path:
    """Return the path of the credentials file, in the user's configuration directory."""
    return find_directory() / "credentials.json"


def store_credentials(credentials: Credentials) -> None:
    """Write the credentials file. Only its owner can read it, from the first byte on."""
    write_private(find_file(), json.dumps(credentials._asdict()))


def delete_credentials() -> bool:
    """Delete the credentials file, and return whether it existed."""
    try:
        find_file().unlink()
    except FileNotFoundError:
        return False
    return True


def _read_stored() -> Credentials | None:
    try:
        document = json.loads(find_file().read_text())
        key = document["key"]
        return Credentials(str(document["url"]), None if key is None else str(key))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise ValueError("the stored credentials cannot be read: run `snapledger login` again") from None


def is_stored() -> bool:
    """Return whether the key that `load` returns is the stored one."""
    stored = None if os.environ.get("SNAPLEDGER_KEY") else _read_stored()
    return stored is not None and stored.key is not None


def find_account() -> str | None:
    """Return the URL of the service to which `snapledger sign-in` signed somebody in, or None."""
    stored = _read_stored()
    return stored.url if stored is not None and stored.key is None else None


def find_url_without_key() -> str | None:
    """Return SNAPLEDGER_URL if there is neither a key nor an account for this service, otherwise None.

    Raises:
        ValueError: the stored credentials cannot be read.
    """
    url = os.environ.get("SNAPLEDGER_URL")
    if not url or os.environ.get("SNAPLEDGER_KEY"):
        return None
    stored = _read_stored()
    return url if stored is None or url != stored.url else None


def load() -> Credentials:
    """Return SNAPLEDGER_URL and SNAPLEDGER_KEY, or the stored credentials; a stored key is sent only to its service.

    Raises:
        ValueError: there are no credentials.
    """
    url, key = os.environ.get("SNAPLEDGER_URL"), os.environ.get("SNAPLEDGER_KEY")
    if url and key:
        return Credentials(url, key)
    stored = _read_stored()
    if stored is None or (url and url != stored.url):
        raise ValueError(
            "no service and key are set: run `snapledger login` or `snapledger sign-in`, or set SNAPLEDGER_URL and "
            "SNAPLEDGER_KEY"
        )
    return Credentials(stored.url, key or stored.key)
