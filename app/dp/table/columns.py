"""What an owner declares about a column: public facts, none computed from its values."""

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
        kind: what its values are.
        bounds: lower and upper bound of numeric kinds, exactly as written.
        scale: digits after the decimal point of a decimal column.
        categories: the declared values of a category column.
        nullable: whether rows without a value are allowed.
        null_value: what a missing value counts as (booleans: 0 or 1); by default the middle of the bounds, or false.
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
        """The declared values, to be searched."""
        return frozenset(self.categories)
