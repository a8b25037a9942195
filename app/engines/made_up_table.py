"""A table that is made up from a dataset's public metadata, and its exact sums: what rehearsals are drawn from."""

from collections.abc import Mapping
from itertools import chain

import numpy as np
import numpy.typing as npt

from app.dp.table.codes import Codes
from app.dp.table.columns import Column
from app.dp.table.sums import (
    Answer,
    BinCounts,
    CellSums,
    ColumnSums,
    ColumnTotal,
    CrossMoments,
    Moments,
    Needs,
    PairSums,
    Total,
)
from app.engines.made_up_columns import MadeUpColumn, Places, make_up_column

MAX_ROWS = 4_096
"""The number of rows that are made up; a larger table repeats them."""

Wholes = npt.NDArray[np.object_]
"""Whole numbers of any size."""


class MadeUpTable:
    """A table of `n` rows with made-up values of the declared columns.

    All sums are those of one table, so that releases of several statistics fit together, as those of real data do.

    Args:
        columns: the declared columns, by name.
        n: the number of rows.
    """

    def __init__(self, columns: Mapping[str, Column], n: int) -> None:
        self._columns, self._n = columns, n
        self._rows = min(n, MAX_ROWS)
        each, more = divmod(n, self._rows)
        self._repeats: Wholes = np.array([each + 1] * more + [each] * (self._rows - more), object)
        self._made: dict[str, MadeUpColumn] = {}

    def answer(self, needs: Needs) -> Answer:
        """Return the sums or counts that a statistic needs."""
        match needs:
            case ColumnSums(column=name, codes=codes):
                found = self._find_codes(name, codes)
                return Moments(self._n, self._sum(found), self._sum(found * found))
            case ColumnTotal(column=name, codes=codes):
                return Total(self._n, self._sum(self._find_codes(name, codes)))
            case PairSums():
                x, y = self._find_codes(needs.x, needs.x_codes), self._find_codes(needs.y, needs.y_codes)
                return CrossMoments(self._n, self._sum(x), self._sum(y), self._sum(x * y))
            case BinCounts(column=name, bins=bins):
                return tuple(_sum_cells(self._column(name).find_bins(bins), bins.count, self._repeats))
            case CellSums():
                return self._answer_cells(needs)

    def _answer_cells(self, needs: CellSums) -> tuple[int, ...]:
        inside, cells = np.ones(self._rows, np.bool_), np.zeros(self._rows, np.int64)
        for condition in needs.conditions:
            inside &= self._column(condition.column).meet(condition)
        for name, bins in needs.axes:
            cells = cells * bins.count + self._column(name).find_bins(bins)
        parts = [self._find_codes(*part) for part in (needs.summed, needs.weighted) if part is not None]
        if len(parts) > 1:
            parts.append(parts[0] * parts[1])
        cells, repeats = cells[inside], self._repeats[inside]
        counts = _sum_cells(cells, needs.count, repeats)
        sums = (_sum_cells(cells, needs.count, repeats * part[inside]) for part in parts)
        return (*counts, self._n - sum(counts), *chain.from_iterable(sums))

    def _column(self, name: str) -> MadeUpColumn:
        if name not in self._made:
            self._made[name] = make_up_column(self._columns[name], self._rows)
        return self._made[name]

    def _find_codes(self, name: str, codes: Codes) -> Wholes:
        return np.array(self._column(name).find_codes(codes), object)

    def _sum(self, numbers: Wholes) -> int:
        return int((self._repeats * numbers).sum())


def _sum_cells(cells: Places, count: int, numbers: Wholes) -> list[int]:
    """Return the sum of the numbers in each cell."""
    sums = np.zeros(count, object)
    np.add.at(sums, cells, numbers)
    found: list[int] = sums.tolist()
    return found
