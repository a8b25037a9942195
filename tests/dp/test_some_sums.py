"""Sums of some rows from a centred sum and a count: what they are, and how often their intervals hold."""

from typing import Any

import numpy as np
import pytest
from exact_errors import error_distribution
from gmpy2 import mpq

from app.dp.derived import KnownComponent, derive
from app.dp.derived.interval_arithmetic import ends
from app.dp.derived.some_sums import CentredSomeSum, SomeSum
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind

N = 4
COLUMNS = {
    "x": Column("x", Kind.INTEGER, (mpq(2), mpq(10))),
    "signed": Column("signed", Kind.INTEGER, (mpq(-5), mpq(5))),
    "k": Column("k", Kind.CATEGORY, categories=("s", "t")),
    "many": Column("many", Kind.CATEGORY, categories=tuple(map(str, range(1000)))),
    "on": Column("on", Kind.DATE, (mpq(0), mpq(9))),
}
IN_S = {"k": {"one_of": ("s",)}}
GAMMA = mpq(1, 20)


def centred(n: int = N, **asked: Any) -> CentredSomeSum:
    derived = derive({"kind": "sum", "column": "x", **asked}, COLUMNS, n, 1)
    assert isinstance(derived, SomeSum)
    return derived.centred


def mechanisms_of(derived: CentredSomeSum, n: int = N) -> dict[str, Mechanism]:
    statistics = {role: build(asked, COLUMNS, n, 1) for role, asked in derived.components.items()}
    return {role: Mechanism.for_epsilon(each, mpq(1), GAMMA, 0) for role, each in statistics.items()}


@pytest.mark.parametrize("alpha", [mpq(1, 2), mpq(1, 20)])
@pytest.mark.parametrize(("epsilons", "gamma"), [(("1", "1/2"), "1/20"), (("1/3", "2"), "1")])
@pytest.mark.parametrize(("count", "total"), [(0, 0), (N, 32), (N, -16), (2, 3)])
def test_an_interval_holds_as_often_as_it_says(
    count: int, total: int, epsilons: tuple[str, str], gamma: str, alpha: mpq
) -> None:
    """By the exact distribution of both errors; the true sum is m₀·K + T."""
    n = 8
    derived = centred(n, where=IN_S)
    statistics = [build(asked, COLUMNS, n, 1) for asked in derived.components.values()]
    each = [
        Mechanism.for_epsilon(statistic, mpq(epsilon), mpq(gamma), 0)
        for statistic, epsilon in zip(statistics, epsilons, strict=True)
    ]
    truths = [mpq(total), mpq(count)]
    errors = []
    for mechanism, truth in zip(each, truths, strict=True):
        statistic = mechanism.statistic
        of_one, chances = error_distribution(mechanism.parameters, (truth - statistic.centre) / statistic.sensitivity)
        errors.append((of_one * float(statistic.sensitivity), chances))
    reach = float(derived.reach(dict(zip(derived.components, each, strict=True)), alpha))
    (of_total, total_chances), (of_count, count_chances) = errors
    off = np.abs(np.add.outer(of_total, float(derived.middle) * of_count))
    assert np.multiply.outer(total_chances, count_chances)[off > reach + 1e-9].sum() <= float(alpha) + 1e-12


@pytest.mark.parametrize("group_by", [None, "k"])
def test_the_sum_is_the_plain_one(group_by: str | None) -> None:
    """In the public range, with an interval around it for each group."""
    derived = centred(group_by=group_by, where=None if group_by else IN_S)
    each = mechanisms_of(derived)
    counts, totals = ((1, 2, 0, 1), (4, -3, 0, 2)) if group_by else ((3,), (-2,))
    known = {
        role: KnownComponent(tuple(map(mpq, numbers)), (), (), each[role], mpq(1, 40))
        for role, numbers in (("centred_sum", totals), ("count", counts))
    }
    found = derived.estimates(known)["sum"]
    estimates = found if isinstance(found, list) else [found]
    assert [estimate.value for estimate in estimates] == [
        6 * count + total for count, total in zip(counts, totals, strict=True)
    ]
    for estimate in estimates:
        assert ends(estimate.range) == (0, 40)  # what is public, at so small an ε
    assert (derived.bins is None) == (group_by is None)


def test_without_a_midpoint_the_centred_sum_is_the_sum() -> None:
    derived = centred(1000, column="signed", group_by="k")
    assert list(derived.components) == ["centred_sum"]
    (mechanism,) = mechanisms_of(derived, 1000).values()
    known = {"centred_sum": KnownComponent(tuple(map(mpq, (3, -7, 0, 1))), (), (), mechanism, mpq(1, 20))}
    found = derived.estimates(known)["sum"]
    assert isinstance(found, list)
    assert [estimate.value for estimate in found] == [3, -7, 0, 1]
    plain = Mechanism.for_epsilon(derived.plain, mpq(1), GAMMA, 0)
    wide = derived.half_width({}, {"centred_sum": mechanism}, mpq(1, 20))
    assert 2 * wide == pytest.approx(plain.simultaneous_radius(mpq(1, 20)))


@pytest.mark.parametrize(
    ("asked", "where"),
    [({"column": "x", "group_by": "many"}, "group_by"), ({"column": "on", "where": IN_S}, "column")],
)
def test_what_is_refused(asked: dict[str, Any], where: str) -> None:
    """More groups than are answered at once, and sums of dates."""
    with pytest.raises(InvalidStatistic) as error:
        centred(**asked)
    assert error.value.where == where
