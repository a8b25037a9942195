"""One statement that answers several needs: a row of all their sums, one for each cell, or counts by all their keys.

The codes, bins and conditions are those of a need's own statement, so the integers are the same. Every engine computes
GROUPING SETS, for the counts by several keys, in one pass over the table.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from math import prod
from typing import Any

from sqlglot import exp

from app.dp.table.bins import Bins
from app.dp.table.codes import Codes
from app.dp.table.conditions import Condition
from app.dp.table.sums import SUMS_OF, Answer, BinCounts, CellSums, ColumnSums, ColumnTotal, Needs, PairSums
from app.engines.sql.bin_expressions import bin_of, needs_lookup
from app.engines.sql.category_lookup import CategoryLookup
from app.engines.sql.cell_queries import all_hold
from app.engines.sql.expressions import Node, alias, case, code, column, whole
from app.engines.sql.queries import Dialect, Source, count_true, exact_sum, render
from app.engines.sql.query_cache import cache_queries
from app.engines.sql.scan_sharing import axes_of, have_same_axes, in_one_row

_CELL = "cell"


@cache_queries
def build_shared_query(scan: tuple[Needs, ...], table: Source, dialect: Dialect) -> str:
    """Return the statement that answers one group of needs from `scans_of`."""
    query = _sums(scan, table.copy(), dialect) if have_same_axes(scan) else _counts(scan, table.copy())
    return render(query, dialect)


def read_shared_answers(scan: Sequence[Needs], rows: Sequence[Sequence[Any]]) -> list[Answer]:
    """Build the answer to each need from the rows of `build_shared_query`."""
    if in_one_row(scan[0]):
        ((n, *totals),) = rows
        # A sum over no rows is NULL. Then n is 0, which shows that the table has changed.
        left = iter([int(total or 0) for total in totals])
        return [_read_row(each, int(n), left) for each in scan]
    if have_same_axes(scan):
        return _read_cells(scan, rows)
    counts = [[0] * (_keys(each) + isinstance(each, CellSums)) for each in scan]  # the last: rows outside the cells
    for *keys, count in rows:
        ((place, key),) = [(place, key) for place, key in enumerate(keys) if key is not None]
        counts[place][int(key)] += int(count)
    return [tuple(each) for each in counts]


def _sums(scan: Sequence[Needs], table: Source, dialect: Dialect) -> exp.Select:
    """Return a query for one row, or for one row for each non-empty cell, which begins with the index of the cell.

    Then come the number of rows, and the sums of each need in the order in which they are read. Codes and conditions
    that several needs share are computed once for each row.
    """
    values, lookup = _RowValues(), CategoryLookup()
    by_cell = axes_of(scan[0])
    cell = [alias(_cell(by_cell, values, lookup), _CELL)] if by_cell else []
    sums = [each for needs in scan for each in _list_sums(needs, values, dialect)]
    coded = exp.select(*values.list_aliased(), copy=False).from_(table, copy=False).subquery("coded", copy=False)
    if not by_cell:
        return exp.select(exp.Count(this=exp.Star()), *sums, copy=False).from_(coded, copy=False)
    located = exp.select(*cell, *map(column, values.names), copy=False).from_(coded, copy=False)
    nested = lookup.join(located).subquery("nested", copy=False)
    query = exp.select(column(_CELL), exp.Count(this=exp.Star()), *sums, copy=False).from_(nested, copy=False)
    return query.group_by(column(_CELL), copy=False)


def _list_sums(needs: Needs, values: "_RowValues", dialect: Dialect) -> Iterator[Node]:
    """Yield the sums that answer a need, over all rows or over those of a cell."""
    if isinstance(needs, BinCounts) or (isinstance(needs, CellSums) and not needs.conditions):
        yield exp.Count(this=exp.Star())
    elif isinstance(needs, CellSums) and needs.summed is None:
        met = values.name_of((all_hold, needs.conditions), lambda: all_hold(needs.conditions))
        yield count_true(column(met), dialect)
    elif isinstance(needs, CellSums):
        yield exact_sum(_inside(needs.conditions, values), dialect)
    for first, *further in _list_products(needs, values):
        product = first
        for factor in further:
            product = exp.Mul(this=product, expression=factor)
        yield exact_sum(product, dialect)


def _list_products(needs: Needs, values: "_RowValues") -> Iterator[list[Node]]:
    """Yield the factors of what is summed up: codes, and 0 for the rows that do not meet the conditions."""

    def codes_of(name: str, codes: Codes) -> Node:
        return column(values.name_of((name, codes), lambda: code(column(name), codes)))

    match needs:
        case ColumnTotal(name, codes):
            yield [codes_of(name, codes)]
        case ColumnSums(name, codes):
            yield [codes_of(name, codes)]
            yield [codes_of(name, codes), codes_of(name, codes)]
        case PairSums(x, x_codes, y, y_codes):
            yield [codes_of(x, x_codes)]
            yield [codes_of(y, y_codes)]
            yield [codes_of(x, x_codes), codes_of(y, y_codes)]
        case CellSums():
            parts = [part for part in (needs.summed, needs.weighted) if part is not None]
            for factors in [*([part] for part in parts), *([parts] if len(parts) > 1 else [])]:
                inside = [_inside(needs.conditions, values)] if needs.conditions else []
                yield [*inside, *(codes_of(*part) for part in factors)]


def _inside(conditions: tuple[Condition, ...], values: "_RowValues") -> Node:
    """Return a node that is 1 for a row that meets all conditions, and else 0."""
    return column(values.name_of(conditions, lambda: case([(all_hold(conditions), whole(1))], whole(0))))


def _read_row(needs: Needs, n: int, left: Iterator[int]) -> Answer:
    if shape := SUMS_OF.get(type(needs)):
        return shape(n, *islice(left, len(shape._fields) - 1))
    inside = next(left)
    sums = needs.sums if isinstance(needs, CellSums) else 0
    return (inside, n - inside, *(next(left) for _ in range(sums)))


def _read_cells(scan: Sequence[Needs], rows: Sequence[Sequence[Any]]) -> list[Answer]:
    answers = [[0] * (needs.answers if isinstance(needs, CellSums) else _keys(needs)) for needs in scan]
    for cell, n, *totals in rows:
        left = (int(total or 0) for total in totals)  # a sum of truth values that are all NULL is NULL
        for needs, answer in zip(scan, answers, strict=True):
            inside = answer[cell] = next(left)
            if isinstance(needs, CellSums):
                answer[needs.count] += int(n) - inside
                for place in range(needs.sums):
                    answer[needs.count * (place + 1) + 1 + cell] = next(left)
    return [tuple(each) for each in answers]


def _counts(scan: Sequence[Needs], table: Source) -> exp.Select:
    """Return a query with one row per non-empty key of each need: the key in that need's column, and the row count."""
    names = [f"k{i}" for i in range(len(scan))]
    lookup, values = CategoryLookup(), _RowValues()
    keys = [alias(_key(each, values, lookup), name) for name, each in zip(names, scan, strict=True)]
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

    @property
    def names(self) -> list[str]:
        """The names of all values."""
        return [*self._names.values()]

    def list_aliased(self) -> list[Node]:
        """Return all values, aliased to their names."""
        return [alias(self._values[key], name) for key, name in self._names.items()]


def _key(needs: Needs, values: _RowValues, lookup: CategoryLookup) -> Node:
    """Return the index of a row's bin or cell, which is never NULL."""
    index = _cell(axes_of(needs), values, lookup)
    if not isinstance(needs, CellSums) or not needs.conditions:
        return index
    inside = exp.EQ(this=_inside(needs.conditions, values), expression=whole(1))
    return case([(inside, index)], whole(needs.count))


def _cell(axes: Sequence[tuple[str, Bins]], values: _RowValues, lookup: CategoryLookup) -> Node:
    """Return the index of a row's cell among those of at least one axis."""
    index: Node | None = None
    for name, bins in axes:
        place = _bin(name, bins, values, lookup)
        if index is not None:
            before = exp.Mul(this=exp.Paren(this=index), expression=whole(bins.count))
            place = exp.Add(this=before, expression=place)
        index = place
    assert index is not None  # noqa: S101 - for the type checker
    return index


def _keys(needs: Needs) -> int:
    return prod(bins.count for _, bins in axes_of(needs))


def _bin(name: str, bins: Bins, values: _RowValues, lookup: CategoryLookup) -> Node:
    if needs_lookup(bins):
        return lookup.bin_of(values.name_of(name, lambda: column(name)), bins)
    return column(values.name_of((name, bins), lambda: bin_of(column(name), bins)))
