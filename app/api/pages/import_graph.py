"""The import graph of the dashboard's modules: which files a page needs before it can show anything."""

import re
from collections.abc import Mapping
from posixpath import dirname, join, normpath
from typing import Final

_STATIC: Final = re.compile(r"""(?:\bimport|\bexport)\b[^"'();]*?\bfrom\s*"(\.[^"]+)"|\bimport\s*"(\.[^"]+)\"""")
_DYNAMIC: Final = re.compile(r'\bawait import\("(\.[^"]+)"\)')


def list_needed(sources: Mapping[str, str], first: str) -> list[str]:
    """Return a module and all that it imports, directly or through others, in the order in which a browser finds them.

    Args:
        sources: the text of each module by its path.
        first: the path of the module.

    Raises:
        KeyError: a module imports a file that is not there.
    """
    found = {first: None}
    for path in (queue := [first]):
        for name in _imports(path, sources[path], _STATIC):
            if name not in found:
                found[name] = None
                queue.append(name)
    return list(found)


def list_pages(sources: Mapping[str, str], path: str) -> list[str]:
    """Return the modules that a module imports only when they are needed."""
    return list(dict.fromkeys(_imports(path, sources[path], _DYNAMIC)))


def _imports(path: str, text: str, pattern: re.Pattern[str]) -> list[str]:
    return [normpath(join(dirname(path), "".join(names.groups("")))) for names in pattern.finditer(text)]
