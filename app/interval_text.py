"""The intervals around the counts of an answer, as JSON: one list of two numbers for each of a million bins.

Each number that occurs is spelled once, and nothing is held but some ten thousand entries at a time.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from gmpy2 import mpq

from app.dp.numbers.double_offsets import add_rounding_down, add_rounding_up
from app.json_text import Doubles, dictionary_entries, double_texts, joined

CHUNK_BYTES = 2**18


def interval_texts(middles: Doubles, reach: mpq, lowest: float, highest: float) -> pa.StringArray:
    """Each middle ± reach, rounded outwards and cut to the public range, as `[lower,upper]`."""
    lower = double_texts(np.maximum(add_rounding_down(middles, -reach), lowest))
    upper = double_texts(np.minimum(add_rounding_up(middles, reach), highest))
    return pc.binary_join_element_wise("[", lower, ",", upper, "]", "")


def interval_pieces(values: Iterable[bytes], reach: mpq, lowest: float, highest: float) -> Iterator[bytes]:
    """The intervals around each number of an array, which is given in pieces of its JSON and not empty."""
    separator = b"["
    for numbers in _whole_entries(values):
        entries = dictionary_entries(numbers)
        middles: Doubles = pc.cast(entries.dictionary, pa.float64()).to_numpy()
        yield separator
        yield joined(interval_texts(middles, reach, lowest, highest).take(entries.indices))
        separator = b","
    yield b"]"


def _whole_entries(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The text between an array's brackets, cut at commas into chunks."""
    rest = b""
    for piece in pieces:
        rest += piece
        if len(rest) >= CHUNK_BYTES:
            complete, _, rest = rest.rpartition(b",")
            yield complete.removeprefix(b"[")
    yield rest.removeprefix(b"[").removesuffix(b"]")
