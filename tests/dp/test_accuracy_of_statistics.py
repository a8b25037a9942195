"""The smallest ε for an accuracy, in the units of a thousand random statistics."""

import random
from typing import Any

from gmpy2 import mpq

from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.planning import UNIT
from app.dp.statistics import Statistic, build
from app.dp.table.columns import Column, Kind

CHANCE = random.Random(20_261_128)


def a_statistic() -> Statistic:
    """Any kind, over 2 to 10¹² rows, bounds anywhere, a person with one row or some."""
    lower = mpq(CHANCE.randint(-(10**6), 10**6), 10 ** CHANCE.randint(0, 6))
    upper = lower + mpq(CHANCE.randint(1, 10**6), 10 ** CHANCE.randint(0, 6))
    columns = {
        "x": Column("x", Kind.REAL, bounds=(lower, upper)),
        "y": Column("y", Kind.INTEGER, bounds=(mpq(-5), mpq(7))),
        "c": Column("c", Kind.CATEGORY, categories=tuple(map(str, range(CHANCE.randint(1, 9))))),
    }
    specs: list[dict[str, Any]] = [
        {"kind": "mean", "column": "x"},
        {"kind": "variance", "column": "x"},
        {"kind": "covariance", "columns": ["x", "y"]},
        {"kind": "sum", "column": "x"},
        {"kind": "sum", "column": "y", "group_by": "c"},
        {"kind": "count", "group_by": "c"},
        {"kind": "histogram", "column": "c"},
        {"kind": "histogram", "column": "x", "bins": CHANCE.randint(2, 1000)},
        {"kind": "histogram", "columns": ["c", "y"], "bins": [None, 3]},
    ]
    n, rows = CHANCE.choice([2, 3, 7, 100, 10**4, 10**12]), CHANCE.choice([1, 1, 2, 30])
    return build(CHANCE.choice(specs), columns, n, rows)


def test_it_attains_the_accuracy_and_a_unit_less_does_not() -> None:
    searched = 0
    for _ in range(1000):
        statistic = a_statistic()
        alpha, gamma = mpq(CHANCE.randint(1, 999), 1000), mpq(CHANCE.randint(1, 100), 100)
        refinement = CHANCE.choice([0, 0, 1, 5, 30])
        share = mpq(CHANCE.randint(1, 999), 10 ** CHANCE.randint(3, 6))
        accuracy = share * (statistic.upper - statistic.lower)
        mechanism = Mechanism.for_accuracy(statistic, accuracy, alpha, gamma, refinement)
        assert (mechanism.epsilon / UNIT).denominator == 1
        assert mechanism.radius(alpha) <= accuracy
        if mechanism.epsilon > UNIT:
            searched += 1
            less = Mechanism.for_epsilon(statistic, mechanism.epsilon - UNIT, gamma, refinement)
            assert less.radius(alpha) > accuracy
    assert searched > 900
