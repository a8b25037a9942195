"""Columns with bounds, their worst values, and any bounds: what codes and their sums are tested with."""

from typing import Any

from engine_world import (
    BOOLEAN,
    DECIMAL,
    DECIMAL_BOUNDS,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    INTEGER_BOUNDS,
    REAL,
    REAL_BOUNDS,
    worst_decimals,
    worst_integers,
    worst_reals,
)
from gmpy2 import mpq
from hypothesis import assume
from hypothesis import strategies as st

from app.dp.errors import InvalidStatistic
from app.dp.table.codes import Codes, codes_for
from app.dp.table.columns import Column

CASES = [
    *((REAL, bounds) for bounds in REAL_BOUNDS),
    *((INTEGER, bounds) for bounds in INTEGER_BOUNDS),
    *((DECIMAL, bounds) for bounds in DECIMAL_BOUNDS),
    (BOOLEAN, None),
]
WORST: dict[str, list[Any]] = {"real": worst_reals(), "integer": worst_integers(), "decimal": worst_decimals()}
bounds_of_reals = st.tuples(
    st.floats(-1e100, 1e100).map(mpq),
    st.floats(-1e100, 1e100).map(mpq),
)
whole_or_not = st.one_of(
    st.integers(INT64_MIN - 10, INT64_MAX + 10).map(mpq),
    st.integers(-20, 20).map(mpq),
    st.builds(mpq, st.integers(-(10**6), 10**6), st.integers(1, 10**4)),
    st.integers(-(10**100), 10**100).map(mpq),
)


def allowed(declared: Column, bounds: tuple[mpq, mpq]) -> Codes:
    """Return the codes of a column at these bounds, or leave out an example with bounds that are refused."""
    try:
        return codes_for(declared, (min(bounds), max(bounds)))
    except InvalidStatistic:
        assume(condition=False)
        raise
