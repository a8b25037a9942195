"""The prepared sums of a live table, which its engine computes: the same integers as for a table that is stored."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from gmpy2 import mpq

from app.dp.table.bins import BooleanBins, CategoryBins, Edges, IntervalBins
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Between, Missing
from app.dp.table.sums import Answer, BinCounts, CellSums, ColumnSums, Needs
from app.engines.prepared_sums import ColumnPlan, PreparedColumn, PreparedTable, Ranges, plan_columns

Compute = Callable[[Sequence[Needs]], Mapping[Needs, Answer]]
"""Returns the answers to needs, with as few statements as possible."""


def prepare_live_table(n: int, columns: Sequence[Column], compute: Compute) -> PreparedTable:
    """Return the sums and counts of each column of a live table with `n` rows.

    Raises:
        What `compute` raises.
    """
    asked = {plan.column.name: (plan, [*_list_needs(plan)]) for plan in plan_columns(columns)}
    answers = compute([each for _, needs in asked.values() for each in needs])
    found = {name: _read(plan, n, [tuple(answers[each]) for each in needs]) for name, (plan, needs) in asked.items()}
    return PreparedTable(n, has_codes=False, columns=found)


def _list_needs(plan: ColumnPlan) -> Iterator[Needs]:
    """Yield the sums of the codes, if the column has any; then the rows without a value, and those that are counted."""
    column, name, kind = plan.column, plan.column.name, plan.column.kind
    if plan.codes is None:
        yield BinCounts(name, CategoryBins(column.categories, missing=True))
        return
    yield ColumnSums(name, plan.codes)
    if kind is Kind.BOOLEAN:
        yield BinCounts(name, BooleanBins(missing=True))
    elif plan.ranges is not None and plan.ranges.each:
        yield BinCounts(name, _bins_of(plan.ranges, kind, plan.codes.scale))
    else:
        yield CellSums((), (Missing(name, kind),))
        if plan.ranges is not None:
            ends = (plan.ranges.least.tolist(), plan.ranges.most.tolist())
            for place in (0, 2):
                condition = Between(name, kind, plan.codes.scale, ends[0][place], ends[1][place])
                yield CellSums((), (condition,))


def _bins_of(ranges: Ranges, kind: Kind, scale: int) -> IntervalBins:
    """Return a bin for each range; values below the first edge and above the last one are in the outer bins."""
    first, last = int(ranges.least[1]), int(ranges.least[-1])
    edges = tuple(mpq(units, 10**scale) for units in range(first - 1, last + 2))
    return IntervalBins(kind, scale, Edges(edges[0], edges[-1], len(edges) - 1, edges), missing=True)


def _read(plan: ColumnPlan, n: int, answers: Sequence[tuple[int, ...]]) -> PreparedColumn:
    """Return the integers of a column from the answers to `_list_needs`."""
    if plan.codes is None:
        *counts, missing = answers[0]
        return PreparedColumn(plan, 0, 0, missing, counts)
    (_, total, squares), *counted = answers
    if plan.codes.kind is Kind.BOOLEAN or (plan.ranges is not None and plan.ranges.each):
        *counts, missing = counted[0]
        return PreparedColumn(plan, total, squares, missing, counts)
    missing = counted[0][0]
    if plan.ranges is None:
        return PreparedColumn(plan, total, squares, missing, [])
    below, above = counted[1][0], counted[2][0]
    return PreparedColumn(plan, total, squares, missing, [below, n - missing - below - above, above])
