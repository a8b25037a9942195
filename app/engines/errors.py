"""What the engines refuse. Neither error carries a value of the data."""

from collections.abc import Sequence
from typing import NamedTuple


class EngineFailure(RuntimeError):  # noqa: N818  the name that callers read
    """A data engine is busy, away or failed. The text is always the same, for engines echo values in theirs."""

    def __init__(self) -> None:
        super().__init__("the data engine could not answer")


class Problem(NamedTuple):
    """What is wrong with a file, for its owner alone.

    Attributes:
        where: the file, a column, or a line (CSV) or row (Parquet), counted from 1, and its column.
        what: a sentence about it that never repeats what stands there.
    """

    where: str
    what: str


class InvalidFile(ValueError):  # noqa: N818  the name that callers read
    """An upload does not hold what its owner declared; `problems` are the first of them, in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{where}: {what}" for where, what in problems))
        self.problems = tuple(problems)
