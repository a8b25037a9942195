"""Convert Arrow arrays of dates and timestamps to whole numbers of a column's unit."""

from datetime import UTC, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

from app.dp.table.columns import Column
from app.dp.table.dates import EPOCH, FIRST_INSTANT, LAST_INSTANT, first_unit, last_unit, zone_of
from app.engines.stored_columns import INT64_MAX, INT64_MIN

HAS_ZONE = "has a time zone: declare it as a timestamp with the time zone whose dates count"

_EPOCH = EPOCH.replace(tzinfo=UTC)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def to_units(array: pa.Array, column: Column) -> pa.Array:
    """Return dates or timestamps in the column's unit since 1970-01-01, rounded down; missing ones stay missing."""
    kind, missing = column.kind, pc.is_null(array).to_numpy(zero_copy_only=False)
    if types.is_date32(array.type):
        days = array.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        units = days * (86_400 // kind.seconds)
    else:
        numbers = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        unit = "ms" if types.is_date64(array.type) else array.type.unit
        if types.is_timestamp(array.type) and array.type.tz is not None:
            numbers, unit = _clock_times(numbers, unit, column), "s"
        units = numbers // (_PER_SECOND[unit] * kind.seconds)
    return pa.array(np.clip(units, first_unit(kind) - 1, last_unit(kind) + 1), pa.int64(), mask=missing)


def _clock_times(instants: NDArray[np.int64], unit: str, column: Column) -> NDArray[np.int64]:
    """Return what the clocks of the column's zone show at instants; those beyond all dates become the last numbers.

    Python's zones are used, because Arrow's know no change of the clocks after 2037.
    """
    rate, zone = _PER_SECOND[unit], zone_of(column.time_zone)
    first, last = ((each - _EPOCH) // timedelta(seconds=1) for each in (FIRST_INSTANT, LAST_INSTANT))
    seconds = instants // rate
    found, places = np.unique(np.clip(seconds, first, last), return_inverse=True)
    shown = [(_EPOCH + timedelta(seconds=second)).astimezone(zone) for second in found.tolist()]
    offsets = np.array([(each.utcoffset() or timedelta()) // timedelta(seconds=1) for each in shown], np.int64)
    within = seconds + offsets[places]
    return np.where(seconds < first, INT64_MIN, np.where(seconds > last, INT64_MAX, within))
