"""Suggests the valid name for a misspelt one."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MAX_NAMES = 500
"""The number of valid names that are compared with a misspelt one, which takes about a millisecond."""

_MAX_CHARACTERS = 64
_MAX_DIFFERENCE = 3  # in length


def suggest_name(given: object, names: Iterable[str]) -> str:
    """Return `; did you mean 'income'?`, or an empty text if no valid name is similar."""
    if not isinstance(given, str) or len(given) > _MAX_CHARACTERS:
        return ""
    near = {name.lower(): name for name in islice(names, MAX_NAMES) if abs(len(name) - len(given)) <= _MAX_DIFFERENCE}
    return "".join(f"; did you mean '{near[each]}'?" for each in get_close_matches(given.lower(), near, 1, 0.7))
