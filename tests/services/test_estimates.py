"""What is known of the truth by a release whose numbers must all hold at once."""

from typing import Any

from gmpy2 import mpq

from app.dp.derived import KnownComponent
from app.dp.derived.interval_arithmetic import Range
from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind
from app.services.planning.questions import plan_mechanism
from app.services.rendering import documents, estimates
from app.services.rendering.release_answers import Outcome, ReleaseFacts

ALPHA = mpq(1, 20)


def test_the_ranges_of_all_bins_are_as_wide_as_to_hold_at_once() -> None:
    spec: dict[str, Any] = {"kind": "histogram", "column": "whole", "edges": (mpq(0), mpq(5), mpq(10))}
    columns = {"whole": Column("whole", Kind.INTEGER, (mpq(0), mpq(10)))}
    statistic = build(spec, columns, 1000, 1)
    mechanism = Mechanism.for_epsilon(statistic, mpq(1), mpq(1, 20), 0)
    plan = plan_mechanism(mechanism, ALPHA)
    accuracy = documents.accuracy_document(plan)

    def known(value: int) -> KnownComponent:
        values = (mpq(value),) * statistic.components
        facts = ReleaseFacts("an id", Outcome({}, values, values), accuracy, None, 0, reused=False)
        return estimates.to_component(plan, facts)

    reach = mechanism.simultaneous_radius(ALPHA) + mechanism.resolution
    assert reach > mechanism.radius(ALPHA) + mechanism.resolution
    for each in known(500).ranges:
        assert 0 <= 500 - reach - each.lower < mpq(1, 10**9)
        assert 0 <= each.upper - 500 - reach < mpq(1, 10**9)
    assert all(each == Range(mpq(0), each.upper) for each in known(0).ranges)
