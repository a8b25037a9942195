"""Where the service is and with which key: from the environment, or from what `snapledger login` stored."""

import json
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import typer


class Credentials(NamedTuple):
    """A URL and a key, whose text is never shown."""

    url: str
    key: str

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r})"


def find_file() -> Path:
    """The file, in the user's own configuration directory."""
    return Path(typer.get_app_dir("snapledger")) / "credentials.json"


def store_credentials(credentials: Credentials) -> None:
    """Write the file; it is readable by its owner alone from the first byte on."""
    target = find_file()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".credentials-")  # made with mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            json.dump(credentials._asdict(), file)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def delete_credentials() -> bool:
    """Delete the file; whether there was one."""
    try:
        find_file().unlink()
    except FileNotFoundError:
        return False
    return True


def _read_stored() -> Credentials | None:
    try:
        document = json.loads(find_file().read_text())
        return Credentials(str(document["url"]), str(document["key"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise ValueError("the stored credentials cannot be read: run `snapledger login` again") from None


def load() -> Credentials:
    """SNAPLEDGER_URL and SNAPLEDGER_KEY, or what is stored; a stored key is for its own service only.

    Raises:
        ValueError: there is none.
    """
    url, key = os.environ.get("SNAPLEDGER_URL"), os.environ.get("SNAPLEDGER_KEY")
    if url and key:
        return Credentials(url, key)
    stored = _read_stored()
    if stored is None or (url and url != stored.url):
        raise ValueError("no service and key are set: run `snapledger login`, or set SNAPLEDGER_URL and SNAPLEDGER_KEY")
    return Credentials(stored.url, key or stored.key)
