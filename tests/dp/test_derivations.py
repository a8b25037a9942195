"""What follows from releases: interval arithmetic at its corners, monotone counts, quantiles by definition."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import pytest
from gmpy2 import mpq
from hypothesis import given, settings
from hypothesis import strategies as st

from app.dp.derived import derive, from_bins
from app.dp.derived.base import KnownComponent
from app.dp.derived.correlation_interval import divide_ranges
from app.dp.derived.from_bins import fit_ascending
from app.dp.derived.interval_arithmetic import (
    UNKNOWN,
    Range,
    divide,
    ends,
    multiply,
    square_root,
    square_root_down,
    square_root_up,
    subtract,
)
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind

COLUMNS = {
    "x": Column("x", Kind.INTEGER, (mpq(0), mpq(10))),
    "y": Column("y", Kind.REAL, (mpq(-1), mpq(1))),
    "b": Column("b", Kind.BOOLEAN),
    "k": Column("k", Kind.CATEGORY, categories=("u", "v")),
}
PAIR = {"columns": ("x", "y")}
quick = settings(max_examples=80)
rationals = st.fractions(min_value=-20, max_value=20, max_denominator=12).map(mpq)
ranges = st.tuples(rationals, rationals).map(lambda pair: Range(min(pair), max(pair)))


def between(known: Range, share: mpq) -> mpq:
    low, high = ends(known)
    return low + (high - low) * share


def holds(known: Range, number: mpq) -> bool:
    return (known.lower is None or known.lower <= number) and (known.upper is None or number <= known.upper)


shares = st.sampled_from([mpq(0), mpq(1, 3), mpq(1, 2), mpq(1)])


@quick
@given(ranges, ranges, shares, shares)
def test_arithmetic_holds_whatever_is_in_the_ranges(x: Range, y: Range, s: mpq, t: mpq) -> None:
    p, q = between(x, s), between(y, t)
    assert holds(subtract(x, y), p - q)
    assert holds(multiply(x, y), p * q)
    positive = y.cut(mpq(0), mpq(20))
    q = between(positive, t)
    if q > 0:
        assert holds(divide(x, positive), p / q)
        low, high = ends(square_root(positive))
        assert low**2 <= ends(positive)[0] <= ends(positive)[1] <= high**2
        assert square_root_down(q) ** 2 <= q <= square_root_up(q) ** 2


@quick
@given(ranges, ranges)
def test_arithmetic_is_tight(x: Range, y: Range) -> None:
    corners = [p * q for p in ends(x) for q in ends(y)]
    assert multiply(x, y) == Range(min(corners), max(corners))
    if ends(y)[0] > 0:
        corners = [p / q for p in ends(x) for q in ends(y)]
        assert divide(x, y) == Range(min(corners), max(corners))
    else:
        assert divide(x, y.cut(mpq(0), mpq(20))) == UNKNOWN


PLAIN = Mechanism.for_epsilon(build({"kind": "mean", "column": "x"}, COLUMNS, 10, 1), mpq(10), mpq(1, 20), 10)
"""Of a mean with Δ = 1 and noise of scale 1/10."""


def one(value: Any, low: Any, high: Any, mechanism: Mechanism = PLAIN) -> KnownComponent:
    return KnownComponent((mpq(value),), (mpq(value),), (Range(mpq(low), mpq(high)),), mechanism, mpq(1, 40))


def test_a_standard_deviation_is_zero_where_the_variance_is_negative() -> None:
    derived = derive({"kind": "standard_deviation", "column": "x"}, COLUMNS, 10, 1)
    estimate: Any = derived.estimates({"variance": one(0, 0, 4)})["standard_deviation"]
    assert (estimate.value, estimate.range) == (0, Range(mpq(0), mpq(2)))
    estimate = derived.estimates({"variance": one(2, 1, 3)})["standard_deviation"]
    assert (estimate.range.lower, estimate.value**2 <= 2 <= (estimate.value + mpq(1, 2**200)) ** 2) == (1, True)
    assert estimate.range.upper**2 >= 3


def test_a_mean_of_some_rows() -> None:
    spec = {"kind": "mean", "column": "y", "where": {"k": {"one_of": ["u"]}}}
    derived = derive(spec, COLUMNS, 10, 1)
    assert list(derived.components) == ["sum", "count"]
    assert derived.components["sum"]["centred"] is True
    estimate: Any = derived.estimates({"sum": one(2, 1, 3), "count": one(4, 2, 5)})["mean"]
    low, high = ends(estimate.range)
    assert estimate.value == mpq(1, 2)
    # Narrower than what both radii allow together, at half of α each.
    radius = PLAIN.radius(mpq(1, 40))
    assert (2 - radius) / (4 + radius) < low < mpq(1, 2) < high < (2 + radius) / (4 - radius)
    for count in (one(0.2, 0, 5), one(0, 0, 2), one(-1, 0, 2)):
        estimate = derived.estimates({"sum": one(2, 1, 3), "count": count})["mean"]
        assert estimate.range.upper == 1
        assert (estimate.value is None) == (count.values <= (0,))


def over(low: Any, high: Any) -> Range:
    return Range(mpq(low), mpq(high))


def test_a_correlation_by_ranges_and_its_sign() -> None:
    low, high = ends(divide_ranges(over(1, 3), over(1, 16), over(4, 9)))
    assert (float(low), high) == (pytest.approx(1 / 12), 1)
    # A variance that may be 0 leaves the sign of the covariance, and no more.
    assert divide_ranges(over(1, 3), over(0, 16), over(0, 1)) == over(mpq(1, 4), 1)
    assert divide_ranges(over(-3, -1), over(0, 16), over(0, 1)) == over(-1, mpq(-1, 4))
    assert divide_ranges(over(-1, 3), over(0, 16), over(0, 1)) == over(-1, 1)
    assert divide_ranges(over(100, 300), over(1, 1), over(1, 1)) == over(1, 1)
    # Rounded roots may not shut the truth out.
    low, high = ends(divide_ranges(over(2, 2), over(2, 2), over(3, 3)))
    assert low**2 * 6 <= 4 <= high**2 * 6


def test_a_correlation() -> None:
    derived = derive({"kind": "correlation", **PAIR}, COLUMNS, 10, 1)
    assert list(derived.components) == ["covariance", "variance_x", "variance_y"]

    def correlation(*known: KnownComponent) -> Any:
        return derived.estimates(dict(zip(derived.components, known, strict=True)))["correlation"]

    radius = PLAIN.radius(mpq(1, 40))
    known = [one(value, value - radius, value + radius) for value in (2, 4, 4)]
    estimate = correlation(*known)
    low, high = ends(estimate.range)
    assert estimate.value == pytest.approx(0.5)
    by_ranges = ends(divide_ranges(*(each.ranges[0] for each in known)))
    assert by_ranges[0] < low < estimate.value < high < by_ranges[1]
    assert correlation(one(2, -1, 3), one(0, 0, 16), one(4, 0, 1)).value is None


def test_a_line() -> None:
    derived = derive({"kind": "regression", **PAIR}, COLUMNS, 10, 1)
    roles = ("covariance", "variance_x", "mean_x", "mean_y")
    assert tuple(derived.components) == roles
    known = (one(2, 1, 3), one(4, 2, 8), one(5, 4, 6), one(0, mpq(-1, 2), mpq(1, 2)))
    line: Any = derived.estimates(dict(zip(roles, known, strict=True)))
    low, high = ends(line["slope"].range)
    assert line["slope"].value == mpq(1, 2)
    assert mpq(2, 5) < low < mpq(1, 2) < high < mpq(3, 5)
    least, most = ends(line["intercept"].range)
    assert line["intercept"].value == mpq(-5, 2)
    # The slopes take three quarters of α, and both means the rest together: less than the sum of their radii.
    radius = PLAIN.radius(mpq(1, 40))
    assert -5 * high - radius * (1 + high) < least < -5 * high - radius
    assert -5 * low + radius < most < -5 * low + radius * (1 + high)
    # The public range may put a clamped slope outside of the interval, which is computed without it.
    beyond = known[1]._replace(raw=(mpq(40),))
    line = derived.estimates(dict(zip(roles, (known[0], beyond, *known[2:]), strict=True)))
    for name in ("slope", "intercept"):
        assert ends(line[name].range)[0] <= line[name].value <= ends(line[name].range)[1]
    assert line["slope"].value == line["slope"].range.upper
    line = derived.estimates(dict(zip(roles, (known[0], one(0, 0, 8), *known[2:]), strict=True)))
    assert [line[name] for name in ("slope", "intercept")] == [(None, UNKNOWN)] * 2


def test_shares_and_sums() -> None:
    def estimate(spec: dict[str, Any], known: dict[str, KnownComponent]) -> Any:
        (only,) = derive(spec, COLUMNS, 10, 1).estimates(known).values()
        return only

    assert estimate({"kind": "sum", "column": "x"}, {"mean": one(3, 2, 4)}) == (30, Range(mpq(20), mpq(40)))
    share = {"kind": "proportion", "column": "k", "category": "u"}
    assert estimate(share, {"count": one(3, 2, 4)}) == (mpq(3, 10), Range(mpq(1, 5), mpq(2, 5)))
    share = {"kind": "proportion", "column": "b"}
    assert estimate(share, {"mean": one(mpq(1, 2), 0, 1)}) == (mpq(1, 2), Range(mpq(0), mpq(1)))


@quick
@given(st.lists(rationals, min_size=1, max_size=8))
def test_the_nearest_ascending_sequence(values: list[mpq]) -> None:
    found = fit_ascending(values)
    assert found == sorted(found)
    assert sum(found) == sum(values)
    assert fit_ascending(found) == found
    # Nearest: the projection's own condition, against every step function, which span the ascending sequences.
    for cut in range(len(values)):
        step = [mpq(i >= cut) for i in range(len(values))]
        away = sum((v - f) * (s - f) for v, f, s in zip(values, found, step, strict=True))
        own = sum((v - f) * f for v, f in zip(values, found, strict=True))
        assert away + own <= 0
        assert own == 0


def histogram_known(counts: Sequence[int], errors: Sequence[int], radius: int, n: int) -> KnownComponent:
    """A release of these counts that is off by `errors`, none of them beyond the radius."""
    raw = tuple(mpq(count + error) for count, error in zip(counts, errors, strict=True))
    values = tuple(min(max(value, mpq(0)), mpq(n)) for value in raw)
    around = tuple(Range(value - radius, value + radius).cut(mpq(0), mpq(n)) for value in values)
    return KnownComponent(raw, values, around, PLAIN, mpq(1, 20))


def estimates_of(spec: dict[str, Any], n: int, known: dict[str, KnownComponent], radius: int) -> Any:
    """What follows where each count is off by a radius at most, and a sum of them by as many radii."""
    everything = len(next(iter(known.values())).raw)

    def errors_below(*_: Any) -> Callable[[int], mpq]:
        return lambda edge: mpq(min(edge, everything - edge) * radius)

    with (
        mock.patch.object(from_bins, "sum_error", lambda _, number, __: mpq(number * radius)),
        mock.patch.object(from_bins.FromHistogram, "errors_below", errors_below),
    ):
        return derive(spec, COLUMNS, n, 1).estimates(known)


@quick
@given(
    st.lists(st.one_of(st.none(), st.integers(-3, 13)), min_size=2, max_size=12),
    st.data(),
    st.integers(0, 3),
    st.sampled_from([3, 5, 10]),
)
def test_cumulative_counts_and_quantiles_hold_the_truth(rows: list[Any], data: Any, radius: int, bins: int) -> None:
    n = len(rows)
    present = sorted(min(max(row, 0), 10) for row in rows if row is not None)
    edges = [mpq(10 * i, bins) for i in range(bins + 1)]
    counts = [sum(edges[i] <= v < edges[i + 1] or (i == bins - 1 and v == 10) for v in present) for i in range(bins)]
    counts.append(n - len(present))
    errors = data.draw(st.lists(st.integers(-radius, radius), min_size=bins + 1, max_size=bins + 1))
    known = {"histogram": histogram_known(counts, errors, radius, n)}
    asked = {"column": "x", "bins": mpq(bins)}
    cumulative = estimates_of({"kind": "cumulative", **asked}, n, known, radius)["cumulative"]
    for i, estimate in enumerate(cumulative):
        assert holds(estimate.range, mpq(sum(counts[: i + 1])))
        assert holds(estimate.range, estimate.value)
    for member in (lambda e: e.value, lambda e: e.range.lower, lambda e: e.range.upper):
        found = [member(estimate) for estimate in cumulative]
        assert found == sorted(found)
    probabilities = [mpq(1, 100), mpq(1, 4), mpq(1, 2), mpq(99, 100)]
    spec = {"kind": "quantile", **asked, "probabilities": probabilities}
    quantiles = estimates_of(spec, n, known, radius)["quantile"]
    for probability, estimate in zip(probabilities, quantiles, strict=True):
        assert holds(estimate.range, estimate.value)
        if present:
            assert holds(estimate.range, mpq(present[math.ceil(probability * len(present)) - 1]))
    values = [estimate.value for estimate in quantiles]
    assert values == sorted(values)
    if radius == 0 and present:
        assert all(ends(e.range)[1] - ends(e.range)[0] == edges[1] for e in quantiles)


def test_intervals_of_counts_that_contradict_each_other_are_intervals() -> None:
    """The noise is larger than is said with probability α at most: what is known is wrong then, but has two ends."""
    known = {"histogram": histogram_known([10, 0, 0, 0], [0, -8, 5, -9], 9, 10)}
    cumulative = estimates_of({"kind": "cumulative", "column": "x", "bins": mpq(3)}, 10, known, 0)["cumulative"]
    lowers, uppers = zip(*(ends(each.range) for each in cumulative), strict=True)
    assert list(lowers) == sorted(lowers)
    assert list(uppers) == sorted(uppers)
    assert all(low <= each.value <= high for low, each, high in zip(lowers, cumulative, uppers, strict=True))


def test_a_margin_adds_cells_up() -> None:
    spec: dict[str, Any] = {"kind": "margin", "columns": ("k", "b"), "column": "k"}
    counts = list(range(12))
    n = sum(counts)
    known = {"table": histogram_known(counts, [1, -1] * 6, 2, n)}
    margins = estimates_of(spec, n, known, 2)["margin"]
    assert [each.value for each in margins] == [4, 11, 22, 29]
    for each, truth in zip(margins, (3, 12, 21, 30), strict=True):
        assert holds(each.range, mpq(truth))
    margins = estimates_of(spec | {"column": "b"}, n, known, 2)["margin"]
    for each, truth in zip(margins, (18, 22, 26), strict=True):
        assert holds(each.range, mpq(truth))


@pytest.mark.parametrize("member", ["where", "group_by", "category", "probabilities", "nothing"])
def test_members_of_other_kinds_are_refused(member: str) -> None:
    spec = {"kind": "standard_deviation", "column": "x", member: ["v"]}
    if member == "nothing":
        assert derive(spec, COLUMNS, 10, 1).kind == "standard_deviation"  # the interface knows no such member
        return
    with pytest.raises(InvalidStatistic) as refused:
        derive(spec, COLUMNS, 10, 1)
    assert refused.value.where == member


def test_every_component_is_a_statistic_of_its_own() -> None:
    specs: list[dict[str, Any]] = [
        {"kind": "standard_deviation", "column": "x"},
        {"kind": "correlation", **PAIR, "bounds": ((mpq(0), mpq(5)), None)},
        {"kind": "regression", **PAIR},
        {"kind": "proportion", "where": {"k": {"one_of": ["u"]}}},
        {"kind": "cumulative", "column": "x", "edges": [mpq(0), mpq(1), mpq(10)]},
    ]
    for spec, rows_per_unit in itertools.product(specs, (1, 2)):
        derived = derive(spec, COLUMNS, 10, rows_per_unit)
        assert derived.described["kind"] == spec["kind"]
