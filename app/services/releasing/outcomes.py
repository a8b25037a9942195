"""Records each question's outcome in log and metrics (fresh, reused, replayed or rehearsed), never the answer."""

from collections.abc import Iterable

import structlog

from app import metrics
from app.ledger.units import NANO_PER_EPSILON, epsilon_text
from app.services.access import Access
from app.services.rendering.release_answers import SettledRelease

log = structlog.stdlib.get_logger("snapledger.releases")


def record_releases(access: Access, settled: Iterable[SettledRelease]) -> None:
    """Record fresh and reused releases. Call this only once they may be shown."""
    for each in settled:
        _record(access, each.release.plan.statistic.kind, "reused" if each.reused else "fresh", each.charged_nano)


def record_replays(access: Access, kinds: Iterable[str]) -> None:
    """Record the replay of a stored answer to questions about statistics of these kinds."""
    for kind in kinds:
        _record(access, kind, "replayed", 0)


def record_rehearsals(access: Access, kinds: Iterable[str]) -> None:
    """Record the rehearsal of questions about statistics of these kinds, which are no releases."""
    for kind in kinds:
        _record(access, kind, "rehearsed", 0)


def _record(access: Access, kind: str, outcome: str, cost_nano: int) -> None:
    metrics.RELEASES.labels(kind, outcome).inc()
    metrics.DEBITED.inc(cost_nano / NANO_PER_EPSILON)
    log.info(
        "release",
        principal=access.principal.name,
        dataset=access.dataset.name,
        statistic=kind,
        outcome=outcome,
        charged=epsilon_text(cost_nano),
    )
