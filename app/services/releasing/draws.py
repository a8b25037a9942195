"""Draws fresh releases from exact sums. They are not debited yet, so nobody may see them."""

from collections.abc import Sequence

import structlog

from app import metrics
from app.db.time_ordered_ids import time_ordered_id
from app.dp.errors import DrawExhausted
from app.dp.numbers.random_bits import SystemBits
from app.dp.table.sums import Answer as Sums
from app.errors import UnavailableError
from app.services.access import Access
from app.services.context import Services
from app.services.planning.questions import Plan
from app.services.releasing import exact_sums
from app.services.rendering.release_answers import PreparedRelease, prepare_fresh_release

MAX_QUICK_COMPONENTS = 100
"""Up to this many components, the draws take no longer than the rest of a release."""

log = structlog.stdlib.get_logger("snapledger.releases")


def draw_releases(services: Services, access: Access, plans: Sequence[Plan]) -> list[PreparedRelease]:
    """Draw a fresh release for each plan. The plans share scans of the table.

    Raises:
        DatasetClosedError: the dataset is deleted.
        DatasetStaleError: the live table is no longer the one that was registered.
        UnavailableError: the engine failed, its sums do not fit the plan (as when a file was replaced while in use),
            or the source of random bits is broken.
    """
    if not plans:
        return []
    needs = [plan.needs for plan in plans]
    many = sum(plan.statistic.components for plan in plans) > MAX_QUICK_COMPONENTS
    if many or not all(exact_sums.are_cached(services, access.dataset, each) for each in needs):
        services.database.pause()  # other requests' commits go first
    sums = exact_sums.compute_exact_sums(services, access.dataset, needs)
    return [_draw_release(access, plan, sums[plan.needs]) for plan in plans]


def _draw_release(access: Access, plan: Plan, sums: Sums) -> PreparedRelease:
    try:
        drawn = plan.mechanism.draw(sums, SystemBits())
    except (ValueError, DrawExhausted) as error:
        log.error("not drawn", why=type(error).__name__)  # noqa: TRY400 - the error's text may contain values of the data
        raise UnavailableError from None
    metrics.EXACT_DRAWS.inc(drawn.exact)
    return prepare_fresh_release(time_ordered_id(), access.dataset, plan, drawn)
