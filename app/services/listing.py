"""JSON arrays with an entry for each of a million bins, by Arrow and without a Python object for each entry."""

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

SMALLEST, LARGEST = 1e-4, 1e10
"""Between these sizes Arrow writes a double as Python does: its shortest digits, and no exponent."""


def numbers(values: Sequence[float]) -> bytes:
    """The JSON array of numbers of which the whole ones up to 2⁵³ are integers (`app.dp.numbers.json_number`)."""
    doubles = np.array(values, np.float64)
    sizes = np.abs(doubles)
    unlike = (sizes != 0) & (sizes < SMALLEST) | (sizes >= LARGEST)
    texts = pc.cast(pa.array(doubles), pa.string())
    if unlike.any():
        spelled = pa.array([json.dumps(values[i]) for i in np.flatnonzero(unlike).tolist()])
        texts = pc.replace_with_mask(texts, pa.array(unlike), spelled)
    return _array(texts)


def spread(texts: Sequence[str], places: npt.NDArray[np.intp]) -> bytes:
    """The JSON array whose entries are these texts, by their places."""
    return _array(pa.array(texts).take(pa.array(places)))


def gathered(array: bytes) -> tuple[list[str], npt.NDArray[np.intp]]:
    """The reverse of `spread`, for entries without commas: the different texts, and which of them each entry is."""
    entries = pc.split_pattern(pa.array([array[1:-1].decode()]), ",").values.dictionary_encode()
    return entries.dictionary.to_pylist(), entries.indices.to_numpy()


def _array(texts: pa.StringArray) -> bytes:
    (joined,) = pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), ",")
    return b"[%b]" % joined.as_buffer().to_pybytes()
