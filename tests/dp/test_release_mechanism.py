"""One statistic at one ε, in the statistic's units."""

from collections.abc import Callable
from typing import Any

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from app.dp.errors import AccuracyTrivial
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.planning import UNIT
from app.dp.numbers.exact import to_nearest_double
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import Total

COLUMNS = {
    "mass": Column("mass", Kind.INTEGER, (mpq(2000), mpq(7000))),
    "bill": Column("bill", Kind.REAL, (mpq(30), mpq(65))),
    "far": Column("far", Kind.REAL, (mpq("1.7e15"), mpq("1.7e15") + 1)),
    "alive": Column("alive", Kind.BOOLEAN),
}
GAMMA = ALPHA = mpq(1, 20)
SPECS: list[dict[str, Any]] = [
    {"kind": "mean", "column": "mass"},
    {"kind": "variance", "column": "bill"},
    {"kind": "covariance", "columns": ["mass", "bill"]},
    {"kind": "histogram", "column": "mass", "bins": 10},
    {"kind": "histogram", "column": "alive"},
]


def test_the_documented_example() -> None:
    mechanism = Mechanism.for_epsilon(build(SPECS[0], COLUMNS, 344, 1), mpq(1, 2), GAMMA, 0)
    delta, parameters = mechanism.statistic.sensitivity, mechanism.parameters
    assert to_nearest_double(delta) == 14.534883720930232
    assert to_nearest_double(mechanism.radius(ALPHA)) == pytest.approx(116.1550079521509, rel=1e-14)
    assert to_nearest_double(mechanism.tight_radius(ALPHA)) == pytest.approx(113.59147549669309, rel=1e-14)
    assert to_nearest_double(delta * parameters.bound) == pytest.approx(2703.2402484624417, rel=1e-14)
    assert to_nearest_double(delta * parameters.scale) == pytest.approx(29.06976744186047, rel=1e-14)
    assert to_nearest_double(delta * parameters.grid) == pytest.approx(58.13953488372093, rel=1e-14)
    assert to_nearest_double(mechanism.resolution) == pytest.approx(4.6e-13, rel=0.02)
    assert mechanism.cliff() == mpq("0.500000001")


def test_a_release_is_on_the_grid_around_the_centre(seeded_bits: Callable[[int], Any]) -> None:
    statistic = build({"kind": "mean", "column": "mass"}, COLUMNS, 344, 1)
    mechanism = Mechanism.for_epsilon(statistic, mpq(1, 2), GAMMA, 0)
    answer = Total(344, 344 * 2201)
    bits = seeded_bits(1)
    for _ in range(50):
        (value,) = mechanism.draw(answer, bits)
        assert abs(value - 4201) < 1000
        assert ((value - 4500) / statistic.sensitivity / mechanism.parameters.grid).denominator == 1


def test_counts_are_whole_numbers_where_the_grid_is(seeded_bits: Callable[[int], Any]) -> None:
    mechanism = Mechanism.for_epsilon(build(SPECS[4], COLUMNS, 345, 1), mpq(1), GAMMA, 0)
    assert mechanism.parameters.epsilon == mpq(1, 2)
    bits = seeded_bits(1)
    for _ in range(50):
        released = mechanism.draw((101, 200, 44), bits)
        assert [value.denominator for value in released] == [1, 1, 1]
    assert len(bits.calls) == 150


def test_all_bins_at_once_use_a_smaller_alpha() -> None:
    mechanism = Mechanism.for_epsilon(build(SPECS[4], COLUMNS, 345, 1), mpq(1), GAMMA, 0)
    assert mechanism.simultaneous_radius(ALPHA) == mechanism.radius(ALPHA / 3) > mechanism.radius(ALPHA)


def test_resolution_covers_the_double_that_is_reported() -> None:
    # Half an ulp at 1.7e15 is 1/8, more than the radius.
    mechanism = Mechanism.for_epsilon(build({"kind": "mean", "column": "far"}, COLUMNS, 1000, 1), mpq(1), GAMMA, 0)
    assert mechanism.radius(ALPHA) < mpq(1, 8) < mechanism.resolution
    value = mechanism.statistic.centre + mpq(1, 9)
    assert abs(mpq(to_nearest_double(value)) - value) <= mechanism.resolution


@given(
    spec=st.sampled_from(SPECS),
    n=st.integers(2, 10**9),
    rows_per_unit=st.sampled_from([1, 3]),
    share=st.builds(lambda digits, e: mpq(digits, 1000) / 10**e, st.integers(1, 999), st.integers(0, 12)),
    alpha=st.builds(mpq, st.integers(1, 999), st.just(1000)),
    refinement=st.integers(0, 30),
)
def test_the_cheapest_mechanism_is_accurate_enough_and_a_unit_less_is_not(
    *, spec: dict[str, Any], n: int, rows_per_unit: int, share: mpq, alpha: mpq, refinement: int
) -> None:
    statistic = build(spec, COLUMNS, n, rows_per_unit)
    accuracy = share * (statistic.upper - statistic.lower)
    mechanism = Mechanism.for_accuracy(statistic, accuracy, alpha, GAMMA, refinement)
    assert mechanism.tight_radius(alpha) <= mechanism.radius(alpha) <= accuracy
    if mechanism.epsilon > UNIT:
        cheaper = Mechanism.for_epsilon(statistic, mechanism.epsilon - UNIT, GAMMA, refinement)
        assert cheaper.radius(alpha) > accuracy


@pytest.mark.parametrize("spec", SPECS)
def test_an_accuracy_of_the_whole_range_is_trivial(spec: dict[str, Any]) -> None:
    statistic = build(spec, COLUMNS, 345, 1)
    width = statistic.upper - statistic.lower
    with pytest.raises(AccuracyTrivial):
        Mechanism.for_accuracy(statistic, width, ALPHA, GAMMA, 0)
    assert Mechanism.for_accuracy(statistic, width - mpq(1, 10**9), ALPHA, GAMMA, 0).epsilon > 0
