"""The errors that the mathematics raises."""

from collections.abc import Sequence


class InvalidStatistic(ValueError):  # noqa: N818  the name that callers read: the statistic is invalid
    """The requested statistic does not exist on this dataset.

    Attributes:
        where: dotted path into the statistic, such as `column`, `bounds.1` or `edges.3`.
        what: a predicate about that place; it never repeats the value that was sent.
        declared: the declared names that are allowed there, if only declared names are.
        sent: the value that was sent instead of a declared name, to suggest a similar one.
        column: the declared column whose condition in a filter it is about, which has only a position in `where`.
    """

    def __init__(self, where: str, what: str, declared: Sequence[str] = (), sent: object = None) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what
        self.declared = declared
        self.sent = sent
        self.column: str | None = None


class AccuracyTrivial(ValueError):  # noqa: N818  a fact about the accuracy, not a failure
    """The statistic's public range already guarantees the requested accuracy, so no ε need be spent."""


class DrawExhausted(RuntimeError):  # noqa: N818  a state of the draw
    """A draw is still undecided after 4,096 bits (probability below 2⁻⁴⁰⁰⁰), so the source of bits must be broken."""
