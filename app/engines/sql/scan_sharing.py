"""Group needs into shared statements, so that a batch of requests scans a table only a few times.

Needs can share a statement if one row of sums answers each, or if all count rows by keys: by the same key on DuckDB. A
need of another kind, or a large one, gets a statement of its own.
"""

from collections.abc import Hashable, Iterable, Sequence

from app.dp.table.bins import Bins, CategoryBins
from app.dp.table.conditions import NoneOf, OneOf
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, ColumnTotal, Needs, PairSums

MAX_NEEDS = 16
"""The most needs in one statement. They share one timeout and one scan, but each adds its own arithmetic."""

MAX_LITERALS, MAX_LITERALS_EACH = 1024, 256
"""The most literals in one statement, so that planning takes little time, and in a need that shares a statement."""

MAX_CATEGORIES = 16
"""The most categories in a list of a shared statement; a need with a longer list gets a statement of its own."""


def scans_of(needs: Iterable[Needs], *, keyed: bool = True) -> list[tuple[Needs, ...]]:
    """Group the distinct needs by the statement that answers them.

    Args:
        needs: what the statements must answer.
        keyed: whether needs that count rows by different keys may share a statement. DuckDB takes as long for such a
            statement as for all of them one by one, and uses one core for most of it.
    """
    filling: dict[Hashable, list[Needs]] = {}
    scans: list[tuple[Needs, ...]] = []
    alone: list[tuple[Needs, ...]] = []
    for each in dict.fromkeys(needs):
        if not can_share(each, keyed=keyed):
            alone.append((each,))
            continue
        scan = filling.setdefault(bool(axes_of(each)) if keyed else axes_of(each), [])
        if len(scan) == MAX_NEEDS or sum(map(_literals, [*scan, each])) > MAX_LITERALS:
            scans.append(tuple(scan))
            scan.clear()
        scan.append(each)
    return alone + scans + [tuple(scan) for scan in filling.values()]


def have_same_axes(scan: Sequence[Needs]) -> bool:
    """Whether all needs count or sum up the rows of the same cells, or all rows."""
    return all(axes_of(each) == axes_of(scan[0]) for each in scan)


def in_one_row(needs: Needs) -> bool:
    """Whether one row of sums answers the need."""
    return isinstance(needs, ColumnSums | ColumnTotal | PairSums) or (isinstance(needs, CellSums) and not needs.axes)


def axes_of(needs: Needs) -> tuple[tuple[str, Bins], ...]:
    """Return the columns, with their bins, by which the need counts rows."""
    if isinstance(needs, CellSums):
        return needs.axes
    return ((needs.column, needs.bins),) if isinstance(needs, BinCounts) else ()


def can_share(needs: Needs, *, keyed: bool = True) -> bool:
    """Whether the need may share a statement with others; `keyed` is as for `scans_of`."""
    axes = axes_of(needs)
    if axes and keyed and isinstance(needs, CellSums) and needs.summed:
        return False  # the statement would compute each sum for every key
    few = all(not isinstance(bins, CategoryBins) or len(bins.categories) <= MAX_CATEGORIES for _, bins in axes)
    return few and _literals(needs) <= MAX_LITERALS_EACH


def _literals(needs: Needs) -> int:
    """Estimate how many literals the need takes in a statement."""
    conditions = needs.conditions if isinstance(needs, CellSums) else ()
    listed = sum(len(each.values) if isinstance(each, OneOf | NoneOf) else 2 for each in conditions)
    return 8 + listed + sum(bins.count for _, bins in axes_of(needs))
