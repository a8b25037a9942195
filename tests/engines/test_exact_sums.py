"""Codes and their sums: every integer as Python's exact numbers have it."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from code_cases import CASES, WORST, allowed, bounds_of_reals, whole_or_not
from engine_world import (
    COLUMNS,
    DECIMAL,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    REAL,
    as_parquet,
    documented_code,
    exact_value,
    take_in,
    worst_rows,
)
from gmpy2 import mpq
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from app.dp.table.codes import Codes, codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import ColumnSums, CrossMoments, Moments, PairSums
from app.engines.sql.expressions import code, column
from app.engines.sql.queries import render
from app.engines.storage.tables import Tables
from app.engines.stored_columns import encode_name

# The rounding of the three double operations, in steps; what `Codes.rounding` allows on top of the half step.
DOUBLE_ROUNDING = Fraction(1, 2**19)


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def engine_codes(tables: Tables, values: Sequence[Any], codes: Codes) -> list[int]:
    """The code of each value, as the engine computes it."""
    kind = pa.float64() if codes.kind is Kind.REAL else pa.bool_() if codes.kind is Kind.BOOLEAN else pa.int64()
    query = render(exp.select(code(column("v"), codes)).from_("given"), "duckdb")
    with tables._engine._connection.cursor() as cursor:
        cursor.register("given", pa.table({"v": pa.array(values, kind)}))
        return [row[0] for row in cursor.execute(query).fetchall()]


def check_codes(values: Sequence[Any], found: Sequence[int], codes: Codes) -> None:
    """Each code is the documented one, as near to the exact one as `rounding` says, and none is out of order."""
    for value, q in zip(values, found, strict=True):
        assert q == documented_code(value, codes)
        exact = exact_value(value, codes.kind, codes.scale)
        if exact is None:
            assert q == codes.null_code
            continue
        clamped = min(max(exact, codes.lower), codes.upper)
        assert abs(codes.value(q) - clamped) <= (codes.rounding or 0)
        position = Fraction(*map(int, ((clamped - codes.lower) * codes.steps / codes.width).as_integer_ratio()))
        assert abs(q - position) <= (0 if codes.exact else Fraction(1, 2) + DOUBLE_ROUNDING)
    present = [(exact_value(v, codes.kind, codes.scale), q) for v, q in zip(values, found, strict=True)]
    ordered = sorted(pair for pair in present if pair[0] is not None)
    assert all(before[1] <= after[1] for before, after in pairwise(ordered))


@pytest.mark.parametrize(("declared", "bounds"), CASES, ids=lambda case: getattr(case, "name", None))
def test_sums_of_the_worst_values(shared_tables: Tables, worst: str, declared: Column, bounds: Any) -> None:
    codes = codes_for(declared, bounds)
    expected = [documented_code(value, codes) for value in worst_rows()[declared.name]]
    answer = shared_tables.sums(worst, ColumnSums(declared.name, codes))
    assert answer == Moments(len(expected), sum(expected), sum(q * q for q in expected))
    assert all(type(number) is int for number in answer)


@pytest.mark.parametrize(("declared", "bounds"), CASES, ids=lambda case: getattr(case, "name", None))
def test_each_code_of_the_worst_values(shared_tables: Tables, declared: Column, bounds: Any) -> None:
    codes = codes_for(declared, bounds)
    values = WORST.get(declared.name, [True, False, None])
    check_codes(values, engine_codes(shared_tables, values, codes), codes)


@pytest.mark.slow
def test_sums_of_products_of_the_worst_values(shared_tables: Tables, worst: str) -> None:
    rows = worst_rows()
    for x, x_bounds in CASES[::3]:
        for y, y_bounds in CASES[1::5]:
            x_codes, y_codes = codes_for(x, x_bounds), codes_for(y, y_bounds)
            xs = [documented_code(value, x_codes) for value in rows[x.name]]
            ys = [documented_code(value, y_codes) for value in rows[y.name]]
            products = sum(p * q for p, q in zip(xs, ys, strict=True))
            answer = shared_tables.sums(worst, PairSums(x.name, x_codes, y.name, y_codes))
            assert answer == CrossMoments(len(xs), sum(xs), sum(ys), products)


@pytest.mark.slow
def test_no_value_alone_raises(shared_tables: Tables) -> None:
    # A table of one value is where engines fold constants, and so evaluate branches that no row takes.
    everything = [codes_for(*case) for case in CASES]
    for name, values in WORST.items():
        for value in values[:: 7 if name == "real" else 3]:
            for codes in everything[:: 1 if value is None else 4]:
                if codes.kind.value == name:
                    assert engine_codes(shared_tables, [value] * 2, codes) == [documented_code(value, codes)] * 2


quick = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(
    bounds_of_reals, st.lists(st.one_of(st.none(), st.floats(), st.floats(-2, 2)), min_size=1, max_size=30), st.data()
)
def test_codes_of_any_reals(
    shared_tables: Tables, bounds: tuple[mpq, mpq], values: list[Any], data: st.DataObject
) -> None:
    codes = allowed(REAL, bounds)
    values += data.draw(st.lists(st.floats(float(codes.lower), float(codes.upper)), max_size=30))
    check_codes(values, engine_codes(shared_tables, values, codes), codes)


@quick
@given(st.tuples(whole_or_not, whole_or_not), st.lists(st.integers(INT64_MIN, INT64_MAX), max_size=30), st.data())
@example((mpq(2) ** 62, mpq(2) ** 62 + mpq(2) ** 33), [2**62 + 2**32, 2**62, 2**62 + 1], None)
def test_codes_of_any_whole_numbers(
    shared_tables: Tables, bounds: tuple[mpq, mpq], values: list[Any], data: Any
) -> None:
    decimals = data.draw(st.booleans()) if data else False
    codes = allowed(DECIMAL if decimals else INTEGER, bounds)
    first, last = (
        min(max(math.floor(bound * 10**codes.scale), INT64_MIN + 2), INT64_MAX - 2)
        for bound in (codes.lower, codes.upper)
    )
    values = [None, *range(first - 2, first + 3), *range(last - 2, last + 3), *values]
    values += data.draw(st.lists(st.integers(first, last), max_size=20)) if data else []
    check_codes(values, engine_codes(shared_tables, values, codes), codes)


@pytest.mark.parametrize("null_value", [None, mpq(31), mpq(-5), mpq(10**30), mpq("33.3")])
def test_missing_values_count_as_declared(tables: Tables, null_value: mpq | None) -> None:
    declared = Column("v", Kind.REAL, (mpq(30), mpq(40)), null_value=null_value)
    file_id = take_in(tables, declared, [None, math.nan, 35.0])
    codes = codes_for(declared, None)
    total = 2 * codes.null_code + documented_code(35.0, codes)
    assert tables.sums(file_id, ColumnSums("v", codes))[:2] == (3, total)


@pytest.mark.parametrize("null_value", [None, mpq(0), mpq(1)])
def test_missing_booleans_count_as_declared(tables: Tables, null_value: mpq | None) -> None:
    declared = Column("v", Kind.BOOLEAN, null_value=null_value)
    file_id = take_in(tables, declared, [None, True, False])
    total = 1 + int(null_value or 0)
    assert tables.sums(file_id, ColumnSums("v", codes_for(declared, None))) == Moments(3, total, total)


@pytest.mark.parametrize("values", [[None] * 3, [math.nan] * 3, [math.inf, -math.inf], [0.0, -0.0], [5e-324] * 5000])
def test_tables_of_one_sort(tables: Tables, values: list[Any]) -> None:
    codes = codes_for(REAL, (mpq(0), mpq(10) ** 12))
    expected = [documented_code(value, codes) for value in values]
    answer = tables.sums(take_in(tables, REAL, values), ColumnSums("real", codes))
    assert answer == Moments(len(values), sum(expected), sum(q * q for q in expected))


@pytest.mark.slow
def test_many_row_groups(tables: Tables) -> None:
    n = 300_000
    values = [(i * 7919) % 100_003 for i in range(n)]
    codes = codes_for(INTEGER, (mpq(10), mpq(90_000)))
    expected = [documented_code(value, codes) for value in values]
    answer = tables.sums(take_in(tables, INTEGER, values), ColumnSums("integer", codes))
    assert answer == Moments(n, sum(expected), sum(q * q for q in expected))


def test_nan_is_seen_through_the_statistics_of_a_file(tables: Tables) -> None:
    # Not our own files, which carry none, but one with the least and greatest values that Parquet files usually have.
    path = tables._path("foreign")
    path.write_bytes(as_parquet(pa.table({encode_name("v"): [1.0, math.nan, 2.0, None]})).getvalue())
    codes = codes_for(Column("v", Kind.REAL, (mpq(0), mpq(1))), None)
    assert tables.sums("foreign", ColumnSums("v", codes)).total == 2 * codes.null_code + 2 * codes.steps


def test_names_that_differ_in_case_and_names_of_any_text(tables: Tables) -> None:
    names = ["a", "A", "filename", 'q"; DROP TABLE x; --', "🐧", "a.b", "x" * 255, "é", "e\u0301", "bin", "$file"]
    declared = [Column(name, Kind.INTEGER, (mpq(0), mpq(100))) for name in names]
    table = pa.table([pa.array([i, i + 1]) for i in range(len(names))], names=names)
    file_id = tables.intake.ingest(as_parquet(table), declared, []).file_id
    for i, each in enumerate(declared):
        assert tables.sums(file_id, ColumnSums(each.name, codes_for(each, None))) == Moments(
            2, 2 * i + 1, i**2 + (i + 1) ** 2
        )


def test_the_worst_rows_are_the_same_in_both_formats(shared_tables: Tables, worst: str) -> None:
    rows = worst_rows()
    stored = [Column(c.name, Kind.INTEGER, c.bounds) if c.kind is Kind.DECIMAL else c for c in COLUMNS]
    kinds: dict[str, Callable[[], pa.DataType]] = {"real": pa.float64, "boolean": pa.bool_, "category": pa.string}
    table = pa.table({name: pa.array(values, kinds.get(name, pa.int64)()) for name, values in rows.items()})
    other = shared_tables.intake.ingest(as_parquet(table), stored, []).file_id
    for declared, bounds in CASES:
        needs = ColumnSums(declared.name, codes_for(declared, bounds))
        assert shared_tables.sums(worst, needs) == shared_tables.sums(other, needs)
