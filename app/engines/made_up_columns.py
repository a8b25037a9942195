"""Columns of made-up values: spread evenly over what is declared, and computed from nothing else."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import shake_256
from typing import Any

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.numbers.exact import to_nearest_double
from app.dp.table.bins import Bins, BooleanBins, CategoryBins
from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Between, Condition, Missing, NoneOf, NotBetween, OneOf
from app.engines.sql.bin_expressions import cuts_between, missing_bin
from app.engines.stored_columns import INT64_MAX, INT64_MIN
from app.engines.stored_file.code_arrays import to_codes

ROWS_PER_MISSING_VALUE = 20
"""Of a column that may lack values, one row in 20 does."""

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
Values = npt.NDArray[Any]
"""Doubles of a real column, and 64-bit whole numbers of every other one."""


@dataclass(frozen=True, eq=False)
class MadeUpColumn:
    """The values of a column, as a table stores them.

    Attributes:
        column: the declaration.
        values: numbers; of categories, their places in the declaration, and of booleans 0 and 1.
        missing: which rows have no value.
    """

    column: Column
    values: Values
    missing: Flags

    def find_codes(self, codes: Codes) -> list[int]:
        """Return the code of each row, as whole numbers of any size."""
        return [*map(int, to_codes(self.values, self.missing, codes))]

    def find_bins(self, bins: Bins) -> Places:
        """Return the bin of each row."""
        if isinstance(bins, BooleanBins):
            places = self.values.astype(np.int64)
        elif isinstance(bins, CategoryBins):
            place_of = {category: place for place, category in enumerate(bins.categories)}
            each = [place_of.get(category, len(place_of)) for category in self.column.categories]
            places = np.array(each, np.int64)[self.values.astype(np.int64)]
        else:
            cuts = cuts_between(bins)
            thresholds = np.array(cuts.thresholds, self.values.dtype)
            places = np.array([0, *cuts.bins], np.int64)[np.searchsorted(thresholds, self.values, "right")]
        places[self.missing] = missing_bin(bins)
        return places

    def meet(self, condition: Condition) -> Flags:
        """Return which rows meet a condition."""
        if isinstance(condition, Missing):
            return self.missing
        if isinstance(condition, Between | NotBetween):
            met: Flags = (condition.least <= self.values) & (self.values <= condition.most)
        else:
            met = np.isin(self.values, self._to_stored(condition))
        return ~self.missing & (met if isinstance(condition, OneOf | Between) else ~met)

    @cached_property
    def _places(self) -> Mapping[Any, int]:
        """The place of each category in the declaration."""
        return {category: place for place, category in enumerate(self.column.categories)}

    def _to_stored(self, condition: OneOf | NoneOf) -> Values:
        listed = condition.values
        if self.column.kind is Kind.CATEGORY:
            listed = tuple(self._places[each] for each in listed)
        return np.array(listed, self.values.dtype)


def make_up_column(column: Column, rows: int) -> MadeUpColumn:
    """Return the values of some rows of a column: evenly spread over its bounds or categories, in a fixed order.

    The order depends on the column's name, so that no column follows from another.
    """
    known = rows - (rows // ROWS_PER_MISSING_VALUE if column.nullable else 0)
    order = _shuffle(column.name, rows)
    ranks = np.minimum(order, known - 1).tolist()
    return MadeUpColumn(column, _spread(column, ranks, known), order >= known)


def _shuffle(name: str, rows: int) -> Places:
    """Return the numbers from 0 to `rows` - 1 in an order that looks random; the same in every version of numpy."""
    content = shake_256(f"{rows} {name}".encode("utf-8", "surrogatepass")).digest(8 * rows)
    return np.argsort(np.frombuffer(content, "<u8"), kind="stable").astype(np.int64)


def _spread(column: Column, ranks: Sequence[int], known: int) -> Values:
    """Return the value of each rank from 0 to `known` - 1, of which equally many are in equal parts of the range."""
    if column.kind is Kind.BOOLEAN:
        return np.array([2 * rank // known for rank in ranks], np.int64)
    if column.kind is Kind.CATEGORY:
        return np.array([len(column.categories) * rank // known for rank in ranks], np.int64)
    lower, upper = column.bounds or (mpq(0), mpq(1))
    if column.kind is Kind.REAL:
        first, width = to_nearest_double(lower), to_nearest_double(upper - lower)
        return np.array([first + width * ((2 * rank + 1) / (2 * known)) for rank in ranks])
    unit = 10**column.scale if column.kind is Kind.DECIMAL else 1
    least = math.ceil(lower * unit)
    whole = max(math.floor(upper * unit) - least + 1, 1)
    numbers = (least + (2 * rank + 1) * whole // (2 * known) for rank in ranks)
    return np.array([min(max(number, INT64_MIN), INT64_MAX) for number in numbers], np.int64)
