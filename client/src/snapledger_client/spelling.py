"""Suggests the valid name for a misspelt one."""

from collections.abc import Iterable
from difflib import get_close_matches


def suggest_name(given: str, names: Iterable[str]) -> str:
    """Return `; did you mean 'income'?`, or an empty text if no valid name is similar."""
    near = {name.lower(): name for name in names}
    return "".join(f"; did you mean '{near[each]}'?" for each in get_close_matches(given.lower(), near, 1, 0.7))
