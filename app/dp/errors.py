"""What the mathematics refuses."""

from collections.abc import Sequence


class InvalidStatistic(ValueError):  # noqa: N818  the name that callers read: the statistic is invalid
    """The statistic asked for does not exist on this dataset.

    Attributes:
        where: dotted path into the statistic, such as `column`, `bounds.1` or `edges.3`.
        what: a sentence about it that never repeats what was sent.
        declared: the names of which one is allowed there, as the dataset's columns declare them.
    """

    def __init__(self, where: str, what: str, declared: Sequence[str] = ()) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what
        self.declared = declared


class AccuracyTrivial(ValueError):  # noqa: N818  a fact about the accuracy, not a failure
    """The statistic's public range already answers to the accuracy asked for; no privacy need be spent on it."""


class DrawExhausted(RuntimeError):  # noqa: N818  a state of the draw
    """So many random bits left the draw undecided that the source of bits must be broken (probability below 2⁻⁴⁰⁰⁰)."""
