"""Formats the intervals around the counts of a histogram as JSON, for up to a million bins.

Equal counts are formatted only once, and only some ten thousand entries are in memory at a time.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from gmpy2 import mpq

from app.dp.numbers.double_offsets import add_rounding_down, add_rounding_up
from app.json_text import Doubles, dictionary_entries, double_texts, join_texts

CHUNK_BYTES = 2**18


def interval_texts(middles: Doubles, reach: mpq, lowest: float, highest: float) -> pa.StringArray:
    """Return the text `[lower,upper]` of each interval middle ± reach, rounded outwards and cut to the public range.

    Args:
        middles: the released values.
        reach: the half-width of all intervals, in the statistic's units.
        lowest: the lower end of the statistic's public range.
        highest: the upper end of the statistic's public range.
    """
    lower = double_texts(np.maximum(add_rounding_down(middles, -reach), lowest))
    upper = double_texts(np.minimum(add_rounding_up(middles, reach), highest))
    return pc.binary_join_element_wise("[", lower, ",", upper, "]", "")


def interval_pieces(values: Iterable[bytes], reach: mpq, lowest: float, highest: float) -> Iterator[bytes]:
    """Yield the JSON array of the intervals around the numbers of an array.

    Args:
        values: the pieces of a JSON array of numbers that is not empty.
        reach: the half-width of all intervals, in the statistic's units.
        lowest: the lower end of the statistic's public range.
        highest: the upper end of the statistic's public range.
    """
    separator = b"["
    for numbers in _whole_entries(values):
        entries = dictionary_entries(numbers)
        middles: Doubles = pc.cast(entries.dictionary, pa.float64()).to_numpy()
        yield separator
        yield join_texts(interval_texts(middles, reach, lowest, highest).take(entries.indices))
        separator = b","
    yield b"]"


def _whole_entries(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the text between an array's brackets in chunks that end between two entries."""
    rest = b""
    for piece in pieces:
        rest += piece
        if len(rest) >= CHUNK_BYTES:
            complete, _, rest = rest.rpartition(b",")
            yield complete.removeprefix(b"[")
    yield rest.removeprefix(b"[").removesuffix(b"]")
