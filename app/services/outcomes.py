"""What is released, and the intervals around it: for a histogram one of each for every bin.

Each number that occurs is spelled once: among a million bins there are some hundred, unless the grid is fine.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from gmpy2 import mpq

from app.dp.mechanism import Mechanism
from app.dp.numbers import decimal_text, json_number, nearest, round_down, round_up
from app.dp.offsets import added_down, added_up
from app.dp.released import Released
from app.dp.statistics import Statistic
from app.services.json_text import Doubles, array_of, double_texts, encode, entries_of, shown_texts, texts_of


def values(mechanism: Mechanism, drawn: Released) -> Mapping[str, bytes]:
    """The mechanism's output, its exact text, and the output clamped to the public range; as JSON."""
    lower, upper = mechanism.statistic.lower, mechanism.statistic.upper
    if mechanism.statistic.bins is None:
        (value,) = drawn
        return {
            "value": encode(json_number(value)),
            "value_exact": encode(decimal_text(value)),
            "value_in_range": encode(json_number(min(max(value, lower), upper))),
        }
    doubles = np.fromiter(map(nearest, drawn.distinct()), np.float64)
    columns = {
        "value": shown_texts(doubles),
        "value_exact": texts_of(f'"{decimal_text(value)}"' for value in drawn.distinct()),
        # Rounding to doubles keeps the order, so it and the clamp may change places.
        "value_in_range": shown_texts(np.clip(doubles, nearest(lower), nearest(upper))),
    }
    return {name: array_of(texts.take(pa.array(drawn.places))) for name, texts in columns.items()}


@lru_cache(maxsize=1024)
def _range(statistic: Statistic) -> tuple[float, float]:
    """The statistic's public range, rounded outwards."""
    return round_down(statistic.lower), round_up(statistic.upper)


def intervals(statistic: Statistic, reach: mpq, value_in_range: bytes) -> bytes:
    """Around each value that is reported as in range ± reach (radius + resolution), rounded outwards; as JSON.

    They are cut to the statistic's public range.
    """
    lowest, highest = _range(statistic)
    if statistic.bins is None:
        middle = mpq(float(value_in_range))
        return encode([max(round_down(middle - reach), lowest), min(round_up(middle + reach), highest)])
    entries = entries_of(value_in_range)
    middles: Doubles = pc.cast(entries.dictionary, pa.float64()).to_numpy()
    lower = double_texts(np.maximum(added_down(middles, -reach), lowest))
    upper = double_texts(np.minimum(added_up(middles, reach), highest))
    return array_of(pc.binary_join_element_wise("[", lower, ",", upper, "]", "").take(entries.indices))
