"""The search for quantiles: what one person can change, what its intervals cover, and how much narrower they are."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest
from exact_errors import lattice_errors
from gmpy2 import mpq

from app.dp.derived import derive
from app.dp.derived import quantile as quantiles
from app.dp.derived.base import KnownComponent
from app.dp.derived.interval_arithmetic import ends
from app.dp.derived.quantile import Quantile
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import AUTO, Mechanism
from app.dp.statistics import build
from app.dp.statistics.quantile_search import QuantileSearch
from app.dp.table.columns import Column, Kind

HALF, QUARTERS = (mpq(1, 2),), (mpq(1, 4), mpq(1, 2), mpq(3, 4))
GAMMA = mpq(1, 20)


def column(bins: int, *, nullable: bool = False) -> dict[str, Column]:
    return {"x": Column("x", Kind.INTEGER, (mpq(0), mpq(bins)), nullable=nullable)}


def asked(bins: int, probabilities: Sequence[mpq], **more: Any) -> dict[str, Any]:
    return {"kind": "quantile", "column": "x", "bins": mpq(bins), "probabilities": probabilities, **more}


def search_of(bins: int, probabilities: Sequence[mpq], n: int, c: int = 1, *, nullable: bool = False) -> QuantileSearch:
    spec = asked(bins, probabilities) | {"kind": "quantile_search"}
    return cast("QuantileSearch", build(spec, column(bins, nullable=nullable), n, c))


def exact_counts(search: QuantileSearch, answer: tuple[int, ...], released: Sequence[mpq]) -> list[mpq]:
    """What is counted, step by step, if these are the releases."""
    counted, given = [], iter(released)

    def release(count: mpq) -> mpq:
        counted.append(count)
        return next(given)

    search.search(answer, mpq(1), release)
    return counted


def transcripts(search: QuantileSearch, n: int) -> Iterator[list[mpq]]:
    """Some sequences of releases: each takes the search another way."""
    levels = [mpq(0), mpq(n, 2), mpq(n)]
    steps = search.components
    for start in itertools.product(levels, repeat=min(steps, 2)):
        for rest in levels:
            yield [*start, *[rest] * (steps - len(start))]


@pytest.mark.parametrize("c", [1, 2, 3])
@pytest.mark.parametrize("probabilities", [HALF, (mpq(1, 5),), QUARTERS])
def test_one_person_changes_each_count_by_the_sensitivity_whatever_was_released(
    c: int, probabilities: tuple[mpq, ...]
) -> None:
    """All rows of all tables of three rows against all that differ in c of them: a bin, or no value (the last)."""
    n, bins = 3, 3
    search = search_of(bins, probabilities, n, c, nullable=True)
    tables = list(itertools.product(range(bins + 1), repeat=n))
    answers = {table: tuple(map(table.count, range(bins + 1))) for table in tables}
    neighbours = {
        (answers[table], answers[other])
        for table, other in itertools.product(tables, repeat=2)
        if sum(a != b for a, b in zip(table, other, strict=True)) <= c
    }
    greatest = mpq(0)
    for released in transcripts(search, n):
        counts = {answer: exact_counts(search, answer, released) for answer in set(answers.values())}
        for answer, other in neighbours:
            pairs = zip(counts[answer], counts[other], strict=True)
            changes = [abs(a - b) / search.sensitivity for a, b in pairs]
            greatest = max(greatest, *changes)
            assert sum(changes) <= search.mechanisms
    assert greatest == 1


def missed(quantile: Quantile, mechanism: Mechanism, answer: tuple[int, ...], alpha: mpq) -> list[float]:
    """For each probability, with which probability its interval misses it: over all that may be released.

    Releases that are too rare to be looked at count as misses.
    """
    search = cast("QuantileSearch", quantile.search)
    atoms = lattice_errors(mechanism, 2e-3)
    values = [i for i, count in enumerate(answer) for _ in range(count)]
    truths = [values[math.ceil(p * len(values)) - 1] for p in quantile.probabilities]
    misses = [0.0] * len(truths)
    seen = 0.0
    for errors in itertools.product(atoms, repeat=search.components):
        steps = iter(errors)
        probability = math.prod(mass for _, mass in errors)
        released = tuple(search.search(answer, mechanism.parameters.scale, lambda count: count + next(steps)[0]))  # noqa: B023
        known = KnownComponent(released, released, (), mechanism, alpha)
        seen += probability
        for i, (truth, each) in enumerate(zip(truths, quantile.estimates({"search": known})["quantile"], strict=True)):
            lower, upper = ends(each.range)
            misses[i] += probability * (not lower <= truth < upper)
    return [each + 1 - seen for each in misses]


WORST = [(HALF, (3, 3, 0)), (HALF, (3, 3, 2)), (HALF, (0, 4, 4)), ((mpq(1, 5),), (1, 0, 9)), ((mpq(1, 5),), (2, 4, 4))]


@pytest.mark.slow
@pytest.mark.parametrize(("probabilities", "answer"), WORST)
def test_intervals_hold_as_often_as_they_say(probabilities: tuple[mpq, ...], answer: tuple[int, ...]) -> None:
    """Exactly, over all releases of a search of four steps."""
    assert missed_at_a_half(probabilities, answer) <= 0.5


def missed_at_a_half(probabilities: tuple[mpq, ...], answer: tuple[int, ...]) -> float:
    quantile = derive(asked(3, probabilities, method="search"), column(3), sum(answer), 1)
    assert isinstance(quantile, Quantile)
    mechanism = Mechanism.for_epsilon(cast("QuantileSearch", quantile.search), mpq(7), GAMMA, AUTO)
    (miss,) = missed(quantile, mechanism, answer, mpq(1, 2))
    return miss


@pytest.mark.slow
def test_without_the_half_grid_they_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test can fail: this is how much is needed."""
    reach = quantiles.search_reach
    monkeypatch.setattr(quantiles, "search_reach", lambda *of: reach(*of) - mpq(1, 2))
    assert missed_at_a_half(HALF, (3, 3, 0)) > 0.5


def shares(shape: str, bins: int) -> list[float]:
    """Which share of the rows is below each edge."""
    places = [i / bins for i in range(bins + 1)]
    below = {
        "even": lambda x: x,
        "bell": lambda x: (1 + math.erf((x - 0.45) / 0.15 / math.sqrt(2))) / 2,
        "skewed": lambda x: 1 - math.exp(-x / 0.15),
    }[shape]
    return [0.0, *map(below, places[1:-1]), 1.0]


def half_widths(
    method: str | None, shape: str, bins: int, epsilon: mpq, probabilities: tuple[mpq, ...], bits: Any, n: int = 50_000
) -> float:
    """Half of how many ranks lie between the ends of an interval, as a part of n, on average over releases."""
    below = [round(share * n) for share in shares(shape, bins)]
    answer = tuple(b - a for a, b in itertools.pairwise(below))
    quantile = derive(asked(bins, probabilities, method=method), column(bins), n, 1)
    ((role, spec),) = quantile.components.items()
    mechanism = Mechanism.for_epsilon(build(spec, column(bins), n, 1), epsilon, GAMMA, AUTO)
    widths = []
    for _ in range(10):
        released = tuple(mechanism.draw(answer, bits))
        known = KnownComponent(released, released, (), mechanism, mpq(1, 20))
        for each in quantile.estimates({role: known})["quantile"]:
            lower, upper = (int(end) for end in ends(each.range))
            widths.append((below[upper] - below[lower]) / 2 / n)
    return sum(widths) / len(widths)


def test_a_search_of_a_median_tells_more_than_a_histogram(seeded_bits: Any) -> None:
    """ε = 0.02, 50,000 rows and 200 bins."""
    searched, counted = (
        half_widths(method, "even", 200, mpq(1, 50), HALF, seeded_bits(5)) for method in ("search", "histogram")
    )
    assert searched <= 0.05
    assert counted > 2 * searched


@pytest.mark.parametrize(
    ("bins", "probabilities", "method"),
    [(5, HALF, "histogram"), (200, HALF, "adaptive"), (40, QUARTERS, "histogram"), (200, QUARTERS, "adaptive")],
)
def test_what_is_narrower_is_chosen(bins: int, probabilities: tuple[mpq, ...], method: str, seeded_bits: Any) -> None:
    quantile = derive(asked(bins, probabilities), column(bins), 50_000, 1)
    assert quantile.described["method"] == method
    if bins > 40:
        (other,) = {"histogram", "adaptive"} - {method}
        widths = [
            half_widths(each, "bell", bins, mpq(1, 20), probabilities, seeded_bits(3)) for each in (method, other)
        ]
        assert widths[0] < widths[1]


def test_quantiles_of_a_search_ascend_and_are_within_their_intervals(seeded_bits: Any) -> None:
    """In the order asked for, each as often as asked for; also where nothing is certain, and with hardly any rows."""
    wanted = (mpq(9, 10), mpq(1, 10), mpq(1, 2), mpq(1, 2))
    for n, answer in ((2, (1, 0, 1, 0)), (40, (0, 39, 0, 1)), (1000, (100, 400, 300, 200))):
        quantile = derive(asked(3, wanted, method="search"), column(3, nullable=True), n, 2)
        spec = quantile.components["search"]
        mechanism = Mechanism.for_epsilon(build(spec, column(3, nullable=True), n, 2), mpq(1), GAMMA, 0)
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


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"probabilities": tuple(mpq(i, 10) for i in range(1, 7))}, "probabilities"),
    ({"probabilities": ()}, "probabilities"),
    ({"column": "k", "bins": None}, "column"),
    ({"bins": mpq(10_001)}, "bins"),
    ({"method": "guess"}, "method"),
]


@pytest.mark.parametrize(("spec", "where"), REFUSED)
def test_a_search_that_cannot_be_is_refused(spec: dict[str, Any], where: str) -> None:
    declared = column(3) | {"k": Column("k", Kind.CATEGORY, categories=("u", "v"))}
    with pytest.raises(InvalidStatistic) as refused:
        derive(asked(3, HALF, method="search") | spec, declared, 10, 1)
    assert refused.value.where == where
