"""Finds the released histograms of which a count of an interval may be one bin.

There is no list of all histograms with a given bin. So each release of a histogram of numbers or dates is also a
candidate of its family, the histograms of the same column and filter. A family keeps one release in each of a few
slots.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from threading import Lock
from typing import Any

from cachetools import LRUCache

from app.db.repositories.datasets import Dataset
from app.db.session import Session
from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import parse_exact
from app.dp.statistics import Statistic
from app.dp.statistics.equal_numbers import EqualStatistic, count_from_histogram
from app.dp.statistics.histogram import Histogram, parse_bins
from app.dp.statistics.interval_counts import Interval, family_of
from app.dp.table.columns import Column
from app.dp.table.dates import parse_moment
from app.errors import DamagedAnswerError
from app.ledger.answers import releases
from app.ledger.answers.answer_storage import Body
from app.ledger.answers.releases import StoredRelease
from app.services.planning import columns

MAX_RELEASES = 16
"""Of a family, that a count is looked for in. Of those which share a slot, the most accurate one stays."""

MAX_CACHE_BYTES = 2**24
_BYTES_PER_ENTRY, _BYTES_PER_CHARACTER = 2_000, 16  # of the histogram's `repr`, as for plans


def _entry_bytes(histogram: Histogram | None) -> int:
    return _BYTES_PER_ENTRY + (0 if histogram is None else _BYTES_PER_CHARACTER * len(repr(histogram)))


_histograms: LRUCache[str, Histogram | None] = LRUCache(MAX_CACHE_BYTES, getsizeof=_entry_bytes)
_lock = Lock()


def place_in_family(statistic: Statistic) -> tuple[str, int] | None:
    """Return the family in which a release of a statistic is a candidate, and its slot there; None if in none."""
    family = family_of(statistic) if isinstance(statistic, Histogram) else None
    return None if family is None else (family, sha256(statistic.identity.encode()).digest()[0] % MAX_RELEASES)


class HistogramFamilies:
    """The histograms of numbers or dates that a request can reuse: earlier ones and its own."""

    def __init__(self, session: Session, dataset: Dataset) -> None:
        self._session, self._dataset = session, dataset
        self._added: dict[str, dict[str, Histogram]] = defaultdict(dict)
        self._read: dict[str, list[Histogram]] = {}

    def add(self, statistic: Statistic) -> None:
        """Add a histogram of the request; other statistics are in no family."""
        if isinstance(statistic, Histogram) and (family := family_of(statistic)) is not None:
            self._added[family][statistic.identity] = statistic

    def list_equal(self, intervals: Sequence[Interval]) -> dict[str, EqualStatistic | None]:
        """Return the histograms in which one of these conditions of a count is a bin, by identity."""
        found: dict[str, EqualStatistic | None] = {}
        for interval in intervals:
            for histogram in (*self._list_released(interval), *self._added[interval.family].values()):
                if (equal := count_from_histogram(interval, histogram)) is not None:
                    found[histogram.identity] = equal
        return found

    def _list_released(self, interval: Interval) -> list[Histogram]:
        if interval.family not in self._read:
            listed = releases.list_candidates(self._session, self._dataset.id, interval.family)
            histograms = (self._find_histogram(each.id, interval) for each in listed)
            self._read[interval.family] = [each for each in histograms if each is not None]
        return self._read[interval.family]

    def _find_histogram(self, release_id: str, interval: Interval) -> Histogram | None:
        """Return the histogram of a release, which never changes; None if its answer does not tell.

        If the answer was altered, the histogram has another identity than the sealed one, and so has no release.
        """
        with _lock:
            if release_id in _histograms:
                return _histograms[release_id]
        stored = releases.find_response(self._session, release_id)
        small = None if stored is None or stored.content is None else self._open(stored)
        histogram = None if small is None else self._read_histogram(small, interval)
        with _lock, suppress(ValueError):  # it is larger than the cache
            _histograms[release_id] = histogram
        return histogram

    def _open(self, stored: StoredRelease) -> Body | None:
        with suppress(DamagedAnswerError):
            return stored.body(self._session)
        return None

    def _read_histogram(self, answer: Body, interval: Interval) -> Histogram | None:
        dataset = self._dataset
        column = columns.decode_columns(dataset.columns)[interval.column]
        try:
            asked = json.loads(answer.content(), parse_float=parse_exact, parse_int=parse_exact)["statistic"]
            bins = parse_bins(column, {name: _read(column, asked.get(name)) for name in ("edges", "bins", "bounds")})
        except (AttributeError, InvalidStatistic, KeyError, TypeError, ValueError):
            return None
        found = Histogram(
            *(dataset.n, dataset.rows_per_unit, column.name, bins), by_edges=False, conditions=interval.others
        )
        return found if family_of(found) == interval.family else None


def _read(column: Column, member: Any) -> Any:  # noqa: ANN401  whatever an answer holds there
    """Return a member of an answer's statistic as that of a request; the edges of dates are dates."""
    if not isinstance(member, list):
        return member
    return tuple(parse_moment(each) if column.kind.temporal and isinstance(each, str) else each for each in member)
