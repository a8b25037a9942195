"""What is released, and the intervals around it: for a histogram one of each for every bin.

Each number that occurs is spelled once: among a million bins there are some hundred, unless the grid is fine.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from gmpy2 import mpq

from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.released_values import ReleasedValues
from app.dp.numbers.exact import decimal_text, json_number, round_down, round_up, to_nearest_double
from app.dp.statistics import Statistic
from app.interval_text import interval_texts
from app.json_text import Doubles, array_pieces, encode_json, number_texts, texts_array


def encode_values(mechanism: Mechanism, drawn: ReleasedValues) -> Mapping[str, bytes | Iterable[bytes]]:
    """The mechanism's output, its exact text, and the output clamped to the public range; as JSON, lists in pieces."""
    lower, upper = mechanism.statistic.lower, mechanism.statistic.upper
    if mechanism.statistic.bins is None:
        (value,) = drawn
        return {
            "value": encode_json(json_number(value)),
            "value_exact": encode_json(decimal_text(value)),
            "value_in_range": encode_json(json_number(min(max(value, lower), upper))),
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
    """The numbers that occur, as doubles."""
    return np.fromiter(map(to_nearest_double, drawn.distinct()), np.float64)


def _in_range(statistic: Statistic, doubles: Doubles) -> Doubles:
    """The same within the public range. Rounding to doubles keeps the order, so it and the clamp may change places."""
    clamped: Doubles = np.clip(doubles, to_nearest_double(statistic.lower), to_nearest_double(statistic.upper))
    return clamped


def public_range(statistic: Statistic) -> tuple[float, float]:
    """The statistic's public range, rounded outwards."""
    return round_down(statistic.lower), round_up(statistic.upper)


def reported_value(statistic: Statistic, value: mpq) -> mpq:
    """A number as it is reported in range."""
    return mpq(to_nearest_double(min(max(value, statistic.lower), statistic.upper)))


def reported_values(statistic: Statistic, drawn: ReleasedValues) -> tuple[tuple[mpq, ...], tuple[mpq, ...]]:
    """Each component's number as it is reported, and as it is reported in range."""
    doubles, places = _doubles(drawn), drawn.places.tolist()
    raw, in_range = (list(map(mpq, each.tolist())) for each in (doubles, _in_range(statistic, doubles)))
    return tuple(raw[place] for place in places), tuple(in_range[place] for place in places)


def interval(statistic: Statistic, reach: mpq, value_in_range: mpq) -> tuple[float, float]:
    """Around a value that is reported as in range ± reach (radius + resolution), rounded outwards.

    It is cut to the statistic's public range.
    """
    lowest, highest = public_range(statistic)
    return max(round_down(value_in_range - reach), lowest), min(round_up(value_in_range + reach), highest)


def encode_intervals(statistic: Statistic, reach: mpq, drawn: ReleasedValues) -> Iterator[bytes]:
    """As `interval`, around each component's value; as JSON, in pieces."""
    middles = _in_range(statistic, _doubles(drawn))
    yield from array_pieces(interval_texts(middles, reach, *public_range(statistic)), drawn.places)
