"""The query that counts and sums by cell: two-way tables, the rows that meet conditions, sums by group.

As everywhere in the grammar, no value may raise an error. SQL's logic excludes rows without a value: a comparison with
NULL is NULL, which CASE treats as false. NaN is not equal to any number, and not below any.
"""

from collections.abc import Iterable
from typing import Any

from sqlglot import exp

from app.dp.table.bins import Bins
from app.dp.table.columns import Kind
from app.dp.table.conditions import Between, Condition, Missing, NoneOf, NotBetween, OneOf, Stored
from app.dp.table.sums import CellSums
from app.engines.sql.bin_expressions import bin_of, needs_lookup
from app.engines.sql.category_lookup import CategoryLookup
from app.engines.sql.expressions import Node, alias, case, code, column, double, is_nan, is_null, whole
from app.engines.sql.queries import Dialect, exact_sum, render
from app.engines.sql.query_cache import cache_queries

_INSIDE, _CELL, _CODE, _WEIGHT = "inside", "cell", "q", "w"


@cache_queries
def cells_query(needs: CellSums, table: exp.Table | exp.Subquery, dialect: Dialect) -> str:
    """Return a query with one row per non-empty cell: its index, its number of rows and, if needed, their sums.

    The rows that do not meet the conditions form one more cell, after the last.
    """
    keys = [f"a{i}" for i in range(len(needs.axes))]
    inside = case([(all_hold(needs.conditions), whole(1))], whole(0)) if needs.conditions else whole(1)
    coarse = [_coarse(column(name), bins) for name, bins in needs.axes]
    coded = [alias(value, key) for key, value in zip([*keys, _INSIDE], [*coarse, inside], strict=True)]
    lookup = CategoryLookup()
    located = [alias(_cell(needs, lookup), _CELL)]
    totals: list[Node] = [exp.Count(this=exp.Star())]
    if needs.summed is not None:
        coded.append(alias(code(column(needs.summed[0]), needs.summed[1]), _CODE))
        located.append(column(_CODE))
        totals.append(exact_sum(column(_CODE), dialect))
    if needs.weighted is not None:
        coded.append(alias(code(column(needs.weighted[0]), needs.weighted[1]), _WEIGHT))
        located.append(column(_WEIGHT))
        product = exp.Mul(this=column(_CODE), expression=column(_WEIGHT))
        totals += [exact_sum(column(_WEIGHT), dialect), exact_sum(product, dialect)]
    cells = lookup.join(_select(_select(table.copy(), *coded).subquery("nested", copy=False), *located))
    counted = _select(cells.subquery("cells", copy=False), column(_CELL), *totals)
    return render(counted.group_by(column(_CELL), copy=False), dialect)


def cells_answer(needs: CellSums, rows: Iterable[tuple[Any, ...]]) -> tuple[int, ...]:
    """Build the answer to `needs` from the rows of `cells_query`."""
    answer = [0] * needs.answers
    for cell, count, *totals in rows:
        answer[cell] = int(count)
        if cell != needs.count:
            for place, total in enumerate(totals):
                answer[needs.count * (place + 1) + 1 + cell] = int(total)
    return tuple(answer)


def _select(source: Node, *expressions: Node) -> exp.Select:
    return exp.select(*expressions, copy=False).from_(source, copy=False)


def _coarse(value: Node, bins: Bins) -> Node:
    """Return the bin of a number or a boolean, or the unchanged value of a text column."""
    return value if needs_lookup(bins) else bin_of(value, bins)


def _cell(needs: CellSums, lookup: CategoryLookup) -> Node:
    """The index of the cell of a row."""
    index: Node | None = None
    for i, (_, bins) in enumerate(needs.axes):
        place = lookup.bin_of(f"a{i}", bins) if needs_lookup(bins) else column(f"a{i}")
        before = None if index is None else exp.Mul(this=exp.Paren(this=index), expression=whole(bins.count))
        index = place if before is None else exp.Add(this=before, expression=place)
    inside = exp.EQ(this=column(_INSIDE), expression=whole(1))
    return case([(inside, whole(0) if index is None else index)], whole(needs.count))


def all_hold(conditions: tuple[Condition, ...]) -> Node:
    """Return a node that says whether a row meets all conditions."""
    met = [node for each in conditions for node in _tests(each)]
    together = met[0]
    for node in met[1:]:
        together = exp.And(this=together, expression=node)
    return together


def _tests(condition: Condition) -> list[Node]:
    value, kind = column(condition.column), condition.kind
    match condition:
        case Missing():
            return [_is_missing(value, kind)]
        case Between(least=least, most=most):
            ends = _literal(least, kind), _literal(most, kind)
            return [exp.GTE(this=value, expression=ends[0]), exp.LTE(this=value.copy(), expression=ends[1])]
        case OneOf(values=values):
            return [_is_in(value, kind, values)]
        case NotBetween(least=least, most=most):
            below = exp.LT(this=value, expression=_literal(least, kind))
            above = exp.GT(this=value.copy(), expression=_literal(most, kind))
            return [exp.Paren(this=exp.Or(this=below, expression=above)), *_is_number(value, kind)]
        case NoneOf(values=()):
            return [exp.Not(this=is_null(value))]
        case NoneOf(values=values):
            return [exp.Not(this=_is_in(value, kind, values)), *_is_number(value, kind)]


def _is_missing(value: Node, kind: Kind) -> Node:
    missing = is_null(value)
    return exp.Paren(this=exp.Or(this=missing, expression=is_nan(value))) if kind is Kind.REAL else missing


def _is_number(value: Node, kind: Kind) -> list[Node]:
    """Return a test that NaN fails, which is above every number in some engines; other kinds have none."""
    return [exp.Not(this=is_nan(value))] if kind is Kind.REAL else []


def _is_in(value: Node, kind: Kind, listed: Iterable[Stored]) -> Node:
    if kind is Kind.BOOLEAN:  # Postgres cannot compare a boolean with numbers
        value = case([(is_null(value), exp.null()), (value, whole(1))], whole(0))
    values = list(listed)
    if kind is Kind.REAL and 0.0 in values:
        values.append(-0.0)  # Spark looks long lists up by the double's bits
    return exp.In(this=value, expressions=[_literal(each, kind) for each in values])


def _literal(value: Stored, kind: Kind) -> Node:
    """Return a condition's value as a literal; the column's type decides the literal's type, never the value's form."""
    if kind is Kind.CATEGORY:
        return exp.Literal.string(str(value))
    return double(float(value)) if kind is Kind.REAL else whole(int(value))
