"""Answers from the prepared sums of a table: all about one column that its counts decide, whatever they are.

Whether a question is answered depends on the question and the declaration alone, never on a count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from app.dp.table.bins import Bins, BooleanBins, CategoryBins
from app.dp.table.codes import Codes
from app.dp.table.columns import Kind
from app.dp.table.conditions import Between, Condition, Missing, NotBetween, OneOf
from app.dp.table.sums import Answer, BinCounts, CellSums, ColumnSums, ColumnTotal, Moments, Needs, PairSums, Total
from app.engines.prepared_sums import PreparedColumn, PreparedTable, Ranges
from app.engines.sql.bin_expressions import cuts_between, missing_bin
from app.engines.stored_file.code_arrays import to_codes

Flags: TypeAlias = npt.NDArray[np.bool_]


def find_prepared_answer(table: PreparedTable, needs: Needs) -> Answer | None:
    """Return the answer to a need that the prepared sums of a table decide, else None."""
    if isinstance(needs, PairSums):
        return None
    if isinstance(needs, ColumnTotal):
        moments = find_prepared_answer(table, needs.with_squares)
        return None if moments is None else Total(*moments[:2])
    column = _find_only_column(table, needs)
    if column is None:
        return None
    if isinstance(needs, ColumnSums) and needs.codes == column.plan.codes:
        return Moments(table.n, column.total, column.squares)
    return _Groups(column).answer(table.n, needs) if column.plan.counts else None


def _find_only_column(table: PreparedTable, needs: ColumnSums | BinCounts | CellSums) -> PreparedColumn | None:
    names = needs.columns if isinstance(needs, CellSums) else (needs.column,)
    return table.columns.get(names[0]) if len(names) == 1 else None


@dataclass(frozen=True)
class _Groups:
    """The groups of rows that are counted: those of each range, category or boolean, then those without a value."""

    column: PreparedColumn

    def answer(self, n: int, needs: ColumnSums | BinCounts | CellSums) -> Answer | None:
        """Return the answer to a need about this column; None if it needs more than is counted."""
        if isinstance(needs, ColumnSums):
            codes = self.find_codes(needs.codes)
            return None if codes is None else self.sum_moments(n, codes)
        if isinstance(needs, BinCounts):
            bins = self.find_bins(needs.bins)
            return None if bins is None else self.count_bins(bins, needs.bins.count)
        return self.sum_cells(needs)

    @property
    def rows(self) -> list[int]:
        """The number of rows in each group."""
        return [*self.column.counts, self.column.missing]

    @property
    def ranges(self) -> Ranges | None:
        return self.column.plan.ranges

    def find_codes(self, codes: Codes) -> list[int] | None:
        """Return the code of each group; None if rows of one group may have different codes."""
        if codes.kind is Kind.BOOLEAN:
            return [0, 1, codes.null_code]
        if self.ranges is None:
            return None
        first, last = to_codes(self.ranges.least, None, codes), to_codes(self.ranges.most, None, codes)
        return [*first.tolist(), codes.null_code] if (first == last).all() else None

    def find_bins(self, bins: Bins) -> list[int] | None:
        """Return the bin of each group; None if rows of one group may be in different bins."""
        if isinstance(bins, BooleanBins):
            return [0, 1, missing_bin(bins)]
        if isinstance(bins, CategoryBins):
            declared = self.column.plan.column.categories
            return [*range(len(declared) + 1), missing_bin(bins)] if bins.categories == declared else None
        if self.ranges is None or not self.ranges.each:
            return None
        cuts = cuts_between(bins)
        thresholds, bin_of_place = np.array(cuts.thresholds, np.int64), np.array([0, *cuts.bins])
        first, last = (np.searchsorted(thresholds, ends, "right") for ends in (self.ranges.least, self.ranges.most))
        return [*bin_of_place[first].tolist(), missing_bin(bins)] if (first == last).all() else None

    def find_inside(self, conditions: Sequence[Condition]) -> list[bool] | None:
        """Return whether the rows of each group meet all conditions; None if only some of a group may."""
        inside = np.ones(len(self.rows), bool)
        for each in conditions:
            met = self._meet(each)
            if met is None:
                return None
            inside &= [*met, isinstance(each, Missing)]
        return inside.tolist()

    def _meet(self, condition: Condition) -> Sequence[bool] | Flags | None:
        """Return whether each group of known values meets a condition."""
        if isinstance(condition, Missing):
            return [False] * len(self.column.counts)
        if self.ranges is not None:
            return _meet_ranges(self.ranges, condition)
        if condition.kind.numeric or isinstance(condition, Between | NotBetween):
            return None
        plan, listed = self.column.plan, set(condition.values)
        # Other texts are not declared, and conditions list declared ones only.
        values = (False, True) if plan.column.kind is Kind.BOOLEAN else (*plan.column.categories, None)
        return [(value in listed) == isinstance(condition, OneOf) for value in values]

    def sum_moments(self, n: int, codes: Sequence[int]) -> Moments:
        """Return the sums over all rows, of which each group has one code."""
        pairs = [*zip(self.rows, codes, strict=True)]
        return Moments(n, sum(rows * q for rows, q in pairs), sum(rows * q * q for rows, q in pairs))

    def count_bins(self, bins: Sequence[int], count: int) -> tuple[int, ...]:
        """Return the number of rows in each bin."""
        counts = [0] * count
        for place, rows in zip(bins, self.rows, strict=True):
            counts[place] += rows
        return tuple(counts)

    def sum_cells(self, needs: CellSums) -> tuple[int, ...] | None:
        """Return the counts and sums of each cell; None if they need more than is counted."""
        inside = self.find_inside(needs.conditions)
        axes = [(self.find_bins(bins), bins.count) for _, bins in needs.axes]
        parts = [part for part in (needs.summed, needs.weighted) if part is not None]
        codes = [self.find_codes(part[1]) for part in parts]
        if inside is None or any(places is None for places, _ in axes) or any(each is None for each in codes):
            return None
        answer = [0] * needs.answers
        for group, rows in enumerate(self.rows):
            if not inside[group]:
                answer[needs.count] += rows
                continue
            cell = 0
            for places, count in axes:
                cell = cell * count + (places or ())[group]
            answer[cell] += rows
            found = [(each or ())[group] for each in codes]
            sums = found if len(found) < 2 else [*found, found[0] * found[1]]
            for i, value in enumerate(sums, start=1):
                answer[needs.count * i + 1 + cell] += rows * value
        return tuple(answer)


def _meet_ranges(ranges: Ranges, condition: Condition) -> Flags | None:
    """Return whether the values of each range meet a condition; None if only some of a range do."""
    least, most = ranges.least, ranges.most
    if isinstance(condition, Between | NotBetween):
        cut_below = (least < condition.least) & (condition.least <= most)
        cut = cut_below | ((least <= condition.most) & (condition.most < most))
        met = (condition.least <= least) & (most <= condition.most)
        return None if cut.any() else met if isinstance(condition, Between) else ~met
    if isinstance(condition, Missing):
        return np.zeros(len(least), bool)
    listed = np.sort(np.array(condition.values, least.dtype))
    found = np.searchsorted(listed, most, "right") > np.searchsorted(listed, least, "left")
    if (found & (least != most)).any():
        return None
    return found if isinstance(condition, OneOf) else ~found
