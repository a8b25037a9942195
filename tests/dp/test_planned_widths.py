"""The interval that is planned for a derived statistic: about what releases give, and never less in the worst case."""

import itertools
import random
from typing import Any

import pytest
from gmpy2 import mpq
from hypothesis import given, settings
from hypothesis import strategies as st

from app.dp.derived import derive
from app.dp.derived.base import KnownComponent, reach_of, widest
from app.dp.derived.interval_arithmetic import Range
from app.dp.mechanism.mechanism import AUTO, Mechanism
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind

N, ALPHA, GAMMA = 10_000, mpq(1, 20), mpq(1, 20)
COLUMNS = {
    "x": Column("x", Kind.INTEGER, (mpq(0), mpq(100)), nullable=False),
    "y": Column("y", Kind.INTEGER, (mpq(0), mpq(100)), nullable=False),
    "k": Column("k", Kind.CATEGORY, categories=("u", "v"), nullable=False),
}
WHERE = {"k": {"one_of": ("u",)}}


def planned_of(spec: dict[str, Any], epsilon: mpq) -> tuple[Any, dict[str, Mechanism]]:
    derived = derive(spec, COLUMNS, N, 1)
    share = epsilon / len(derived.components)
    return derived, {
        role: Mechanism.for_epsilon(build(each, COLUMNS, N, 1), share, GAMMA, AUTO)
        for role, each in derived.components.items()
    }


def half_width_of(derived: Any, mechanisms: dict[str, Mechanism], truths: dict[str, list[mpq]], noise: Any) -> Any:
    """Half the width of the interval by one release of these statistics, with Laplace noise of the mechanisms."""
    known = {}
    for role, mechanism in mechanisms.items():
        statistic, share = mechanism.statistic, ALPHA / len(mechanisms)
        scale = float(statistic.sensitivity * mechanism.parameters.scale)
        raw = tuple(truth + mpq(noise(scale)) for truth in truths[role])
        within = tuple(min(max(each, statistic.lower), statistic.upper) for each in raw)
        reach = reach_of(mechanism, share)
        ranges = tuple(Range(each - reach, each + reach).cut(statistic.lower, statistic.upper) for each in within)
        known[role] = KnownComponent(raw, within, ranges, mechanism, share)
    found = next(iter(derived.estimates(known).values()))
    return widest(each.range for each in (found if isinstance(found, list) else [found]))


GUESSED: list[tuple[dict[str, Any], dict[str, mpq]]] = [
    ({"kind": "mean", "column": "x", "where": WHERE}, {"mean": mpq(40), "count": mpq(3000)}),
    ({"kind": "mean", "column": "x", "group_by": "k"}, {"mean": mpq(40), "count": mpq(3000)}),
    (
        {"kind": "proportion", "column": "k", "category": "u", "group_by": "k"},
        {"proportion": mpq(1, 3), "count": mpq(3000)},
    ),
    ({"kind": "mean", "column": "x", "weight": "y"}, {"mean": mpq(40), "weight": mpq(50)}),
    (
        {"kind": "mean", "column": "x", "weight": "y", "group_by": "k", "where": WHERE},
        {"mean": mpq(40), "weight": mpq(50), "count": mpq(3000)},
    ),
    ({"kind": "standard_deviation", "column": "x"}, {"standard_deviation": mpq(20)}),
    (
        {"kind": "correlation", "columns": ("x", "y")},
        {"correlation": mpq(1, 2), "standard_deviation_x": mpq(20), "standard_deviation_y": mpq(25)},
    ),
    (
        {"kind": "regression", "columns": ("x", "y")},
        {"slope": mpq(1, 2), "standard_deviation_x": mpq(20), "mean_x": mpq(40), "mean_y": mpq(60)},
    ),
]


@pytest.mark.parametrize(("spec", "guesses"), GUESSED, ids=lambda value: value.get("kind", ""))
def test_releases_have_about_the_width_that_was_planned(
    spec: dict[str, Any], guesses: dict[str, mpq], rng: Any
) -> None:
    """If the guesses are right."""
    derived, mechanisms = planned_of(spec, mpq(1))
    planned = float(derived.half_width(guesses, mechanisms, ALPHA))
    truths = {role: list(each) for role, each in derived.suppose(guesses, mechanisms, ALPHA).items()}

    def noise(scale: float) -> float:
        return float(rng.expovariate(1 / scale) - rng.expovariate(1 / scale))

    widths = [float(half_width_of(derived, mechanisms, truths, noise)) for _ in range(100)]
    assert sum(widths) / len(widths) == pytest.approx(planned, rel=0.1)


def test_guesses_that_no_table_has_count_as_the_nearest_possible_ones() -> None:
    """Otherwise the line's slope would be wider than 10⁸⁰, and with a large ε beyond every double."""
    derived, mechanisms = planned_of({"kind": "regression", "columns": ("x", "y")}, mpq(10) ** 9)
    planned = derived.half_width(dict.fromkeys(derived.guess_names, mpq(10) ** 100), mechanisms, ALPHA)
    assert planned is not None
    assert planned < mpq(1, 10**6)


@pytest.fixture
def rng() -> Any:
    return random.Random(1)


quick = settings(max_examples=100)


@quick
@given(st.fractions(0, 2500).map(mpq), st.fractions(-400, 400).map(mpq))
def test_no_standard_deviation_is_known_less_than_in_the_worst_case(variance: mpq, error: mpq) -> None:
    derived, mechanisms = planned_of({"kind": "standard_deviation", "column": "x"}, mpq(1, 100))
    worst = derived.half_width({}, mechanisms, ALPHA)
    assert half_width_of(derived, mechanisms, {"variance": [variance]}, lambda _: error) <= worst


@quick
@given(st.lists(st.integers(0, N), min_size=11, max_size=11).map(sorted))
def test_no_sum_of_counts_is_known_less_than_in_the_worst_case(below: list[int]) -> None:
    counts = [after - before for before, after in itertools.pairwise([0, *below, N])]
    for spec, role, number in (
        ({"kind": "cumulative", "column": "x", "bins": mpq(12)}, "histogram", 12),
        ({"kind": "margin", "columns": ("k", "x"), "bins": (None, mpq(4)), "column": "k"}, "table", 12),
    ):
        derived, mechanisms = planned_of(spec, mpq(1, 50))
        worst = derived.half_width({}, mechanisms, ALPHA)
        truths = {role: [mpq(count) for count in counts[:number]]}
        assert half_width_of(derived, mechanisms, truths, lambda _: 0) <= worst
