"""A live table: where it is, and how each declared column is stored there. One small file among the stored tables."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from app.dp.table.columns import Kind
from app.dp.table.sums import Answer, CellSums, CrossMoments, Moments, Needs
from app.engines.atomic_files import write_atomically
from app.engines.errors import StaleTable


@dataclass(frozen=True, slots=True)
class LiveColumn:
    """A column of a table that somebody else keeps.

    Attributes:
        name: its name there, exactly.
        kind, scale: what it is declared as.
        type: the engine's name of its type.
    """

    name: str
    kind: Kind
    scale: int
    type: str


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a configured connection that its owner declares immutable.

    Attributes:
        connection: the connection's name; its URL, which may hold a password, is never written down.
        path: the names that lead to the table, outermost first.
        n: how many rows it had when it was registered, which is public.
        columns: the declared columns.
    """

    connection: str
    path: tuple[str, ...]
    n: int
    columns: tuple[LiveColumn, ...]

    def column(self, name: str) -> LiveColumn:
        """The declared column of this name."""
        return next(column for column in self.columns if column.name == name)

    def require_rows(self, rows: int) -> None:
        """Refuse to answer from a table that is not the one that was registered.

        Raises:
            StaleTable: it has another number of rows; how many is not told.
        """
        if rows != self.n:
            raise StaleTable

    def checked(self, needs: Needs, answer: Answer) -> Answer:
        """An answer to `needs` whose statement counted as many rows as were registered.

        Raises:
            StaleTable: it counted another number.
        """
        if isinstance(answer, Moments | CrossMoments):
            self.require_rows(answer.n)
        else:
            self.require_rows(needs.rows(answer) if isinstance(needs, CellSums) else sum(answer))
        return answer


def write(table: LiveTable, target: Path) -> None:
    """Store where a live table is.

    Raises:
        OSError: it could not be written; nothing is left behind.
    """
    with write_atomically(target) as file:
        file.write(json.dumps(asdict(table)).encode())


def read(path: Path) -> LiveTable:
    """Where a live table is.

    Raises:
        OSError: there is no such file.
    """
    table = json.loads(path.read_text("utf-8"))
    columns = tuple(LiveColumn(**{**column, "kind": Kind(column["kind"])}) for column in table["columns"])
    return LiveTable(table["connection"], tuple(table["path"]), table["n"], columns)
