"""What the mathematics refuses."""

from collections.abc import Sequence


class InvalidStatistic(ValueError):  # noqa: N818  the name that callers read: the statistic is invalid
    """The statistic asked for does not exist on this dataset.

    Attributes:
        where: dotted path into the statistic, such as `column`, `bounds.1` or `edges.3`.
        what: a predicate about that place that never repeats what was sent.
        declared: the names of which one is allowed there, as the dataset's columns declare them.
        sent: what was sent instead of one of them, to find the one that was meant.
    """

    def __init__(self, where: str, what: str, declared: Sequence[str] = (), sent: object = None) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what
        self.declared = declared
        self.sent = sent


class AccuracyTrivial(ValueError):  # noqa: N818  a fact about the accuracy, not a failure
    """The statistic's public range already answers to the accuracy asked for; no privacy need be spent on it."""


class DrawExhausted(RuntimeError):  # noqa: N818  a state of the draw
    """So many random bits left the draw undecided that the source of bits must be broken (probability below 2⁻⁴⁰⁰⁰)."""
