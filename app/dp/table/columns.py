"""The owner's declaration of a column: public facts, none of which is computed from its values."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from app.dp.numbers.exact import Rational


class Kind(StrEnum):
    """The kinds of values that a column may hold."""

    INTEGER = "integer"
    REAL = "real"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    CATEGORY = "category"

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers that need bounds."""
        return self in {Kind.INTEGER, Kind.REAL, Kind.DECIMAL}


@dataclass(frozen=True)
class Column:
    """A column as declared.

    Attributes:
        name: the column's name in the file.
        kind: the kind of its values.
        bounds: the lower and upper bound of a numeric column, exactly as written.
        scale: digits after the decimal point of a decimal column.
        categories: the declared values of a category column.
        nullable: whether rows without a value are allowed.
        null_value: the value that replaces a missing one (0 or 1 for booleans); by default the midpoint of the bounds,
        or 0.
    """

    name: str
    kind: Kind
    bounds: tuple[Rational, Rational] | None = None
    scale: int = 0
    categories: tuple[str, ...] = ()
    nullable: bool = True
    null_value: Rational | None = None

    @cached_property
    def category_set(self) -> frozenset[str]:
        """The declared categories as a set, for fast lookup."""
        return frozenset(self.categories)
