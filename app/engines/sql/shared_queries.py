"""One statement that answers several needs: a row of all their sums, or counts by all their keys (GROUPING SETS).

The codes, bins and conditions are those of a need's own statement, so the integers are the same. Every engine computes
GROUPING SETS in one pass over the table.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from math import prod
from typing import Any

from sqlglot import exp

from app.dp.table.bins import Bins
from app.dp.table.codes import Codes
from app.dp.table.sums import Answer, CellSums, ColumnSums, CrossMoments, Moments, Needs, PairSums
from app.engines.sql.bin_expressions import bin_of, needs_lookup
from app.engines.sql.category_lookup import CategoryLookup
from app.engines.sql.cell_queries import all_hold
from app.engines.sql.expressions import Node, case, code, column, whole
from app.engines.sql.queries import Dialect, Source, count_true, exact_sum, render
from app.engines.sql.query_cache import cache_queries
from app.engines.sql.scan_sharing import axes_of, in_one_row


@cache_queries
def build_shared_query(scan: tuple[Needs, ...], table: Source, dialect: Dialect) -> str:
    """Return the statement that answers one group of needs from `scans_of`."""
    query = _sums(scan, table.copy(), dialect) if in_one_row(scan[0]) else _counts(scan, table.copy())
    return render(query, dialect)


def read_shared_answers(scan: Sequence[Needs], rows: Sequence[Sequence[Any]]) -> list[Answer]:
    """Build the answer to each need from the rows of `build_shared_query`."""
    if in_one_row(scan[0]):
        ((n, *totals),) = rows
        # A sum over no rows is NULL. Then n is 0, which shows that the table has changed.
        left = iter([int(total or 0) for total in totals])
        return [_from_row(each, int(n), left) for each in scan]
    counts = [[0] * (_keys(each) + isinstance(each, CellSums)) for each in scan]  # the last: rows outside the cells
    for *keys, count in rows:
        ((place, key),) = [(place, key) for place, key in enumerate(keys) if key is not None]
        counts[place][int(key)] += int(count)
    return [tuple(each) for each in counts]


def _sums(scan: Sequence[Needs], table: Source, dialect: Dialect) -> exp.Select:
    """Return a query for one row: the number of rows, then the sums of each need in the order that `_from_row` reads.

    Codes and conditions that several needs share are computed once for each row.
    """
    names: dict[Hashable, str] = {}
    values: list[Node] = []

    def named(key: Hashable, value: Node) -> Node:
        if key not in names:
            names[key] = f"q{len(names)}"
            values.append(exp.alias_(value, names[key], quoted=True, copy=False))
        return column(names[key])

    def codes_of(name: str, codes: Codes) -> Node:
        return named((name, codes), code(column(name), codes))

    totals: list[Node] = []  # of which `counted` are conditions, and the others numbers to sum up
    counted: set[int] = set()
    for each in scan:
        if isinstance(each, ColumnSums):
            q = codes_of(each.column, each.codes)
            totals += [q, exp.Mul(this=q, expression=q.copy())]
        elif isinstance(each, PairSums):
            q, r = codes_of(each.x, each.x_codes), codes_of(each.y, each.y_codes)
            totals += [q, r, exp.Mul(this=q, expression=r.copy())]
        elif isinstance(each, CellSums) and each.summed is None:
            counted.add(len(totals))
            totals.append(named((all_hold, each.conditions), all_hold(each.conditions)))
        elif isinstance(each, CellSums):
            inside = named(each.conditions, _inside(each, whole(1), whole(0)))
            summed = [codes_of(*part) for part in (each.summed, each.weighted) if part is not None]
            totals += [inside, *(exp.Mul(this=inside, expression=q) for q in summed)]
            if each.weighted is not None:
                product = exp.Mul(this=summed[0].copy(), expression=summed[1].copy())
                totals.append(exp.Mul(this=inside.copy(), expression=exp.Paren(this=product)))
    coded = exp.select(*values, copy=False).from_(table, copy=False).subquery("nested", copy=False)
    sums = [
        count_true(total, dialect) if place in counted else exact_sum(total, dialect)
        for place, total in enumerate(totals)
    ]
    return exp.select(exp.Count(this=exp.Star()), *sums, copy=False).from_(coded, copy=False)


def _from_row(needs: Needs, n: int, left: Iterator[int]) -> Answer:
    if isinstance(needs, ColumnSums):
        return Moments(n, next(left), next(left))
    if isinstance(needs, PairSums):
        return CrossMoments(n, next(left), next(left), next(left))
    inside = next(left)
    sums = needs.sums if isinstance(needs, CellSums) else 0
    return (inside, n - inside, *(next(left) for _ in range(sums)))


def _counts(scan: Sequence[Needs], table: Source) -> exp.Select:
    """Return a query with one row per non-empty key of each need: the key in that need's column, and the row count."""
    names = [f"k{i}" for i in range(len(scan))]
    lookup, values = CategoryLookup(), _RowValues()
    keys = [
        exp.alias_(_key(each, values, lookup), name, quoted=True, copy=False)
        for name, each in zip(names, scan, strict=True)
    ]
    coded = exp.select(*values.list_aliased(), copy=False).from_(table, copy=False).subquery("coded", copy=False)
    keyed = lookup.join(exp.select(*keys, copy=False).from_(coded, copy=False)).subquery("nested", copy=False)
    sets = exp.GroupingSets(expressions=[exp.Tuple(expressions=[column(name)]) for name in names])
    query = exp.select(*map(column, names), exp.Count(this=exp.Star()), copy=False).from_(keyed, copy=False)
    query.set("group", exp.Group(grouping_sets=[sets]))
    return query


class _RowValues:
    """The named values that the query computes from each row before the keys; each distinct value is computed once."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Node] = {}
        self._names: dict[Hashable, str] = {}

    def name_of(self, key: Hashable, value: Callable[[], Node]) -> str:
        """Return the name of a value; `value` is called only for a new key."""
        if key not in self._names:
            self._names[key] = f"v{len(self._names)}"
            self._values[key] = value()
        return self._names[key]

    def list_aliased(self) -> list[Node]:
        """Return all values, aliased to their names."""
        return [exp.alias_(self._values[key], name, quoted=True, copy=False) for key, name in self._names.items()]


def _key(needs: Needs, values: _RowValues, lookup: CategoryLookup) -> Node:
    """Return the index of a row's bin or cell, which is never NULL."""
    index: Node | None = None
    for name, bins in axes_of(needs):
        place = _bin(name, bins, values, lookup)
        if index is not None:
            before = exp.Mul(this=exp.Paren(this=index), expression=whole(bins.count))
            place = exp.Add(this=before, expression=place)
        index = place
    assert index is not None  # noqa: S101 - for the type checker
    if not isinstance(needs, CellSums) or not needs.conditions:
        return index
    inside = values.name_of(needs.conditions, lambda: _inside(needs, whole(1), whole(0)))
    return case([(exp.EQ(this=column(inside), expression=whole(1)), index)], whole(needs.count))


def _keys(needs: Needs) -> int:
    return prod(bins.count for _, bins in axes_of(needs))


def _inside(needs: CellSums, value: Node, outside: Node) -> Node:
    return case([(all_hold(needs.conditions), value)], outside) if needs.conditions else value


def _bin(name: str, bins: Bins, values: _RowValues, lookup: CategoryLookup) -> Node:
    if needs_lookup(bins):
        return lookup.bin_of(values.name_of(name, lambda: column(name)), bins)
    return column(values.name_of((name, bins), lambda: bin_of(column(name), bins)))
