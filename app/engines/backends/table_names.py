"""Parse qualified table names as an owner writes them: `people`, `public.people`, `"a.b"."c"`."""

import re

from app.engines.errors import InvalidFile, Problem

_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'


def parse_table_name(table: str, default: str, most: int) -> tuple[str, ...]:
    """Return the parts of a table name, outermost first, in their exact case; a single name gets the schema `default`.

    Args:
        table: the name as the owner wrote it; a part that contains a dot is in double quotes.
        default: the schema of a table that is named without one.
        most: the most parts that a name may have.

    Raises:
        InvalidFile: `table` is not a valid table name.
    """
    if not re.fullmatch(rf"{_PART}(?:\.{_PART}){{0,{most - 1}}}", table):
        raise InvalidFile(
            [Problem("source.table", "must be the name of a table, or of a schema and a table with a dot between them")]
        )
    names = tuple(_unquote(part) for part in re.findall(_PART, table))
    return (default, *names) if len(names) == 1 else names


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
