"""Reads secret settings from files: child processes inherit an environment and tools display it, but not a file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PREFIX = "snapledger_"
_SUFFIX = "_file"
ALONE = ("admin_key", "database_url", "figures_database_url", "oidc_client_secret", "rate_limit_storage")
"""The settings, besides connections, whose value may be in a file."""

_BY_NAME = "connection_"


def _find_setting(variable: str) -> str | None:
    """Return the setting whose file a variable names; None for any other variable."""
    if not (variable.startswith(PREFIX) and variable.endswith(_SUFFIX)):
        return None
    setting = variable[len(PREFIX) : -len(_SUFFIX)]
    by_name = setting.startswith(_BY_NAME) and len(setting) > len(_BY_NAME)
    return setting if setting in ALONE or by_name else None


def others(environment: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the variables that do not name the file of a secret; all names are in lower case."""
    return {variable: value for variable, value in environment.items() if _find_setting(variable) is None}


def contents(environment: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the settings that are in files: `SNAPLEDGER_ADMIN_KEY_FILE` is the path of the file with the admin key.

    Raises:
        ValueError: a file cannot be read or is empty, or the setting is in the environment too. The text does not
            repeat the file's content.
    """
    found: dict[str, Any] = {}
    for setting, path in _files(environment):
        if environment.get(PREFIX + setting):
            both = (PREFIX + setting).upper()
            raise ValueError(f"{both} and {both}{_SUFFIX.upper()} are both set: keep one")
        text = _text(path)
        if setting.startswith(_BY_NAME):
            found.setdefault(_BY_NAME.rstrip("_"), {})[setting.removeprefix(_BY_NAME)] = text
        else:
            found[setting] = text
    return found


def _files(environment: Mapping[str, str | None]) -> Iterator[tuple[str, Path]]:
    for variable, value in environment.items():
        setting = _find_setting(variable)
        if setting is not None and value:
            yield setting, Path(value)


def _text(path: Path) -> str:
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"{path} cannot be read") from None
    if not text:
        raise ValueError(f"{path} is empty")
    return text
