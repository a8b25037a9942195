"""Released and derived statistics as rows of CSV: one for each value, as `to_frame` has them in notebooks."""

from collections.abc import Iterator
from typing import Any

from snapledger_client import Derived, Estimate, Histogram, Release
from snapledger_client.formatting import describe_statistic

Record = dict[str, Any]


def list_release_records(release: Release) -> Iterator[Record]:
    """Yield a row for each value of a release, cut to the statistic's public range."""
    accuracy = release.to_dict()["accuracy"]
    shared = {
        "alpha": release.accuracy.alpha,
        "unit": release.unit,
        "epsilon": f"{release.privacy.epsilon:f}",
        "charged": f"{release.budget.charged:f}",
        "reused": release.reused,
        "release": release.id,
    } | ({"rehearsed": True} if release.rehearsed else {})
    first = {"dataset": release.dataset, "statistic": describe_statistic(release.statistic), "estimate": ""}
    if isinstance(release, Histogram):
        for label, value, (lower, upper) in zip(release.labels, release.value_in_range, release.interval, strict=True):
            yield first | {"of": label, "value": value, "lower": lower, "upper": upper} | shared
    elif isinstance(release, Estimate):
        lower, upper = accuracy.get("interval_as_date") or accuracy["interval"]
        of_number = release.value_as_date is None
        shown = release.value_in_range if of_number else release.to_dict()["value_as_date"]
        yield first | {"of": "", "value": shown, "lower": lower, "upper": upper} | shared


def list_derived_records(derived: Derived) -> Iterator[Record]:
    """Yield a row for each value of a derived statistic."""
    shared = {"alpha": derived.alpha, "charged": f"{derived.budget.charged:f}"}
    mark = {"rehearsed": True} if derived.rehearsed else {}
    for name, estimate in derived.estimates.items():
        first = {"dataset": derived.dataset, "statistic": describe_statistic(derived.derived), "estimate": name}
        rows = estimate.date_rows or estimate.rows
        for at, (value, lower, upper) in enumerate(rows):
            of = derived.labels[at] if at < len(derived.labels) else ""
            ends = {"value": _plain(value), "lower": _plain(lower), "upper": _plain(upper)}
            yield first | {"of": of} | ends | shared | {"unit": derived.units.get(name, "")} | mark


def _plain(value: object) -> object:
    """Return a number or None as it is, and a date or a time as its ISO text."""
    return value if value is None or isinstance(value, int | float) else value.isoformat()  # type: ignore[attr-defined]
