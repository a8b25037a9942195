"""The one query that answers what a statistic needs, as text for one dialect."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from sqlglot import ErrorLevel, exp

from app.dp.table.bins import CategoryBins, IntervalBins
from app.dp.table.columns import Kind
from app.dp.table.sums import BinCounts, ColumnSums, ColumnTotal, PairSums
from app.engines.sql.bin_expressions import (
    Cuts,
    bin_of,
    cuts_between,
    find_even_steps,
    interval_bin,
    missing_bin,
    needs_lookup,
)
from app.engines.sql.category_lookup import CategoryLookup
from app.engines.sql.expressions import Branch, Node, alias, case, code, column, is_nan, is_null, whole
from app.engines.sql.query_cache import cache_queries

Dialect: TypeAlias = Literal["duckdb", "postgres", "spark"]

Source: TypeAlias = exp.Table | exp.Subquery
"""A table or subquery whose columns have the types in which they are stored."""

MAX_HALVED_CUTS = 127
"""With more cuts than this a sorted join (DuckDB: 8 million rows a second) beats planning nested comparisons."""

CUTS, THRESHOLD, FIRST_BIN = "cuts", "threshold", "bin"
"""The table of cuts that the join needs, and its columns."""


class Query(NamedTuple):
    """A query, and the cuts that the engine must pass with it, if any.

    Attributes:
        bin_of_place: the bin of each place, if the query returns places among the cuts (or -1) instead of bins.
    """

    text: str
    cuts: Cuts | None = None
    bin_of_place: Sequence[int] | None = None


@cache_queries
def sums_query(needs: ColumnSums | ColumnTotal | PairSums, table: Source, dialect: Dialect) -> str:
    """Return a query for one row: the number of rows, then the sums in the order of the answer."""
    q, r = column("q"), column("r")
    if isinstance(needs, PairSums):
        codes = [
            alias(code(column(needs.x), needs.x_codes), "q"),
            alias(code(column(needs.y), needs.y_codes), "r"),
        ]
        summed = [q, r, exp.Mul(this=q, expression=r)]
    else:
        codes = [alias(code(column(needs.column), needs.codes), "q")]
        summed = [q] if isinstance(needs, ColumnTotal) else [q, exp.Mul(this=q, expression=q.copy())]
    coded = _select(table.copy(), *codes)
    return render(_select(_nest(coded), _rows(), *(exact_sum(each, dialect) for each in summed)), dialect)


def counts_query(needs: BinCounts, table: Source, dialect: Dialect) -> Query:
    """Return a query with one row per non-empty bin, in no order: its index or a place, and its number of rows."""
    bins, value, source = needs.bins, column(needs.column), table.copy()
    if needs_lookup(bins):
        return Query(render(_category_counts(value, bins, source), dialect))
    if not isinstance(bins, IntervalBins):
        return Query(render(_counts(_select(source, alias(bin_of(value, bins), "bin"))), dialect))
    cuts = cuts_between(bins)
    if len(cuts.thresholds) <= MAX_HALVED_CUTS or find_even_steps(bins) is not None:
        return Query(render(_counts(_select(source, alias(interval_bin(value, bins, cuts), "bin"))), dialect))
    if dialect == "duckdb":
        return Query(render(_count_by_join(value, bins, source), dialect), cuts)
    if dialect == "postgres":
        query = _count_by_search(value, bins, source)
    else:
        query = _count_by_halving(value, bins, source, len(cuts.thresholds))
    return Query(render(query, dialect), cuts, [0, *cuts.bins, missing_bin(bins)])


def render(query: exp.Select, dialect: Dialect) -> str:
    """Render the query as text; an expression that the dialect does not support raises an error."""
    return query.sql(dialect, copy=False, unsupported_level=ErrorLevel.RAISE)


def _category_counts(value: Node, bins: CategoryBins, table: Source) -> exp.Select:
    """Look up each row's text in the declared list; a text that is not in the list never becomes a group."""
    lookup = CategoryLookup()
    place = alias(lookup.bin_of("text", bins), "bin")
    return _counts(lookup.join(_select(_nest(_select(table, alias(value, "text"))), place)))


def _count_by_join(value: Node, bins: IntervalBins, table: Source) -> exp.Select:
    """Join each value with the greatest cut that is not above it (ASOF JOIN, which only DuckDB has)."""
    present = case([(is_nan(value), exp.null())], value) if bins.kind is Kind.REAL else value
    values = _nest(_select(table, alias(present, "value")), "present")
    found, first_bin = column("value", "present"), column(FIRST_BIN, CUTS)
    place = case([(is_null(found), whole(missing_bin(bins))), (is_null(first_bin), whole(0))], first_bin)
    not_above = exp.GTE(this=found, expression=column(THRESHOLD, CUTS))
    joined = _select(values, alias(place, "bin")).join(exp.to_table(CUTS), on=not_above, join_type="asof left")
    return _counts(joined)


def _count_by_search(value: Node, bins: IntervalBins, table: Source) -> exp.Select:
    """Count the rows by their place among the cuts, which are an array; Postgres's WIDTH_BUCKET is a binary search.

    The place is the number of cuts that are not above the value, or -1 if the value is missing.
    """
    real = bins.kind is Kind.REAL
    cuts = exp.cast(exp.Parameter(this=exp.Literal.number(1)), "ARRAY<DOUBLE>" if real else "ARRAY<BIGINT>")
    branches: list[Branch] = [(is_null(value), whole(-1))]
    if real:
        branches.append((is_nan(value), whole(-1)))
    return _counts(_select(table, alias(case(branches, exp.func("WIDTH_BUCKET", value, cuts)), "bin")))


def _count_by_halving(value: Node, bins: IntervalBins, table: Source, cuts: int) -> exp.Select:
    """Count as `_count_by_search`, on Spark: the cuts are an array in a one-row table; nested queries search it."""
    found, thresholds, place = column("value"), column(THRESHOLD), column("place")
    present = case([(is_nan(value), exp.null())], value) if bins.kind is Kind.REAL else value
    query = _select(table, alias(present, "value"), alias(whole(0), "place"))
    query = _select(_nest(query), found, place, thresholds).join(exp.to_table(CUTS), join_type="cross")
    for step in reversed([2**i for i in range(cuts.bit_length())]):
        # GET returns NULL beyond the last cut, and a comparison with NULL does not hold.
        behind = exp.Add(this=place, expression=whole(step - 1))
        cut = exp.func("GET", thresholds, exp.cast(behind, "INT"))
        further = case([(exp.LTE(this=cut, expression=found), whole(step))], whole(0))
        further = exp.Add(this=place.copy(), expression=further)
        query = _select(_nest(query), found.copy(), alias(further, "place"), thresholds.copy())
    return _counts(_select(_nest(query), alias(case([(is_null(found), whole(-1))], place), "bin")))


def _counts(binned: exp.Select) -> exp.Select:
    return _select(_nest(binned), column("bin"), _rows()).group_by(column("bin"), copy=False)


def _select(source: Node, *expressions: Node) -> exp.Select:
    # Nodes are used without a copy, because trees of comparisons are large.
    return exp.Select().select(*expressions, copy=False).from_(source, copy=False)


def _nest(query: exp.Select, name: str = "nested") -> exp.Subquery:
    return query.subquery(name, copy=False)


def _rows() -> Node:
    return exp.Count(this=exp.Star())


def count_true(condition: Node, dialect: Dialect) -> Node:
    """Return the number of rows for which a condition holds; on DuckDB a sum takes half of the time of a count."""
    if dialect == "duckdb":
        return exp.Sum(this=exp.cast(condition, exp.DataType.Type.TINYINT))
    return exp.Count(this=exp.Case(ifs=[exp.If(this=condition, true=whole(1))]))


def exact_sum(value: Node, dialect: Dialect) -> Node:
    """Return a sum of 64-bit whole numbers that cannot overflow; Spark needs a cast, DuckDB and Postgres widen it."""
    if dialect == "spark":
        value = exp.cast(value, exp.DataType.build("DECIMAL(38, 0)"))
    return exp.Sum(this=value.copy())
