"""Check from the catalogue alone whether a Postgres table's columns fit their declaration."""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from app.dp.table.columns import Column
from app.engines.backends.postgres_types import (
    COMPUTED_RELATIONS,
    CatalogueColumn,
    choose_column,
    unsuitable_relation,
    unsuitable_type,
)
from app.engines.errors import EngineFailure, InvalidFile, Problem, StaleTable
from app.engines.ingest.drafting.draft_texts import NO_KIND
from app.engines.ingest.problems import MAX_PROBLEMS
from app.engines.live_tables import LiveColumn, LiveTable

# Views, foreign tables, virtual columns and casts that somebody defined may fail on a value, so that they may be copied
# but not stay live; so may the parts of a table: its partitions, and the tables that inherit from it.
# The type of a domain is its base type: a domain checks only what is written, and Postgres ignores casts from it.
# A type that is stored as a text, and read as one without a function, is a text: so is `citext`.
_COLUMNS = """
    WITH RECURSIVE relation AS (
        SELECT c.oid, c.relkind, c.relpersistence, c.relispopulated
        FROM pg_class c
        JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'm', 'v', 'f')
          AND has_schema_privilege(s.oid, 'USAGE')
    ), part AS (
        SELECT oid FROM relation
        UNION SELECT i.inhrelid FROM pg_inherits i JOIN part ON i.inhparent = part.oid
    )
    SELECT a.attname,
           CASE WHEN t.typtype = 'e' THEN 'enum'
               WHEN t.typtype = 'b' AND t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname
               WHEN t.typtype = 'b' AND EXISTS (
                   SELECT FROM pg_cast f
                   WHERE f.castsource = t.oid AND f.casttarget = 'text'::regtype AND f.castmethod = 'b'
               ) THEN 'text'
               ELSE 'other' END,
           base.modifier,
           EXISTS (SELECT FROM pg_cast f WHERE t.typtype = 'e' AND f.castsource = t.oid)
           OR EXISTS (
               SELECT FROM part JOIN pg_attribute v ON v.attrelid = part.oid AND v.attname = a.attname
               WHERE v.attgenerated = 'v'
           ),
           CASE WHEN r.relpersistence = 't' THEN 'temporary'
               WHEN NOT r.relispopulated THEN 'unpopulated'
               WHEN row_security_active(r.oid) THEN 'filtered'
               WHEN r.relkind = 'v' THEN 'view'
               WHEN r.relkind = 'f' THEN 'foreign table'
               WHEN EXISTS (SELECT FROM part JOIN pg_class k ON k.oid = part.oid WHERE k.relkind = 'f')
               THEN 'foreign part'
               ELSE 'table' END
    FROM relation r
    JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    CROSS JOIN LATERAL (
        WITH RECURSIVE layer AS (
            SELECT y.oid, y.typtype, y.typbasetype, y.typtypmod, a.atttypmod AS modifier
            FROM pg_type y WHERE y.oid = a.atttypid
            UNION ALL
            SELECT y.oid, y.typtype, y.typbasetype, y.typtypmod, layer.typtypmod
            FROM layer JOIN pg_type y ON layer.typtype = 'd' AND y.oid = layer.typbasetype
        )
        SELECT oid, modifier FROM layer WHERE typtype <> 'd'
    ) AS base
    JOIN pg_type t ON t.oid = base.oid
    WHERE has_column_privilege(r.oid, a.attnum, 'SELECT')
      AND a.attname = ANY(coalesce(%s::text[], ARRAY[a.attname]::text[]))
    ORDER BY a.attnum
"""
_NOT_UNICODE = (
    "has categories that are not ASCII, which cannot stay live in a database that is not in UTF-8: copy the table "
    '(`"live": false`)'
)


def locate_columns(
    connection: psycopg.Connection[Any], path: tuple[str, ...], columns: Sequence[Column], *, live: bool
) -> tuple[LiveColumn, ...]:
    """Return the declared columns with their types in the table.

    Raises:
        InvalidFile: the table or a column does not exist, may not be read, or does not fit its declaration.
    """
    found = _find_columns(connection, path, [column.name for column in columns])
    _require_readable(found or _find_columns(connection, path), live=live)
    problems = []
    for column in columns:
        if column.name not in found:
            problems.append(Problem(f"column {column.name}", "does not exist, or the connection may not read it"))
        elif what := unsuitable_type(found[column.name], column, live=live):
            problems.append(Problem(f"column {column.name}", what))
        elif (
            column.kind.temporal
            and found[column.name].type == "timestamptz"
            and not _has_zone(connection, column.time_zone)
        ):
            problems.append(Problem(f"column {column.name}", "has a time zone that the database does not know"))
        elif live and not _can_hold(connection, column.categories):
            problems.append(Problem(f"column {column.name}", _NOT_UNICODE))
    if problems:
        raise InvalidFile(problems[:MAX_PROBLEMS])
    return tuple(LiveColumn.of(column, found[column.name].type) for column in columns)


def choose_columns(
    connection: psycopg.Connection[Any], path: tuple[str, ...], *, live: bool
) -> tuple[tuple[LiveColumn, ...], dict[str, str]]:
    """Return all columns whose types can be declared, and why each other column cannot be.

    Raises:
        InvalidFile: the table does not exist, may not be read, or could not be registered so.
    """
    found = _find_columns(connection, path)
    _require_readable(found, live=live)
    chosen, left_out = [], {}
    for name, each in found.items():
        column = choose_column(each)
        what = NO_KIND if column is None else unsuitable_type(each, column, live=live)
        if column is None or what is not None:
            left_out[name] = what or NO_KIND
        else:
            chosen.append(LiveColumn.of(column, each.type))
    return tuple(chosen), left_out


def _require_readable(table: Mapping[str, CatalogueColumn], *, live: bool) -> None:
    """Check that a table has a column that may be read, and is of a suitable kind.

    Raises:
        InvalidFile: it has none, or is not.
    """
    if not table:
        raise InvalidFile([Problem("source.table", "does not exist, or the connection may not read it")])
    if what := unsuitable_relation(next(iter(table.values())).relation, live=live):
        raise InvalidFile([Problem("source.table", what)])


def require_types(connection: psycopg.Connection[Any], table: LiveTable) -> None:
    """Check that a table's columns still have the types of its registration.

    The transaction has locked the table, so the types cannot change until it ends.

    Raises:
        StaleTable: a column was removed, may not be read, has another type, or is now computed when it is read.
        EngineFailure: no column of the table may be read.
    """
    found = _find_columns(connection, table.path, [live.name for live in table.columns])
    if not found and not _find_columns(connection, table.path):
        raise EngineFailure
    for live in table.columns:
        now = found.get(live.name)
        if now is None or now.type != live.type or now.relation in COMPUTED_RELATIONS:
            raise StaleTable
        if unsuitable_type(now, live.declared, live=True):
            raise StaleTable


def _find_columns(
    connection: psycopg.Connection[Any], path: tuple[str, ...], names: Sequence[str] | None = None
) -> dict[str, CatalogueColumn]:
    """Return those of the named columns that may be read, or all such columns; a wide table has many others."""
    try:
        rows = connection.execute(_COLUMNS, [*path, names and list(names)]).fetchall()
    except psycopg.DataError:  # the encoding of the database lacks a character of a name
        return {} if names is None else _find_columns(connection, path)
    return {row[0]: CatalogueColumn(*row) for row in rows}


def _can_hold(connection: psycopg.Connection[Any], texts: Sequence[str]) -> bool:
    """Whether a statement may contain these texts; a database in UTF-8 takes all, and others at least ASCII."""
    encoding = connection.info.parameter_status("server_encoding")
    return encoding in {"UTF8", "SQL_ASCII"} or all(map(str.isascii, texts))


def _has_zone(connection: psycopg.Connection[Any], name: str) -> bool:
    return connection.execute("SELECT FROM pg_timezone_names WHERE name = %s", [name]).fetchone() is not None
