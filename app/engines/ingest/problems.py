"""Collect the problems of a file for its owner: one for each column and cause, with its first lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from app.engines.errors import InvalidFile, Problem

MAX_PROBLEMS = 10
"""The maximum number of columns and causes that one error reports; reading of an upload stops after that many."""

MAX_COUNTED = 100_000
"""The maximum number of cells and lines with problems; reading stops after that many."""

_SHOWN_PLACES = 3


@dataclass(slots=True)
class _Cause:
    """What is wrong in a column or a line, and where it was found: the number of places, and the first of them."""

    unit: str
    column: str | None
    what: str
    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, number: int) -> None:
        """Count the cell or line with this number."""
        self.count += 1
        if len(self.first) < _SHOWN_PLACES:
            self.first.append(number)

    def describe(self) -> Problem:
        """Return the problem for the owner."""
        if self.count == 1:
            return Problem(", ".join([f"{self.unit} {self.first[0]}", *self._columns()]), self.what)
        numbers = ", ".join(map(str, self.first[:-1])) + f" and {self.first[-1]}"
        if self.count <= _SHOWN_PLACES:
            return Problem(", ".join([f"{self.unit}s {numbers}", *self._columns()]), self.what)
        where = ", ".join([f"{self.count:,} {self.unit}s", *self._columns()])
        return Problem(where, f"{self.what} (the first are {self.unit}s {numbers})")

    def _columns(self) -> list[str]:
        return [] if self.column is None else [f"column {self.column}"]


class Problems:
    """The problems of a file, in the order of the lines where each was first found.

    Reading stops at the number `most` of columns and causes; None for no such limit.
    """

    def __init__(self, most: int | None = MAX_PROBLEMS) -> None:
        self._most = most
        self._once: list[Problem] = []
        self._causes: dict[tuple[str | None, str], _Cause] = {}
        self._counted = 0

    def add(self, where: str, what: str) -> None:
        """Add a problem that is found once.

        Raises:
            InvalidFile: the number of problems has reached the limit.
        """
        self._once.append(Problem(where, what))
        self._refuse_many()

    def add_line(self, unit: str, number: int, what: str, column: str | None = None) -> None:
        """Add a problem of a line or row, or of its cell in a column; equal ones are counted.

        Raises:
            InvalidFile: the number of problems has reached the limit, or the number of counted places
                `MAX_COUNTED`.
        """
        cause = self._causes.get((column, what))
        if cause is None:
            cause = self._causes[column, what] = _Cause(unit, column, what)
        cause.add(number)
        self._counted += 1
        if cause.count == 1:
            self._refuse_many()
        if self._counted == MAX_COUNTED:
            self.refuse("file", f"has at least {MAX_COUNTED:,} problems; it was not read any further")

    def add_cells(self, unit: str, numbers: Sequence[int], column: str, cells: Mapping[int, str]) -> None:
        """Add the problems of a column's cells in a batch, by their position in the batch.

        `numbers` are the numbers of the batch's lines or rows; `unit` says which.
        """
        for place, what in sorted(cells.items()):
            self.add_line(unit, numbers[place], what, column)

    def refuse(self, where: str, what: str) -> NoReturn:
        """Refuse the file with all problems up to this one, after which it cannot be read any further.

        Raises:
            InvalidFile: always.
        """
        raise InvalidFile([*self._describe(), Problem(where, what)]) from None

    def refuse_any(self) -> None:
        """Refuse the file if it has a problem.

        Raises:
            InvalidFile: the file has at least one problem.
        """
        if problems := self._describe():
            raise InvalidFile(problems)

    def _refuse_many(self) -> None:
        if len(self._once) + len(self._causes) == self._most:
            self.refuse_any()

    def _describe(self) -> list[Problem]:
        causes = sorted(self._causes.values(), key=lambda cause: cause.first[0])
        return [*self._once, *(cause.describe() for cause in causes)]
