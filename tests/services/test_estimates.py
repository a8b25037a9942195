"""What is known of the truth by a release whose numbers must all hold at once."""

from typing import Any

from gmpy2 import mpq

from app.dp.derived.interval_arithmetic import Range
from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind
from app.services.rendering import documents, estimates

ALPHA = mpq(1, 20)


def test_the_ranges_of_all_bins_are_as_wide_as_to_hold_at_once() -> None:
    spec: dict[str, Any] = {"kind": "histogram", "column": "whole", "edges": (mpq(0), mpq(5), mpq(10))}
    columns = {"whole": Column("whole", Kind.INTEGER, (mpq(0), mpq(10)))}
    statistic = build(spec, columns, 1000, 1)
    mechanism = Mechanism.for_epsilon(statistic, mpq(1), mpq(1, 20), 0)
    values = [500] * statistic.components
    component = {"value": values, "value_in_range": values, "accuracy": documents.accuracy_document(mechanism, ALPHA)}
    reach = mechanism.simultaneous_radius(ALPHA) + mechanism.resolution
    assert reach > mechanism.radius(ALPHA) + mechanism.resolution
    for each in estimates.read_known_component(statistic, component).ranges:
        assert 0 <= 500 - reach - each.lower < mpq(1, 10**9)
        assert 0 <= each.upper - 500 - reach < mpq(1, 10**9)
    at_the_edge = component | {"value_in_range": [0] * statistic.components}
    assert all(
        each == Range(mpq(0), each.upper) for each in estimates.read_known_component(statistic, at_the_edge).ranges
    )
