"""Changes that are sent to Postgres together, in one statement, because each statement costs a round trip.

Each change becomes a part of one `WITH` query. The parts of such a query do not see each other's effects, so it never
changes one table twice.
"""

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Update

from app.db.compiled_statements import CompiledStatement, compile_statement, run_compiled

Change = Insert | Update | Delete

_PARAMETER = re.compile(r"%\((\w+)\)s")


class PendingChange:
    """A change that may not be sent yet. `count` and `row` send it, with all that are pending."""

    __slots__ = ("_changes", "_count", "_row", "compiled", "parameters", "table")

    def __init__(
        self, changes: "CombinedChanges", compiled: CompiledStatement, table: object, parameters: Mapping[str, object]
    ) -> None:
        self.compiled, self.table, self.parameters = compiled, table, parameters
        self._changes = changes
        self._count: int | None = None
        self._row: Any = None

    def count(self) -> int:
        """Return the number of rows that it changed.

        Raises:
            DBAPIError: as `CombinedChanges.send`.
        """
        if self._count is None:
            self._changes.send()
        assert self._count is not None  # noqa: S101 - for the type checker
        return self._count

    def row(self) -> Any:  # noqa: ANN401 - a named tuple, or None
        """Return the row of a change with RETURNING; None if it changed none.

        Raises:
            DBAPIError: as `CombinedChanges.send`.
        """
        return self._row if self.count() else None

    def settle(self, count: int, row: Any) -> None:  # noqa: ANN401
        """Set what the database has answered."""
        self._count, self._row = count, row


class CombinedChanges:
    """The changes of one transaction that are pending."""

    __slots__ = ("_connection", "_cursor", "_pending")

    def __init__(self, connection: Connection, cursor: Any) -> None:  # noqa: ANN401 - the driver's
        self._connection, self._cursor = connection, cursor
        self._pending: list[PendingChange] = []

    def add(self, change: Change, parameters: Mapping[str, object]) -> PendingChange:
        """Add a change, which is sent before anything that needs it."""
        if any(each.table is change.table for each in self._pending):
            self.send()
        compiled = compile_statement(change, self._connection.dialect, parameters)
        added = PendingChange(self, compiled, change.table, parameters)
        self._pending.append(added)
        return added

    def send(self) -> None:
        """Send all pending changes in one statement.

        Raises:
            DBAPIError: as `CompiledStatement.run`, for any of them.
        """
        pending, self._pending = self._pending, []
        if not pending:
            return
        combined = _combine(tuple(each.compiled for each in pending))
        bound = combined.bind([each.parameters for each in pending])
        (row,) = run_compiled(self._connection, self._cursor, combined.text, bound)
        combined.settle(pending, row)


class _Combination:
    """The text of several changes as one statement, with their parameters and results in this order."""

    __slots__ = ("_parts", "text")

    def __init__(self, parts: tuple[CompiledStatement, ...]) -> None:
        queries, outputs, joins = [], [], ""
        self._parts: list[tuple[CompiledStatement, list[tuple[str, str]]]] = []
        for place, part in enumerate(parts):
            query = part.text if part.returns else f"{part.text} RETURNING 1"
            names = dict.fromkeys(_PARAMETER.findall(query))
            self._parts.append((part, [(name, f"p{place}_{name}") for name in names]))
            renamed = _PARAMETER.sub(rf"%(p{place}_\1)s", query)
            queries.append(f"c{place} AS ({renamed})")
            outputs.append(f"(SELECT count(*) FROM c{place})")  # noqa: S608 - all of it is our own text
            if part.returns:
                outputs.append(f"c{place}.*")
                joins += f" LEFT JOIN c{place} ON true"
        self.text = f"WITH {', '.join(queries)} SELECT {', '.join(outputs)} FROM (SELECT 1) AS one{joins}"  # noqa: S608

    def bind(self, parameters: list[Mapping[str, object]]) -> dict[str, object]:
        """Return the parameters of all parts under the names in the text."""
        bound: dict[str, object] = {}
        for (part, names), given in zip(self._parts, parameters, strict=True):
            values = part.bind(given)
            for name, renamed in names:
                bound[renamed] = values[name]
        return bound

    def settle(self, pending: list[PendingChange], row: tuple[Any, ...]) -> None:
        """Give each change its part of the result."""
        at = 0
        for (part, _), change in zip(self._parts, pending, strict=True):
            width = part.returns
            change.settle(row[at], part.make(row[at + 1 : at + 1 + width]) if width else None)
            at += 1 + width


_combinations: dict[tuple[CompiledStatement, ...], _Combination] = {}


def _combine(parts: tuple[CompiledStatement, ...]) -> _Combination:
    """Return the combination of these statements from the cache; there are few, since the code decides their order."""
    found = _combinations.get(parts)
    if found is None:
        found = _combinations[parts] = _Combination(parts)
    return found
