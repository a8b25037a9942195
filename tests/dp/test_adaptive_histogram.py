"""Adaptive histograms: what a person can change, what the quantiles' intervals cover, and how narrow they are."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import pytest
from exact_errors import lattice_errors
from gmpy2 import mpq

from app.dp.derived import adaptive_quantile, derive
from app.dp.derived.base import Estimate, KnownComponent
from app.dp.derived.interval_arithmetic import ends
from app.dp.derived.quantile import Quantile
from app.dp.mechanism.equal_noise_sums import noise_sum_quantile, one_sided_sum_radius
from app.dp.mechanism.mechanism import AUTO, Mechanism
from app.dp.mechanism.parameters import derive_parameters
from app.dp.statistics import build
from app.dp.statistics.adaptive_histogram import AdaptiveHistogram
from app.dp.statistics.fine_cells import estimate_below
from app.dp.table.columns import Column, Kind

HALF, QUARTERS = (mpq(1, 2),), (mpq(1, 4), mpq(1, 2), mpq(3, 4))
GAMMA = mpq(1, 20)
Counted = tuple[mpq, mpq]
"""An exact count, and the sensitivity by which it is released."""


def column(bins: int, *, nullable: bool = False) -> dict[str, Column]:
    return {"x": Column("x", Kind.INTEGER, (mpq(0), mpq(bins)), nullable=nullable)}


def asked(bins: int, probabilities: Sequence[mpq], **more: Any) -> dict[str, Any]:
    return {"kind": "quantile", "column": "x", "bins": mpq(bins), "probabilities": probabilities, **more}


def adaptive(
    bins: int, probabilities: Sequence[mpq], n: int, c: int = 1, *, nullable: bool = False
) -> AdaptiveHistogram:
    spec = asked(bins, probabilities) | {"kind": "adaptive_histogram"}
    return cast("AdaptiveHistogram", build(spec, column(bins, nullable=nullable), n, c))


def recorder(counted: AdaptiveHistogram, given: Sequence[mpq], record: list[Counted]) -> Callable[..., mpq]:
    """Return a function that releases the given numbers, and then the exact ones, and records what it is asked for."""
    numbers = iter(given)

    def release(count: mpq, unit: mpq | None = None) -> mpq:
        record.append((count, counted.sensitivity if unit is None else unit))
        return next(numbers, count)

    return release


def coarse_releases(counted: AdaptiveHistogram, n: int) -> Iterator[tuple[mpq, ...]]:
    """Some coarse counts that may be released; they lead to different fine cells."""
    return itertools.product((mpq(-n), mpq(0), mpq(n, 2), mpq(n)), repeat=counted.coarse_counts)


@pytest.mark.slow
@pytest.mark.parametrize("c", [1, 2, 3])
@pytest.mark.parametrize("probabilities", [HALF, (mpq(1, 5),), QUARTERS])
def test_one_person_changes_no_more_than_is_paid_for_whatever_was_released(
    c: int, probabilities: tuple[mpq, ...]
) -> None:
    """All tables of three rows against all that differ in c of them: each row has a bin, or no value (the last one)."""
    n, bins = 3, 3
    counted = adaptive(bins, probabilities, n, c, nullable=True)
    tables = list(itertools.product(range(bins + 1), repeat=n))
    answers = {table: tuple(map(table.count, range(bins + 1))) for table in tables}
    neighbours = {
        (answers[table], answers[other])
        for table, other in itertools.product(tables, repeat=2)
        if sum(a != b for a, b in zip(table, other, strict=True)) <= c
    }
    greatest = mpq(0)
    for released in itertools.islice(coarse_releases(counted, n), 0, None, 5):
        records: dict[tuple[int, ...], list[Counted]] = {}
        for answer in set(answers.values()):
            counted.search(answer, mpq(1), recorder(counted, released, records.setdefault(answer, [])))
        for answer, other in neighbours:
            pairs = zip(records[answer], records[other], strict=True)
            greatest = max(greatest, sum(abs(a - b) / unit for (a, unit), (b, _) in pairs))
    assert greatest == counted.mechanisms == 3 * c


@pytest.mark.parametrize("c", [1, 2])
def test_the_parts_of_epsilon_make_the_whole(c: int) -> None:
    """A coarse count of Δ = 2 and a fine one of Δ = 1, of which c rows change 2c in total."""
    counted = adaptive(200, HALF, 1000, c)
    mechanism = Mechanism.for_epsilon(counted, mpq(1, 50), GAMMA, AUTO)
    each = mechanism.parameters.epsilon
    assert 2 * c * each / 2 + 2 * c * each == mechanism.epsilon == mpq(1, 50)
    assert counted.bins.count == counted.components == 32 + 19


def test_every_row_is_counted_once_in_each_step() -> None:
    """Rows without a value count as p below each edge of the quantile at p."""
    n, answer = 100, (10, 20, 5, 25, 0, 0, 20, 5, 15)
    counted = adaptive(8, QUARTERS, n, nullable=True)
    record: list[Counted] = []
    released = counted.search(answer, mpq(1), recorder(counted, (), record))
    assert [count for count, _ in record] == released == list(counted.values(answer))
    coarse, fine = released[: counted.coarse_counts], released[counted.coarse_counts :]
    assert (sum(coarse), sum(fine), coarse[-1]) == (n, n, 15)
    cells = counted.choose_cells(released, mpq(1))
    for i, p in enumerate(QUARTERS):
        for place in cells.region(i):
            assert sum(fine[:place]) == sum(answer[: cells.edges[place]]) + p * 15


def miss_probability(
    probabilities: tuple[mpq, ...], answer: tuple[int, ...], coarse: Sequence[mpq], alpha: mpq
) -> float:
    """With which probability some interval misses its quantile, over all fine counts, given the coarse ones.

    Releases that are too rare to be looked at count as misses.
    """
    bins, n = len(answer) - 1, sum(answer)
    quantile = derive(asked(bins, probabilities, method="adaptive"), column(bins, nullable=True), n, 1)
    assert isinstance(quantile, Quantile)
    counted = cast("AdaptiveHistogram", quantile.search)
    mechanism = Mechanism.for_epsilon(counted, mpq(4), GAMMA, AUTO)
    values = [i for i, count in enumerate(answer[:-1]) for _ in range(count)]
    truths = [values[math.ceil(p * len(values)) - 1] for p in probabilities]
    scale = counted.sensitivity * mechanism.parameters.scale
    exact = counted.search(answer, scale, recorder(counted, coarse, []))
    missed = seen = 0.0
    for errors in itertools.product(lattice_errors(mechanism, 3e-3), repeat=counted.fine_cells):
        fine = [count + error for count, (error, _) in zip(exact[len(coarse) :], errors, strict=True)]
        released = (*coarse, *fine)
        probability = math.prod(mass for _, mass in errors)
        estimates = quantile.estimates({"search": KnownComponent(released, released, (), mechanism, alpha)})["quantile"]
        seen += probability
        missed += probability * any(not covers(each, truth) for each, truth in zip(estimates, truths, strict=True))
    return missed + 1 - seen


def covers(estimate: Estimate, truth: int) -> bool:
    lower, upper = ends(estimate.range)
    return bool(lower <= truth < upper)


WORST = [
    (HALF, (3, 0, 3, 0)),
    (HALF, (3, 2, 0, 3)),
    ((mpq(1, 5),), (1, 3, 6, 0)),
    ((mpq(4, 5),), (4, 3, 1, 2)),
    ((mpq(1, 3), mpq(2, 3)), (2, 2, 2, 0)),
    ((mpq(1, 3), mpq(2, 3)), (1, 2, 3, 3)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("probabilities", "answer"), WORST)
@pytest.mark.parametrize(
    ("coarse", "alpha"),
    [
        ((2, 2, 2, 0), mpq(1, 5)),
        ((0, 0, 9, 0), mpq(1, 2)),
        ((9, -3, 0, 4), mpq(1, 5)),
        ((2, 2, 2, 0), mpq(1, 2)),
        ((0, 0, 9, 0), mpq(1, 5)),
        ((9, -3, 0, 4), mpq(1, 2)),
    ],
)
def test_intervals_hold_as_often_as_they_say(
    probabilities: tuple[mpq, ...], answer: tuple[int, ...], coarse: tuple[int, ...], alpha: mpq
) -> None:
    """Exactly, over all fine counts, whatever the coarse ones were."""
    assert miss_probability(probabilities, answer, tuple(map(mpq, coarse)), alpha) <= alpha


@pytest.mark.slow
def test_without_the_reach_they_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test can fail: the noise matters for these tables."""
    monkeypatch.setattr(adaptive_quantile, "one_sided_sum_radius", lambda *_: mpq(0))
    assert max(miss_probability(p, answer, tuple(map(mpq, (2, 2, 2, 0))), mpq(1, 5)) for p, answer in WORST) > 0.2


def test_the_tail_of_a_sum_of_noises() -> None:
    """One and two noises have a simple tail; more are compared with sums of rounded noises, off by half a grid each."""
    alpha = mpq(1, 40)
    assert float(noise_sum_quantile(1, alpha)) == pytest.approx(math.log(20))
    two = float(noise_sum_quantile(2, alpha))
    assert (0.5 + two / 4) * math.exp(-two) == pytest.approx(1 / 40)
    rho = 0.05
    reach = np.abs(np.arange(-800, 801))
    rounded = np.where(reach, math.sinh(rho / 2) * np.exp(-rho * reach), -math.expm1(-rho / 2))
    sums = rounded
    for count in range(2, 7):
        sums = np.convolve(sums, rounded)
        at = np.arange(sums.size) - sums.size // 2
        x = float(noise_sum_quantile(count, alpha)) / rho
        outside, inside = (float(sums[at > x + side * count / 2].sum()) for side in (1, -1))
        assert outside < 1 / 40 < inside


def test_a_sum_of_released_numbers_has_room_for_rounding_and_clamps() -> None:
    parameters = derive_parameters(mpq(1, 10), mpq(500), grid_refinement="whole")
    for count in (1, 2, 10):
        noise = parameters.scale * noise_sum_quantile(count, mpq(1, 40))
        assert one_sided_sum_radius(parameters, count, mpq(1, 40)) > noise + count * parameters.grid / 2
    assert one_sided_sum_radius(parameters, 0, mpq(1, 40)) == 0


def test_estimated_counts_ascend_between_zero_and_the_total() -> None:
    assert estimate_below([mpq(5), mpq(-3), mpq(9), mpq(1)], mpq(10)) == sorted(
        estimate_below([mpq(5), mpq(-3), mpq(9), mpq(1)], mpq(10))
    )
    for counts in ([mpq(-9)] * 3, [mpq(90)] * 3):
        estimated = estimate_below(counts, mpq(10))
        assert (estimated[0], estimated[-1]) == (0, 10)
        assert all(0 <= each <= 10 for each in estimated)


def shares(shape: str, bins: int) -> list[float]:
    """Which share of the rows is below each edge; the last one is log-normal within bounds that are far too wide."""
    places = [i / bins for i in range(1, bins)]
    below = {
        "even": lambda x: x,
        "bell": lambda x: (1 + math.erf((x - 0.45) / 0.15 / math.sqrt(2))) / 2,
        "log-normal": lambda x: (1 + math.erf((math.log(x * 150_000) - math.log(30_000)) / 0.8 / math.sqrt(2))) / 2,
    }[shape]
    return [0.0, *map(below, places), 1.0]


def ranks_of_ends(
    method: str, shape: str, bins: int, epsilon: mpq, bits: Any, draws: int, n: int = 50_000
) -> list[tuple[float, float]]:
    """How many ranks, as a part of n, the ends of a median's interval are away from it, for each of some releases."""
    below = [round(share * n) for share in shares(shape, bins)]
    answer = tuple(b - a for a, b in itertools.pairwise(below))
    quantile = derive(asked(bins, HALF, method=method), column(bins), n, 1)
    ((role, spec),) = quantile.components.items()
    mechanism = Mechanism.for_epsilon(build(spec, column(bins), n, 1), epsilon, GAMMA, AUTO)
    found = []
    for _ in range(draws):
        released = tuple(mechanism.draw(answer, bits))
        known = KnownComponent(released, released, (), mechanism, mpq(1, 20))
        (each,) = quantile.estimates({role: known})["quantile"]
        lower, upper = (int(end) for end in ends(each.range))
        found.append((0.5 - below[lower] / n, below[upper] / n - 0.5))
    return found


@pytest.mark.parametrize("shape", ["even", "bell", "log-normal"])
@pytest.mark.parametrize("bins", [200, 1000])
def test_both_ends_of_a_median_are_within_five_percent_of_the_ranks(shape: str, bins: int, seeded_bits: Any) -> None:
    """ε = 0.02 and 50,000 rows; half of the width is less than three quarters of that of a search."""
    found = ranks_of_ends("adaptive", shape, bins, mpq(1, 50), seeded_bits(5), 40)
    assert sum(max(ends_of) <= 0.05 for ends_of in found) >= 36
    searched = ranks_of_ends("search", shape, bins, mpq(1, 50), seeded_bits(5), 20)
    assert mean_width(found) < 0.75 * mean_width(searched)


def mean_width(found: Sequence[tuple[float, float]]) -> float:
    return sum(map(sum, found)) / len(found)


def test_quantiles_ascend_and_are_within_their_intervals(seeded_bits: Any) -> None:
    """In the order asked for, each as often as asked for; also where nothing is certain, and with hardly any rows."""
    wanted = (mpq(9, 10), mpq(1, 10), mpq(1, 2), mpq(1, 2))
    for n, answer in ((2, (1, 0, 1, 0)), (40, (0, 39, 0, 1)), (1000, (100, 400, 300, 200)), (9, (0, 0, 0, 9))):
        quantile = derive(asked(3, wanted, method="adaptive"), column(3, nullable=True), n, 2)
        spec = quantile.components["search"]
        for grid_refinement in (0, AUTO):
            mechanism = Mechanism.for_epsilon(
                build(spec, column(3, nullable=True), n, 2), mpq(1), GAMMA, cast("Any", grid_refinement)
            )
            for _ in range(20):
                released = tuple(mechanism.draw(answer, seeded_bits(n)))
                known = KnownComponent(released, released, (), mechanism, mpq(1, 20))
                high, low, *middle = quantile.estimates({"search": known})["quantile"]
                assert middle[0] == middle[1]
                for member in (lambda e: e.value, lambda e: e.range.lower, lambda e: e.range.upper):
                    assert member(low) <= member(middle[0]) <= member(high)
                for each in (low, *middle, high):
                    lower, upper = ends(each.range)
                    assert 0 <= lower <= each.value <= upper <= 3


def test_searches_that_were_released_before_are_the_same_statistics() -> None:
    """Their stored identities find them again; an adaptive histogram is never taken for one."""
    spec = asked(9, HALF) | {"kind": "quantile_search"}
    search, other = (build(spec | more, column(9), 100, 1) for more in ({}, {"kind": "adaptive_histogram"}))
    assert search.identity == r'["quantile_search","[\"histogram\",\"x\",\"0 9 9\"]",["1/2"],1]'
    assert search.identity != other.identity
