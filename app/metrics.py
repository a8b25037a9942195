"""The metrics for Prometheus. No label holds a value, a key or any text that a caller can choose.

Several workers write to files in `PROMETHEUS_MULTIPROC_DIR`, which the command line sets before it starts them.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    multiprocess,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import REGISTRY, Collector
from prometheus_client.samples import Sample

from app import traces

FILES = "PROMETHEUS_MULTIPROC_DIR"
_OURS = "snapledger_"

disable_created_metrics()  # type: ignore[no-untyped-call]  # they add an unused series for each metric

REQUESTS = Counter("snapledger_requests", "Answers, by route and status.", ["method", "route", "status"])
SECONDS = Histogram("snapledger_request_seconds", "From a request's head to its answer's end.", ["method", "route"])
IN_FLIGHT = Gauge("snapledger_requests_in_flight", "Requests that are being answered.", multiprocess_mode="livesum")
REFUSALS = Counter("snapledger_refusals", "Problems, by the last part of their type.", ["reason"])
RELEASES = Counter("snapledger_releases", "Answers: fresh, reused, replayed or rehearsed.", ["statistic", "outcome"])
DEBITED = Counter("snapledger_epsilon_debited", "ε debited for fresh releases, over all datasets.")
ENGINE_SECONDS = Histogram("snapledger_engine_seconds", "Exact sums that were computed, not kept.", ["outcome"])
EXACT_DRAWS = Counter("snapledger_exact_path_draws", "Bins that the filter left to the exact draw.")

FIGURES_PENDING = Gauge(
    "snapledger_figures_pending",
    "Figures that the figures' database does not have as they are now.",
    multiprocess_mode="livemostrecent",
)
COLLECTIONS_PENDING = Gauge(
    "snapledger_collections_pending",
    "Collections that the figures' database does not have as they are now.",
    multiprocess_mode="livemostrecent",
)

REPORT_RUNS = Counter(
    "snapledger_report_runs", "Runs of reports: done, refused, or released and not published.", ["state"]
)
REPORTS_PENDING = Gauge(
    "snapledger_report_runs_pending",
    "Runs of reports that are still to be released or published.",
    multiprocess_mode="livemostrecent",
)

# Only one process verifies, so the unset gauges of the others must not count.
LEDGERS_INVALID = Gauge(
    "snapledger_ledgers_invalid",
    "Ledgers, and the audit log, that the latest round of verification found not valid or could not verify.",
    multiprocess_mode="livemostrecent",
)
LEDGERS_VERIFIED = Gauge(
    "snapledger_ledgers_verified_timestamp_seconds",
    "When the latest round of verification ended; 0 if there was none yet.",
    multiprocess_mode="livemostrecent",
)

KEY_FETCHES = Counter("snapledger_token_key_fetches", "Fetches of the token provider's public keys.", ["outcome"])
for _outcome in ("done", "failed"):  # start at 0, so that Prometheus sees the first increase
    ENGINE_SECONDS.labels(_outcome)
    KEY_FETCHES.labels(_outcome)
for _state in ("done", "refused", "released"):
    REPORT_RUNS.labels(_state)


@contextmanager
def engine_timed() -> Iterator[None]:
    """Measure the time of a data engine's computation, with the outcome `done` or `failed`."""
    started, outcome = time.perf_counter(), "failed"
    try:
        with traces.span("engine"):
            yield
        outcome = "done"
    finally:
        ENGINE_SECONDS.labels(outcome).observe(time.perf_counter() - started)


class _CountsOnly(Collector):
    """The counts of another collector's metrics: those of this service, and of a histogram only how many were observed.

    A caller who watches times could learn how long somebody else's request took. The processor's time, the memory and
    the collections of garbage of the process, which the library adds to the metrics, tell of the work on data too.
    """

    def __init__(self, all_metrics: Collector) -> None:
        self._all_metrics = all_metrics

    def collect(self) -> Iterator[Metric]:
        """Yield each metric family of ours; of a histogram, only the last bucket, which is its count."""
        for family in self._all_metrics.collect():
            if not family.name.startswith(_OURS):
                continue
            if family.type == "histogram":
                family.samples = [each for each in family.samples if _is_count(each)]
            yield family


def _is_count(sample: Sample) -> bool:
    return sample.name.endswith("_count") or sample.labels.get("le") == "+Inf"


def exposition(*more: Collector, times: bool) -> bytes:
    """Return all metrics in Prometheus's text format.

    Args:
        more: collectors of further metrics, always included.
        times: whether times are included: those of histograms, and the metrics of the process.
    """
    registry: CollectorRegistry = REGISTRY
    if folder := os.environ.get(FILES):
        _forget_killed(folder)
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    extra = CollectorRegistry()
    for collector in more:
        extra.register(collector)
    told = CollectorRegistry()
    told.register(registry if times else _CountsOnly(registry))
    return generate_latest(told) + generate_latest(extra)


def forget_process() -> None:
    """Remove the gauges of this process, which is about to end."""
    if os.environ.get(FILES):
        multiprocess.mark_process_dead(os.getpid())  # type: ignore[no-untyped-call]


def _forget_killed(folder: str) -> None:
    """Remove the gauges of processes that ended without removing their own."""
    for path in Path(folder).glob("gauge_live*_*.db"):
        process = path.stem.rpartition("_")[2]
        if not Path(f"/proc/{process}").exists() and Path("/proc/self").exists():
            multiprocess.mark_process_dead(int(process))  # type: ignore[no-untyped-call]
