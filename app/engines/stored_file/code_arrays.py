"""The codes of a column of values, as arrays: the same integers as those of the expressions in `app.engines.sql`.

Every operation on doubles is the one that engines execute, in the same order, so both round alike.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from app.dp.numbers.exact import to_nearest_double
from app.dp.table.codes import Codes
from app.dp.table.columns import Kind
from app.engines.sql.expressions import clip_to_64_bits, ends_of_real_codes
from app.engines.stored_columns import INT64_MAX, INT64_MIN

Floats: TypeAlias = npt.NDArray[np.float64]
Wholes: TypeAlias = npt.NDArray[np.int64]
CodeArray: TypeAlias = npt.NDArray[np.uint32]
Missing: TypeAlias = npt.NDArray[np.bool_]

_MAX_SQUARED = 2**22
"""Squares of smaller codes, of all rows of a row group together, fit into 64 bits."""


def to_numbers(array: pa.Array) -> tuple[npt.NDArray[np.generic], Missing]:
    """Return the numbers of a stored array, and which are missing (NULL, NaN); those of NULL are any, or NaN."""
    if pa.types.is_boolean(array.type):
        return array.fill_null(pa.scalar(value=False)).to_numpy(zero_copy_only=False), _find_nulls(array)
    if pa.types.is_floating(array.type):
        numbers = array.to_numpy(zero_copy_only=False)  # NULL becomes NaN
        return numbers, np.isnan(numbers)
    content = array.buffers()[1]
    return np.frombuffer(content, np.int64)[array.offset :][: len(array)], _find_nulls(array)


def _find_nulls(array: pa.Array) -> Missing:
    found: Missing = array.is_null().to_numpy(zero_copy_only=False)
    return found


def to_codes(values: npt.NDArray[np.generic], missing: Missing | None, codes: Codes) -> CodeArray:
    """Return the code of each stored value; those that are missing have the code of missing values."""
    if codes.kind is Kind.BOOLEAN:
        found = values.astype(np.uint32)
    elif codes.kind is Kind.REAL:
        found = _code_reals(values.astype(np.float64, copy=False), codes)
    else:
        found = _code_wholes(values.astype(np.int64, copy=False), codes)
    if missing is not None:
        found[missing] = codes.null_code
    return found


def _code_reals(values: Floats, codes: Codes) -> CodeArray:
    first, last = ends_of_real_codes(codes)
    with np.errstate(all="ignore"):  # infinities, and values far outside the bounds
        position = (values - to_nearest_double(codes.lower)) * to_nearest_double(codes.steps / codes.width)
        position += 0.5
        np.floor(position, out=position)
    position[~(values > first)] = 0
    position[values >= last] = codes.steps
    found: CodeArray = position.astype(np.uint32)
    return found


def _code_wholes(values: Wholes, codes: Codes) -> CodeArray:
    unit = 10**codes.scale
    lower, upper = codes.lower * unit, codes.upper * unit
    first = clip_to_64_bits(math.ceil(lower))
    # Modulo 2⁶⁴: right for all values from `first` on, which are those that no bound replaces below.
    distance = values.view(np.uint64) - np.uint64(first % 2**64)
    if codes.exact:
        position = distance + np.uint64(int(first - lower) % 2**64)
    else:
        per_unit = codes.steps / (upper - lower)
        rounded = distance.astype(np.float64) * to_nearest_double(per_unit)
        if offset := to_nearest_double((first - lower) * per_unit):
            rounded += offset
        position = np.floor(rounded + 0.5)
    position = np.minimum(position, codes.steps)
    if lower >= INT64_MIN:
        position[values <= clip_to_64_bits(math.floor(lower))] = 0
    if upper <= INT64_MAX:
        position[values >= clip_to_64_bits(math.ceil(upper))] = codes.steps
    found: CodeArray = position.astype(np.uint32)
    return found


def sum_squares(codes: CodeArray, steps: int) -> int:
    """Return the exact sum of squares of the codes of a row group, the largest of which may be `steps`."""
    wide = codes.astype(np.uint64)
    if steps < _MAX_SQUARED:
        return int(wide @ wide)
    high, low = wide >> np.uint64(16), wide & np.uint64(2**16 - 1)
    return (int(high @ high) << 32) + (int(high @ low) << 17) + int(low @ low)


def to_places(texts: pa.ChunkedArray, categories: Sequence[str]) -> pa.ChunkedArray:
    """Return the place of each text in the list of categories: their number for other texts, NULL for missing ones."""
    listed = pc.index_in(texts, value_set=pa.array(categories, pa.string())).fill_null(len(categories))
    places = pc.if_else(pc.is_null(texts), None, listed)
    return places.cast(choose_place_type(categories))


def choose_place_type(categories: Sequence[str]) -> pa.DataType:
    """Return the type of a column of places; engines group by a column of bytes without a hash table."""
    return pa.uint8() if len(categories) < 2**8 else pa.uint16()
