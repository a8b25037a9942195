"""Codes and exact sums of a table while it is written: what `app.engines.prepared_sums` keeps of each column."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind
from app.engines.prepared_sums import ColumnPlan, PreparedColumn, PreparedTable, plan_columns
from app.engines.stored_columns import encode_code_name, encode_name
from app.engines.stored_file.code_arrays import choose_place_type, sum_squares, to_codes, to_numbers, to_places


class CodeColumns:
    """Adds columns of codes to the row groups of a table, and sums them up.

    Args:
        columns: the columns as declared.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._totals = [_start(plan) for plan in plan_columns(columns)]
        self._n = 0

    @property
    def fields(self) -> list[pa.Field]:
        """The columns of codes that each row group gets."""
        return [each.field for each in self._totals if each.plan.has_codes]

    def add(self, group: pa.Table) -> pa.Table:
        """Count a row group, and return it with its codes."""
        self._n += group.num_rows
        for each in self._totals:
            codes = each.add(group.column(encode_name(each.plan.column.name)))
            if codes is not None:
                group = group.append_column(each.field, codes)
        return group

    def finish(self) -> PreparedTable:
        """Return the sums of all row groups."""
        found = [each.finish() for each in self._totals]
        return PreparedTable(self._n, has_codes=True, columns={each.plan.column.name: each for each in found})


class _ColumnTotals(ABC):
    """The sums and counts of one column so far."""

    def __init__(self, plan: ColumnPlan, code_type: pa.DataType) -> None:
        self.plan = plan
        self.field = pa.field(encode_code_name(plan.column.name), code_type, nullable=plan.codes is None)
        self.missing = 0
        self.counts = np.zeros(plan.counts, np.int64)

    @abstractmethod
    def add(self, values: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array | None:
        """Count the values of a row group, and return the codes or places that are stored, if any."""

    @abstractmethod
    def finish(self) -> PreparedColumn:
        """Return the sums of all row groups."""


class _Categories(_ColumnTotals):
    """The counts of categories."""

    def __init__(self, plan: ColumnPlan) -> None:
        super().__init__(plan, choose_place_type(plan.column.categories))

    def add(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        places = to_places(values, self.plan.column.categories)
        self.missing += places.null_count
        self.counts += np.bincount(places.drop_null().to_numpy(), minlength=self.plan.counts)
        return places

    def finish(self) -> PreparedColumn:
        return PreparedColumn(self.plan, 0, 0, self.missing, self.counts.tolist())


class _CountedValues(_ColumnTotals):
    """The rows of each value of a column that has few: false and true, or the whole numbers within its bounds.

    The codes and their sums follow from the values.
    """

    def __init__(self, plan: ColumnPlan, codes: Codes) -> None:
        super().__init__(plan, pa.uint32())
        values = np.array([0, 1], np.int64) if plan.ranges is None else plan.ranges.least
        self._before = 0 if plan.ranges is None else int(plan.ranges.least[1]) - 1
        self._after = 1 if plan.ranges is None else int(plan.ranges.least[-1])
        self._codes = np.append(to_codes(values, None, codes), np.uint32(codes.null_code))

    def add(self, values: pa.ChunkedArray) -> pa.Array | None:
        numbers, missing = to_numbers(values.combine_chunks())
        places = np.clip(numbers.astype(np.int64, copy=False), self._before, self._after)
        places -= self._before
        places[missing] = self.plan.counts
        found = np.bincount(places, minlength=self.plan.counts + 1)
        self.counts += found[:-1]
        self.missing += int(found[-1])
        return pa.array(self._codes[places]) if self.plan.has_codes else None

    def finish(self) -> PreparedColumn:
        pairs = [*zip([*self.counts.tolist(), self.missing], self._codes.tolist(), strict=True)]
        total, squares = sum(rows * q for rows, q in pairs), sum(rows * q * q for rows, q in pairs)
        return PreparedColumn(self.plan, total, squares, self.missing, self.counts.tolist())


class _SummedCodes(_ColumnTotals):
    """The sums of the codes of a column that has many values, and the rows below, within and above its bounds."""

    def __init__(self, plan: ColumnPlan, codes: Codes) -> None:
        super().__init__(plan, pa.uint32())
        self._of = codes
        self._total = self._squares = 0

    def add(self, values: pa.ChunkedArray) -> pa.Array | None:
        numbers, missing = to_numbers(values.combine_chunks())
        codes = to_codes(numbers, missing, self._of)
        self._total += int(codes.sum(dtype=np.uint64))
        self._squares += sum_squares(codes, self._of.steps)
        self.missing += int(np.count_nonzero(missing))
        if self.plan.ranges is not None:
            known = numbers if not missing.any() or self._of.kind is Kind.REAL else numbers[~missing]
            below = np.count_nonzero(known < self.plan.ranges.least[1])
            above = np.count_nonzero(known > self.plan.ranges.most[1])
            self.counts += (below, len(numbers) - np.count_nonzero(missing) - below - above, above)
        return pa.array(codes) if self.plan.has_codes else None

    def finish(self) -> PreparedColumn:
        return PreparedColumn(self.plan, self._total, self._squares, self.missing, self.counts.tolist())


def _start(plan: ColumnPlan) -> _ColumnTotals:
    if plan.codes is None:
        return _Categories(plan)
    counted = plan.codes.kind is Kind.BOOLEAN or (plan.ranges is not None and plan.ranges.each)
    return _CountedValues(plan, plan.codes) if counted else _SummedCodes(plan, plan.codes)
