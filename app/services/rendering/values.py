"""Renders released values and their intervals as JSON: for a histogram, one of each for every bin.

Each distinct number is formatted only once: a million bins have some hundred distinct numbers, unless the grid is fine.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from gmpy2 import mpq

from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.released_values import ReleasedValues
from app.dp.numbers.exact import decimal_text, json_number, round_down, round_up, to_nearest_double
from app.dp.statistics import Statistic
from app.dp.table.dates import format_nearest
from app.interval_text import interval_texts
from app.json_text import Doubles, array_pieces, encode_json, number_texts, texts_array


def encode_values(mechanism: Mechanism, drawn: ReleasedValues) -> Mapping[str, bytes | Iterable[bytes]]:
    """Return the members `value`, `value_exact` and `value_in_range` as JSON; lists are in pieces."""
    lower, upper = mechanism.statistic.lower, mechanism.statistic.upper
    if mechanism.statistic.bins is None:
        value, kind = drawn[0], mechanism.statistic.date_kind
        within = min(max(value, lower), upper)
        return {
            "value": encode_json(json_number(value)),
            "value_exact": encode_json(decimal_text(value)),
            "value_in_range": encode_json(json_number(within)),
            **({} if kind is None else {"value_as_date": encode_json(format_nearest(within, kind))}),
        }
    doubles = _doubles(drawn)
    return {
        "value": array_pieces(number_texts(doubles), drawn.places),
        "value_exact": _exact_pieces(drawn),
        "value_in_range": array_pieces(number_texts(_in_range(mechanism.statistic, doubles)), drawn.places),
    }


def _exact_pieces(drawn: ReleasedValues) -> Iterator[bytes]:
    yield from array_pieces(texts_array(f'"{decimal_text(value)}"' for value in drawn.distinct()), drawn.places)


def _doubles(drawn: ReleasedValues) -> Doubles:
    """Return the distinct numbers as doubles."""
    return np.fromiter(map(to_nearest_double, drawn.distinct()), np.float64)


def _in_range(statistic: Statistic, doubles: Doubles) -> Doubles:
    """Return the doubles clamped to the public range; rounding is monotone, so clamping first gives the same result."""
    clamped: Doubles = np.clip(doubles, to_nearest_double(statistic.lower), to_nearest_double(statistic.upper))
    return clamped


def report_value(statistic: Statistic, value: mpq) -> mpq:
    """Return a number as reported in `value_in_range`: clamped to the public range and rounded to a double."""
    return mpq(to_nearest_double(min(max(value, statistic.lower), statistic.upper)))


def report_values(statistic: Statistic, drawn: ReleasedValues) -> tuple[tuple[mpq, ...], tuple[mpq, ...]]:
    """Return each component's number as reported in `value`, and as reported in `value_in_range`."""
    doubles, places = _doubles(drawn), drawn.places.tolist()
    raw, in_range = (list(map(mpq, each.tolist())) for each in (doubles, _in_range(statistic, doubles)))
    return tuple(raw[place] for place in places), tuple(in_range[place] for place in places)


def interval(statistic: Statistic, reach: mpq, value_in_range: mpq) -> tuple[float, float]:
    """Return the interval `value_in_range` ± `reach`, rounded outwards and clamped to the statistic's public range.

    `reach` is the sum of radius and resolution, in the statistic's units.
    """
    lowest, highest = statistic.range_in_doubles
    return max(round_down(value_in_range - reach), lowest), min(round_up(value_in_range + reach), highest)


def encode_intervals(statistic: Statistic, reach: mpq, drawn: ReleasedValues) -> Iterator[bytes]:
    """Yield the JSON array of all components' intervals, each as in `interval`, in pieces."""
    middles = _in_range(statistic, _doubles(drawn))
    yield from array_pieces(interval_texts(middles, reach, *statistic.range_in_doubles), drawn.places)
