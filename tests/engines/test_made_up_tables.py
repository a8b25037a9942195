"""Made-up tables: their sums are those of the definition, and nothing but the declaration decides their values."""

import math
from dataclasses import replace
from typing import Any

import pytest
from cell_cases import CASES, DECIMALS, sum_rows
from engine_world import BOOLEAN, CATEGORY, COLUMNS, DECIMAL, INTEGER, INTEGER_BOUNDS, REAL, REAL_BOUNDS
from gmpy2 import mpq

from app.dp.table.bins import BooleanBins, CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, ColumnTotal, CrossMoments, Moments, PairSums, Total
from app.engines.made_up_columns import make_up_column
from app.engines.made_up_table import MAX_ROWS, MadeUpTable

N = 200
BY_NAME = {column.name: column for column in COLUMNS}
DATE = Column("day", Kind.DATE, (mpq(18_000), mpq(18_030)), nullable=False)


def stored_values(column: Column, rows: int) -> list[Any]:
    """The made-up values as a table stores them, None for a missing one."""
    made = make_up_column(column, rows)
    read = {Kind.CATEGORY: column.categories.__getitem__, Kind.BOOLEAN: bool}.get(column.kind, lambda value: value)
    return [
        None if missing else read(value)
        for value, missing in zip(made.values.tolist(), made.missing.tolist(), strict=True)
    ]


ROWS = {column.name: stored_values(column, N) for column in COLUMNS}


@pytest.mark.parametrize("needs", CASES + DECIMALS)
def test_sums_of_cells_are_those_of_the_rows(needs: CellSums) -> None:
    assert MadeUpTable(BY_NAME, N).answer(needs) == sum_rows(ROWS, needs)


@pytest.mark.parametrize("bounds", [*INTEGER_BOUNDS, None])
def test_sums_of_columns_are_those_of_all_rows(bounds: Any) -> None:
    table, x = MadeUpTable(BY_NAME, N), codes_for(INTEGER, bounds)
    y = codes_for(REAL, REAL_BOUNDS[0])
    total = sum_rows(ROWS, CellSums((), (), ("integer", x), ("integer", x)))
    assert table.answer(ColumnSums("integer", x)) == Moments(N, total[2], total[4])
    assert table.answer(ColumnTotal("integer", x)) == Total(N, total[2])
    both = sum_rows(ROWS, CellSums((), (), ("integer", x), ("real", y)))
    assert table.answer(PairSums("integer", x, "real", y)) == CrossMoments(N, *both[2:])


@pytest.mark.parametrize(
    ("column", "bins"),
    [
        (REAL, bins_by_number(REAL, 7, None)),
        (INTEGER, bins_by_number(INTEGER, 1_000, None)),
        (DECIMAL, bins_by_number(DECIMAL, 13, None)),
        (BOOLEAN, BooleanBins(missing=True)),
        (CATEGORY, CategoryBins(CATEGORY.categories, missing=True)),
    ],
)
def test_a_larger_table_repeats_the_same_rows(column: Column, bins: Any) -> None:
    """To the end of what a plan without data may have, at the same cost; each bin has its share of the rows."""
    few, many = (MadeUpTable(BY_NAME, n).answer(BinCounts(column.name, bins)) for n in (MAX_ROWS, 10**15))
    assert (sum(few), sum(many)) == (MAX_ROWS, 10**15)
    assert [round(count * MAX_ROWS / 10**15) for count in many] == list(few)
    assert (
        few
        == sum_rows(
            {"real": [None] * MAX_ROWS, column.name: stored_values(column, MAX_ROWS)}, CellSums(((column.name, bins),))
        )[:-1]
    )


@pytest.mark.parametrize("column", [*COLUMNS, DATE], ids=lambda column: column.name)
def test_values_are_spread_evenly_over_what_is_declared(column: Column) -> None:
    values = stored_values(column, 1_000)
    known = [value for value in values if value is not None]
    assert len(known) == (950 if column.nullable else 1_000)
    if column.kind.numeric:
        unit = 10**column.scale
        assert column.bounds is not None
        lower, upper = (float(bound * unit) for bound in column.bounds)
        assert lower <= min(known) <= max(known) <= upper
        assert math.isclose(sum(known) / len(known), (lower + upper) / 2, rel_tol=0.01)
    else:
        counts = [known.count(value) for value in set(known)]
        assert len(counts) == (len(column.categories) or 2)
        assert max(counts) - min(counts) <= 1


def test_columns_do_not_follow_from_one_another() -> None:
    x, y = (stored_values(replace(REAL, name=name, nullable=False), 1_000) for name in ("x", "y"))
    covariance = sum((a - 47.5) * (b - 47.5) for a, b in zip(x, y, strict=True)) / 1_000
    assert abs(covariance) < 0.1 * 35**2 / 12
    assert x != y


@pytest.mark.parametrize(
    "bounds", [(mpq("0.2"), mpq("0.7")), (mpq(-(10**100)), mpq(10**100)), (mpq(10**50), mpq(10**50) + 5)]
)
def test_bounds_that_no_whole_number_is_within_are_made_up_too(bounds: Any) -> None:
    column = replace(INTEGER, bounds=bounds, nullable=False)
    found = MadeUpTable({"integer": column}, 2).answer(ColumnSums("integer", codes_for(column, None)))
    assert isinstance(found, Moments)
    assert 0 <= found.total <= 2 * codes_for(column, None).steps
