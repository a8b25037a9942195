"""The names that lead to a table, as an owner writes them: `people`, `public.people`, `"a.b"."c"`."""

import re

from app.engines.errors import InvalidFile, Problem

_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'


def parse_table_name(table: str, default: str, most: int) -> tuple[str, ...]:
    """The names, outermost first and exactly as written, without folding their case; a lone one is in `default`.

    Args:
        table: what the owner wrote; a part that has a dot itself stands in double quotes.
        default: the schema of a table that is named without one.
        most: how many names lead to a table at most.

    Raises:
        InvalidFile: it is no such name.
    """
    if not re.fullmatch(rf"{_PART}(?:\.{_PART}){{0,{most - 1}}}", table):
        raise InvalidFile(
            [Problem("source.table", "must be the name of a table, or of a schema and a table with a dot between them")]
        )
    names = tuple(_unquote(part) for part in re.findall(_PART, table))
    return (default, *names) if len(names) == 1 else names


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
