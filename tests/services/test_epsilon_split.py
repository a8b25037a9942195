"""The split of ε among components: narrower intervals at the guesses, from public facts, and what is left is shared."""

from itertools import pairwise
from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.derived import derive
from app.dp.mechanism.mechanism import AUTO
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind
from app.services.planning.derived_accuracy import Setting

N, ALPHA = 50_000, mpq(1, 20)
COLUMNS = {
    "x": Column("x", Kind.INTEGER, (mpq(2000), mpq(7000)), nullable=False),
    "y": Column("y", Kind.INTEGER, (mpq(0), mpq(100)), nullable=False),
    "k": Column("k", Kind.CATEGORY, categories=tuple("abcdefghij"), nullable=False),
}
PAIR = {"columns": ("x", "y")}
SIDES = {"standard_deviation_x": 1500, "standard_deviation_y": 20}
WHERE = {"k": {"one_of": ("a",)}}
MEANS = {"mean_x": 4000, "mean_y": 50}

# What is asked, the guesses, ε, and the width as a part of that by the statistic's own weights.
NARROWED: list[tuple[dict[str, Any], dict[str, Any], str, float]] = [
    ({"kind": "mean", "column": "x", "where": WHERE}, {"mean": 4200, "count": 5000}, "0.02", 0.85),
    ({"kind": "mean", "column": "x", "where": WHERE}, {"mean": 6900, "count": 5000}, "0.02", 1),
    ({"kind": "mean", "column": "x", "group_by": "k"}, {"mean": 4200, "count": 5000}, "0.02", 0.75),
    ({"kind": "mean", "column": "x", "weight": "y"}, {"mean": 4200, "weight": 40}, "0.02", 0.85),
    (
        {"kind": "proportion", "column": "k", "category": "a", "group_by": "k"},
        {"proportion": "0.1", "count": 5000},
        "0.02",
        0.85,
    ),
    ({"kind": "correlation", **PAIR}, {"correlation": "0.2", **SIDES}, "0.1", 0.9),
    (
        {"kind": "regression", **PAIR},
        {"slope": "0.004", "standard_deviation_x": 800, **MEANS},
        "0.1",
        0.96,
    ),
]


def setting(spec: dict[str, Any], guesses: dict[str, Any]) -> Setting:
    derived = derive(spec, COLUMNS, N, 1)
    statistics = {role: build(asked, COLUMNS, N, 1) for role, asked in derived.components.items()}
    exact = {name: mpq(guess) for name, guess in guesses.items()}
    return Setting(derived, statistics, ALPHA, mpq(1, 20), AUTO, exact)


@pytest.mark.parametrize(("spec", "guesses", "epsilon", "part"), NARROWED)
def test_guesses_narrow_the_planned_interval(
    spec: dict[str, Any], guesses: dict[str, Any], epsilon: str, part: float
) -> None:
    nano = int(mpq(epsilon) * 10**9)
    guessed, unguessed = setting(spec, guesses), setting(spec, {})
    shares, usual = guessed.share(nano), unguessed.share(nano)
    assert shares == setting(spec, guesses).share(nano)
    for each in (shares, usual):
        assert nano - len(each) < sum(each.values()) <= nano
        assert min(each.values()) > 0
    narrowed, width = guessed.half_width(nano), guessed.usual_half_width(nano)
    assert narrowed is not None
    assert width is not None
    assert narrowed <= width * mpq(part)
    if spec["kind"] == "regression":  # the intercept needs the means
        assert [shares[role] for role in MEANS] == [usual[role] for role in MEANS]


def test_a_larger_epsilon_has_no_wider_interval() -> None:
    """But for a hundredth where the split changes, at the powers of √2: the search goes in steps of a sixtieth."""
    for spec, guesses, _, _ in (NARROWED[0], NARROWED[4]):
        asked = setting(spec, guesses)
        powers = [2**power for power in range(25, 30)]
        widths = [asked.half_width(nano + off) for nano in powers for off in (-1, 0)]
        known = [width for width in widths if width is not None]
        assert all(after <= before * mpq(101, 100) for before, after in pairwise(known))
        assert None not in widths[widths.index(known[0]) :]
