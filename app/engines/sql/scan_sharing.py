"""Which needs one statement answers together, so that a batch of questions reads a table a few times.

Two sorts go together: needs that one row of sums answers, and needs that count rows by a key. What is neither, or is
large, has a statement to itself.
"""

from collections.abc import Iterable

from app.dp.table.bins import Bins, CategoryBins
from app.dp.table.conditions import OneOf
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, Needs, PairSums

MOST_NEEDS = 16
"""In one statement, which has the time of one: the reading is shared, the arithmetic of each need is not."""

MOST_LITERALS, MOST_LITERALS_EACH = 1024, 256
"""In one statement, so that planning it takes little beside a scan, and of a need that shares one."""

MOST_CATEGORIES = 16
"""In each list that one statement joins the rows with; a longer one has a statement to itself."""


def scans_of(needs: Iterable[Needs]) -> list[tuple[Needs, ...]]:
    """The needs, each once, by the statement that answers them."""
    scans: list[tuple[Needs, ...]] = []
    filling: dict[bool, list[Needs]] = {True: [], False: []}
    for each in dict.fromkeys(needs):
        if not _can_share(each):
            scans.append((each,))
            continue
        scan = filling[in_one_row(each)]
        if len(scan) == MOST_NEEDS or sum(map(_literals, [*scan, each])) > MOST_LITERALS:
            scans.append(tuple(scan))
            scan.clear()
        scan.append(each)
    return scans + [tuple(scan) for scan in filling.values() if scan]


def in_one_row(needs: Needs) -> bool:
    """Whether one row of sums answers it."""
    return isinstance(needs, ColumnSums | PairSums) or (isinstance(needs, CellSums) and not needs.axes)


def axes_of(needs: Needs) -> tuple[tuple[str, Bins], ...]:
    """The columns by whose bins rows are counted."""
    if isinstance(needs, CellSums):
        return needs.axes
    return ((needs.column, needs.bins),) if isinstance(needs, BinCounts) else ()


def _can_share(needs: Needs) -> bool:
    axes = axes_of(needs)
    if axes and isinstance(needs, CellSums) and needs.summed:  # each sum would be made for every key
        return False
    few = all(not isinstance(bins, CategoryBins) or len(bins.categories) <= MOST_CATEGORIES for _, bins in axes)
    return few and _literals(needs) <= MOST_LITERALS_EACH


def _literals(needs: Needs) -> int:
    """About how many literals it takes."""
    conditions = needs.conditions if isinstance(needs, CellSums) else ()
    listed = sum(len(each.values) if isinstance(each, OneOf) else 2 for each in conditions)
    return 8 + listed + sum(bins.count for _, bins in axes_of(needs))
