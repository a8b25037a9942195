"""Decide from a column's type alone whether a live query can read all its numbers without an error."""

from typing import NamedTuple

from app.dp.table.columns import Column, Kind

MAX_DIGITS = 18
"""Every whole number with at most this many digits is within 64 bits."""

MAX_DIGITS_OF_A_DOUBLE = 300  # before and after the point: no conversion overflows or underflows


class Digits(NamedTuple):
    """The most digits that a type's numbers have before and after the point; a `whole` type is within 64 bits."""

    before: int
    after: int
    whole: bool = False


def unfit(digits: Digits, column: Column) -> str | None:
    """Return why a live query could fail to read a column's numbers as declared, or None if it cannot fail."""
    before, after, whole = digits
    if column.kind is Kind.REAL:
        return None if max(before, after) <= MAX_DIGITS_OF_A_DOUBLE else "may have too many digits to stay live"
    scale = column.scale if column.kind is Kind.DECIMAL else 0
    if after > scale:
        return f"may have more than {scale} decimals" if scale else "may hold numbers that are not whole"
    if whole and not scale:
        return None
    return None if before + scale <= MAX_DIGITS else f"may have more than {MAX_DIGITS} digits with its decimals"
