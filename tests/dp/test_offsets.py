"""One number added to many doubles at once, against exact sums rounded one by one."""

import math
from unittest.mock import Mock

import numpy as np
import pytest
from gmpy2 import mpq
from hypothesis import example, given
from hypothesis import strategies as st

from app.dp.numbers import double_offsets
from app.dp.numbers.double_offsets import add_rounding_down, add_rounding_up
from app.dp.numbers.exact import round_down, round_up

SIZE = 1e200
doubles = st.floats(-SIZE, SIZE).map(lambda x: x + 0.0)
close = st.builds(lambda x, e: math.ldexp(x, e) + 0.0, st.integers(-(2**53), 2**53), st.integers(-60, 10))
anything = st.lists(doubles | close, min_size=1, max_size=20)
# A rational, a double, and what is hardly more or less than one: the sum may be a double, nearly one or halfway.
fractions = st.builds(mpq, st.integers(-(10**30), 10**30), st.integers(1, 10**20))
beside = st.builds(
    lambda x, n, e: mpq(x) + mpq(n, 2**e), doubles | close, st.sampled_from((-1, 0, 1)), st.integers(0, 1200)
)


@given(anything, fractions | beside)
@example([1.0, 2.0, -1.0, 0.0, 2.0**53], mpq(1))
@example([1.0, -1.0], mpq(1, 2**53))
@example([1.0, -1.0], mpq(-1, 2**54))
@example([1.0], mpq(-1, 2**54) + mpq(1, 2**300))
@example([0.0, 5e-324, -5e-324], mpq(1, 2**1200))
@example([1.0 + 2.0**-52], mpq(2**53 + 1, 2**106))
@example([-3.0], mpq(3) + mpq(1, 3 * 2**60))
def test_every_sum_is_rounded_as_it_would_be_alone(values: list[float], offset: mpq) -> None:
    array = np.array(values)
    for added, rounded in ((add_rounding_down, round_down), (add_rounding_up, round_up)):
        sums = added(array, offset).tolist()
        assert sums == [rounded(mpq(value) + offset) for value in values]
        assert all(math.copysign(1, total) > 0 for total in sums if total == 0)


def test_few_sums_are_rounded_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Mock(side_effect=round_down)
    monkeypatch.setattr(double_offsets, "round_down", alone)
    values = np.random.default_rng(2).integers(0, 2**40, 100_000) * 2.0**-20
    add_rounding_down(values, mpq(-(3**150), 2**236))
    assert alone.call_count < 100
