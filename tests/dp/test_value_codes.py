"""Codes: monotone, in range, exact where promised, and never further from the value than `rounding` says."""

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from app.dp.errors import InvalidStatistic
from app.dp.table.codes import MAX_STEPS, Codes, codes_for
from app.dp.table.columns import Column, Kind

INTEGER = Column("i", Kind.INTEGER, (mpq(2000), mpq(7000)))
REAL = Column("r", Kind.REAL, (mpq(30), mpq(65)))
DECIMAL = Column("d", Kind.DECIMAL, (mpq("-0.5"), mpq("99.95")), scale=2)
BOOLEAN = Column("b", Kind.BOOLEAN)

WRITTEN = st.builds(lambda digits, e: mpq(digits, 10**e), st.integers(-(10**12), 10**12), st.integers(0, 9))
BOUNDS = st.tuples(WRITTEN, WRITTEN).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: tuple(sorted(pair)))
NUMERIC = st.sampled_from([INTEGER, REAL, DECIMAL])


@given(NUMERIC, BOUNDS, WRITTEN, WRITTEN)
def test_codes_are_monotone_and_in_range(column: Column, bounds: tuple[mpq, mpq], v: mpq, w: mpq) -> None:
    codes = codes_for(column, bounds)
    low, high = sorted((v, w))
    assert 0 <= codes.code(low) <= codes.code(high) <= codes.steps <= MAX_STEPS
    assert codes.code(codes.lower) == codes.code(codes.lower - 1) == 0
    assert codes.code(codes.upper) == codes.code(codes.upper + 1) == codes.steps
    assert 0 <= codes.null_code <= codes.steps


@given(NUMERIC, BOUNDS, WRITTEN)
def test_a_code_is_as_near_as_promised(column: Column, bounds: tuple[mpq, mpq], v: mpq) -> None:
    codes = codes_for(column, bounds)
    if column.kind is not Kind.REAL:
        v = mpq(round(v * 10**codes.scale), 10**codes.scale)  # what such a column can hold
    clamped = min(max(v, codes.lower), codes.upper)
    assert abs(codes.value(codes.code(v)) - clamped) <= codes.rounding
    assert codes.exact == (codes.rounding == 0)


@given(st.integers(-(10**9), 10**9), st.integers(1, MAX_STEPS), st.integers(-(10**10), 10**10))
def test_whole_bounds_are_exact(lower: int, width: int, v: int) -> None:
    codes = codes_for(INTEGER, (mpq(lower), mpq(lower + width)))
    assert codes.exact
    assert codes.steps == width
    assert codes.value(codes.code(mpq(v))) == min(max(v, lower), lower + width)


@pytest.mark.parametrize(
    ("column", "bounds", "steps", "exact"),
    [
        (INTEGER, None, 5000, True),
        (INTEGER, (mpq(0), mpq(2**31)), 2**31, True),
        (INTEGER, (mpq(0), mpq(2**31 + 1)), 2**31, False),
        (INTEGER, (mpq(1, 2), mpq(2**31) + mpq(1, 2)), 2**31, False),
        (INTEGER, (mpq(1, 2), mpq(11, 2)), 2**31, False),
        (DECIMAL, None, 10045, True),
        (DECIMAL, (mpq("0.005"), mpq("1.005")), 2**31, False),
        (REAL, None, 2**31, False),
        (BOOLEAN, None, 1, True),
    ],
)
def test_how_many_steps(column: Column, bounds: tuple[mpq, mpq] | None, steps: int, exact: bool) -> None:  # noqa: FBT001
    codes = codes_for(column, bounds)
    assert (codes.steps, codes.exact) == (steps, exact)


def test_rounding_of_inexact_codes_allows_for_the_engines_doubles() -> None:
    codes = codes_for(REAL, None)
    assert codes.rounding == mpq(35, 2**32) * (1 + mpq(1, 2**18))


def test_halves_round_up() -> None:
    codes = Codes(Kind.REAL, mpq(0), mpq(2), scale=0, steps=2, null_code=1)
    assert [codes.code(mpq(v, 4)) for v in (-4, 1, 2, 3, 5, 6, 7, 9)] == [0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("column", "bounds", "null_code"),
    [
        (INTEGER, None, 2500),
        (INTEGER, (mpq(0), mpq(5)), 3),  # ⌊(K + 1)/2⌋
        (Column("i", Kind.INTEGER, (mpq(0), mpq(10)), null_value=mpq(3)), None, 3),
        (Column("i", Kind.INTEGER, (mpq(0), mpq(10)), null_value=mpq(3)), (mpq(5), mpq(9)), 0),  # clamped
        (REAL, None, 2**30),
        (BOOLEAN, None, 0),
        (Column("b", Kind.BOOLEAN, null_value=mpq(1)), None, 1),
        (Column("b", Kind.BOOLEAN, null_value=mpq(0)), None, 0),
    ],
)
def test_a_missing_value_has_a_declared_code(column: Column, bounds: tuple[mpq, mpq] | None, null_code: int) -> None:
    codes = codes_for(column, bounds)
    assert codes.null_code == codes.code(None) == null_code


def test_real_bounds_are_the_nearest_doubles() -> None:
    codes = codes_for(REAL, (mpq("0.1"), mpq("0.3")))
    assert (codes.lower, codes.upper) == (mpq(0.1), mpq(0.3))
    assert codes == codes_for(REAL, (mpq("0.1000000000000000000001"), mpq("0.3")))
    exact = codes_for(DECIMAL, (mpq("0.1"), mpq("0.3")))
    assert (exact.lower, exact.upper) == (mpq(1, 10), mpq(3, 10))


@pytest.mark.parametrize(
    ("column", "bounds"),
    [
        (INTEGER, (mpq(5), mpq(5))),
        (INTEGER, (mpq(6), mpq(5))),
        (INTEGER, (mpq(0), mpq(10) ** 101)),
        (REAL, (mpq(0), mpq(1, 10**101))),
        (REAL, (mpq(2**53), mpq(2**53) + mpq(1, 2))),
        (BOOLEAN, (mpq(0), mpq(1))),
        (Column("n", Kind.REAL), None),
    ],
)
def test_impossible_bounds_are_refused_where_they_are(column: Column, bounds: tuple[mpq, mpq] | None) -> None:
    with pytest.raises(InvalidStatistic) as refusal:
        codes_for(column, bounds, "bounds.1")
    assert refusal.value.where == "bounds.1"


def test_the_widest_and_the_narrowest_bounds_are_allowed() -> None:
    assert codes_for(INTEGER, (-(mpq(10) ** 100), mpq(10) ** 100)).steps == 2**31
    assert codes_for(REAL, (mpq(0), mpq(1, 10**100))).steps == 2**31
