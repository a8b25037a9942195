"""A live table: its location, and the type of each declared column there. It is one small file beside the tables."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from app.dp.table.columns import Column, Kind
from app.dp.table.sums import Answer, CellSums, CrossMoments, Moments, Needs, Total
from app.engines.atomic_files import write_atomically
from app.engines.errors import StaleTable


@dataclass(frozen=True, slots=True)
class LiveColumn:
    """A column of an external table.

    Attributes:
        name: its exact name in the external table.
        kind, scale: the declared kind and scale.
        type: the engine's name for its type.
        time_zone: of a timestamp column.
    """

    name: str
    kind: Kind
    scale: int
    type: str
    time_zone: str = ""

    @classmethod
    def of(cls, column: Column, type_: str) -> Self:
        """Return a declared column that has this type in the external table."""
        return cls(column.name, column.kind, column.scale, type_, column.time_zone)

    @property
    def declared(self) -> Column:
        """The column as declared, without its bounds."""
        return Column(self.name, self.kind, scale=self.scale, time_zone=self.time_zone)


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table of a configured connection that its owner declares immutable.

    Attributes:
        connection: the connection's name; its URL may contain a password and is never stored.
        path: the names that lead to the table, outermost first.
        n: the number of rows at registration, which is public.
        columns: the declared columns.
    """

    connection: str
    path: tuple[str, ...]
    n: int
    columns: tuple[LiveColumn, ...]

    def column(self, name: str) -> LiveColumn:
        """Return the declared column with this name."""
        return next(column for column in self.columns if column.name == name)

    def require_rows(self, rows: int) -> None:
        """Check that the table still has the registered number of rows.

        Raises:
            StaleTable: the number of rows has changed; the error does not say to what.
        """
        if rows != self.n:
            raise StaleTable

    def check_answer(self, needs: Needs, answer: Answer) -> Answer:
        """Return `answer` after checking that its statement counted the registered number of rows.

        Raises:
            StaleTable: the statement counted a different number of rows.
        """
        if isinstance(answer, Moments | Total | CrossMoments):
            self.require_rows(answer.n)
        else:
            self.require_rows(needs.rows(answer) if isinstance(needs, CellSums) else sum(answer))
        return answer


def write(table: LiveTable, target: Path) -> None:
    """Write the description of a live table to `target`.

    Raises:
        OSError: the file could not be written; nothing is left behind.
    """
    with write_atomically(target) as file:
        file.write(json.dumps(asdict(table)).encode())


def read(path: Path) -> LiveTable:
    """Read the description of a live table.

    Raises:
        OSError: the file does not exist or cannot be read.
    """
    table = json.loads(path.read_text("utf-8"))
    columns = tuple(LiveColumn(**{**column, "kind": Kind(column["kind"])}) for column in table["columns"])
    return LiveTable(table["connection"], tuple(table["path"]), table["n"], columns)
