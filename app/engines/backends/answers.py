"""Compute the answers to one scan: build the statement, run it, and read its rows."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from app.dp.table.sums import SUMS_OF, Answer, BinCounts, CellSums, Needs
from app.engines.sql.bin_expressions import Cuts
from app.engines.sql.cell_queries import cells_answer, cells_query
from app.engines.sql.queries import Dialect, Source, counts_query, sums_query
from app.engines.sql.shared_queries import build_shared_query, read_shared_answers

RunQuery: TypeAlias = Callable[[str, Cuts | None], Any]
"""Runs a statement, with the cuts that it needs, if any, and returns its rows as tuples or as an array."""


def compute_answers(scan: Sequence[Needs], table: Source, dialect: Dialect, run: RunQuery) -> list[Answer]:
    """Return the exact integers for each need of a scan from `scans_of`, with one statement over `table`."""
    if len(scan) > 1 or (isinstance(scan[0], CellSums) and not scan[0].axes):
        return read_shared_answers(scan, run(build_shared_query(tuple(scan), table, dialect), None))
    (needs,) = scan
    if isinstance(needs, BinCounts):
        return [_count_bins(needs, table, dialect, run)]
    if isinstance(needs, CellSums):
        return [cells_answer(needs, run(cells_query(needs, table, dialect), None))]
    (row,) = run(sums_query(needs, table, dialect), None)
    # A sum over no rows is NULL. Then n is 0, which shows that the table has changed.
    return [SUMS_OF[type(needs)](*(int(total or 0) for total in row))]


def _count_bins(needs: BinCounts, table: Source, dialect: Dialect, run: RunQuery) -> tuple[int, ...]:
    query = counts_query(needs, table, dialect)
    found = run(query.text, query.cuts)
    rows = np.asarray(found, np.int64).reshape(len(found), 2)  # there may be a million, or none
    bins = rows[:, 0] if query.bin_of_place is None else np.array(query.bin_of_place)[rows[:, 0]]
    counts = np.zeros(needs.bins.count, np.int64)
    np.add.at(counts, bins, rows[:, 1])
    return tuple(counts.tolist())
