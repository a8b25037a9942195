"""Collect the problems of a file for its owner."""

from collections.abc import Mapping
from typing import NoReturn

from app.engines.errors import InvalidFile, Problem

MAX_PROBLEMS = 10
"""The most problems that one error reports; reading stops after that many."""


class Problems:
    """The first problems of a file, in the order of its rows."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def add(self, where: str, what: str) -> None:
        """Add a problem.

        Raises:
            InvalidFile: the number of problems has reached `MAX_PROBLEMS`.
        """
        self._found.append(Problem(where, what))
        if len(self._found) == MAX_PROBLEMS:
            self.refuse_any()

    def add_cells(self, unit: str, numbers: "list[int] | range", cells: Mapping[tuple[int, str], str]) -> None:
        """Add the problems of a batch's cells, by their position in the batch and their column.

        `numbers` are the numbers of the batch's lines or rows; `unit` says which.
        """
        # Sorting by position alone keeps the columns of a row in the order in which they were declared.
        for (place, column), what in sorted(cells.items(), key=lambda cell: cell[0][0]):
            self.add(f"{unit} {numbers[place]}, column {column}", what)

    def refuse(self, where: str, what: str) -> NoReturn:
        """Refuse the file with all problems up to this one, after which it cannot be read any further.

        Raises:
            InvalidFile: always.
        """
        raise InvalidFile([*self._found, Problem(where, what)]) from None

    def refuse_any(self) -> None:
        """Refuse the file if it has a problem.

        Raises:
            InvalidFile: the file has at least one problem.
        """
        if self._found:
            raise InvalidFile(self._found)
