"""Sessions in a file that only its owner can read: one for each service."""

import json
from pathlib import Path
from typing import Any

from snapledger_client.private_files import find_directory, write_private
from snapledger_client.providers import Session

Store = bool | str | Path
NAME = "tokens.json"


def find_path(store: Store) -> Path | None:
    """Return the file of a `store`: True is the user's own, False is none."""
    if isinstance(store, bool):
        return find_directory() / NAME if store else None
    return Path(store)


def _read_all(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def read_session(path: Path, url: str) -> Session | None:
    """Return the session for a service, or None without one that can be read."""
    try:
        return Session.from_document(_read_all(path)[url])
    except (KeyError, TypeError):
        return None


def write_session(path: Path, url: str, session: Session | None) -> None:
    """Store the session for a service, or delete it."""
    others = {service: document for service, document in _read_all(path).items() if service != url}
    if session is None and not others:
        path.unlink(missing_ok=True)
        return
    write_private(path, json.dumps(others | ({} if session is None else {url: session.to_document()})))
