"""What the questions of a request are charged: nothing for reuses, and less than their sum for disjoint filters."""

from collections.abc import Sequence

from app.dp.statistics.disjoint_filters import charge_together
from app.services.planning.questions import Plan
from app.services.releasing.reuse import EarlierRelease


def list_charges(plans: Sequence[Plan], earlier: Sequence[EarlierRelease | None]) -> list[int]:
    """Return what each plan is charged, in ledger units; `earlier` has the releases that answer them.

    The sum is what all new releases cost together. It does not depend on the order of the plans.
    """
    if len(plans) == 1:
        return [plan.epsilon_nano if known is None else 0 for plan, known in zip(plans, earlier, strict=True)]
    fresh = [plan for plan, known in zip(plans, earlier, strict=True) if known is None]
    costs = [plan.epsilon_nano for plan in fresh]
    charges = charge_together([plan.statistic for plan in fresh], costs)
    if sum(charges) < max(costs, default=0):
        raise AssertionError("new releases cost no less than the dearest of them")
    charged = iter(charges)
    return [next(charged) if known is None else 0 for known in earlier]
