"""Convert Arrow arrays of any suitable type to stored values. Only numbers that become doubles are rounded."""

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from app.dp.table.columns import Column, Kind
from app.engines.ingest.cells import UnreadableError, read_whole
from app.engines.ingest.checks import flag_places
from app.engines.ingest.date_arrays import HAS_ZONE, to_units
from app.engines.ingest.text_arrays import is_identifier, is_text, is_unit, is_uuid, to_texts
from app.engines.stored_columns import choose_stored_type

Stored: TypeAlias = tuple[pa.Array, dict[int, str]]
"""The stored values, and for each position of a value that cannot be stored, what is wrong with it."""

_NUMBERS: tuple[Callable[[pa.DataType], bool], ...] = (types.is_integer, types.is_floating, types.is_decimal)
_SUITABLE: dict[Kind, tuple[tuple[Callable[[pa.DataType], bool], ...], str]] = {
    Kind.INTEGER: (_NUMBERS, "numeric"),
    Kind.DECIMAL: (_NUMBERS, "numeric"),
    Kind.REAL: (_NUMBERS, "numeric"),
    Kind.BOOLEAN: ((types.is_boolean, types.is_integer), "boolean"),
    Kind.CATEGORY: ((is_text,), "text"),
}
_UNITS = (is_identifier,), "text, whole-number, decimal, date or binary"
_DATES: tuple[tuple[Callable[[pa.DataType], bool], ...], str] = (
    (types.is_date, types.is_timestamp),
    "date or timestamp",
)


def unsuitable_type(found: pa.DataType, column: Column) -> str | None:
    """Return what is wrong with an array's type; None if it suits the column. Lists never do."""
    if types.is_null(found):
        return None
    if isinstance(found, pa.BaseExtensionType) and not is_uuid(found):
        found = found.storage_type
    predicates, content = _UNITS if is_unit(column) else _SUITABLE.get(column.kind, _DATES)
    value_type = found.value_type if types.is_dictionary(found) else found
    if types.is_timestamp(value_type) and value_type.tz is not None and column.kind is Kind.DATE:
        return HAS_ZONE
    return None if any(is_so(value_type) for is_so in predicates) else f"must be of a {content} type"


def to_stored_array(array: pa.Array, column: Column) -> Stored:
    """Return the values of an array of a suitable type as they are stored."""
    if types.is_null(array.type):
        return pa.nulls(len(array), choose_stored_type(column)), {}
    if column.kind is Kind.CATEGORY:
        return to_texts(array, column)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if column.kind is Kind.REAL:
        return _doubles(array), {}
    if column.kind is Kind.BOOLEAN:
        return _booleans(array)
    if column.kind.temporal:
        return to_units(array, column), {}
    return _whole_numbers(array, column.scale if column.kind is Kind.DECIMAL else 0)


def _doubles(array: pa.Array) -> pa.Array:
    if types.is_decimal(array.type):
        # Python rounds to the nearest; Arrow's own conversion multiplies by a power of ten.
        return pa.array([None if value is None else float(value) for value in array.to_pylist()], pa.float64())
    return array.cast(pa.float64(), safe=False)


def _booleans(array: pa.Array) -> Stored:
    if types.is_boolean(array.type):
        return array, {}
    other = pc.invert(pc.is_in(array, value_set=pa.array([0, 1, None], array.type)))
    return pc.equal(array, 1), flag_places(other, "is not true, false, 1 or 0")


def _whole_numbers(array: pa.Array, scale: int) -> Stored:
    """Return numbers in units of 10^-scale: in one cast if all are 64-bit integers, else one by one as decimals."""
    if types.is_floating(array.type):
        array = array.cast(pa.float64()) if types.is_float16(array.type) else array
        array = pc.if_else(pc.is_nan(array), None, array)  # how data frames mark a missing whole number
    if scale == 0 and not _holds_2_to_the_63(array):
        try:
            return array.cast(pa.int64()), {}
        except pa.ArrowInvalid:
            pass  # some are not; the loop below finds which
    values: list[int | None] = []
    problems: dict[int, str] = {}
    for place, text in enumerate(_decimals(array)):
        value = None
        if text is not None:
            try:
                value = read_whole(text, scale)
            except UnreadableError as error:
                problems[place] = str(error)
        values.append(value)
    return pa.array(values, pa.int64()), problems


def _decimals(array: pa.Array) -> list[str | None]:
    """Return numbers as decimals: exactly, except that a double with a fraction becomes its shortest decimal.

    So the double 12.34 becomes 12.34 in a decimal column.
    """
    texts: list[str | None] = array.cast(pa.string()).to_pylist()
    if not types.is_floating(array.type):
        return texts
    doubles: list[float | None] = array.cast(pa.float64()).to_pylist()
    pairs = zip(texts, doubles, strict=True)
    return [text if double is None or not double.is_integer() else str(int(double)) for text, double in pairs]


def _holds_2_to_the_63(array: pa.Array) -> bool:
    """Return whether a double is 2⁶³. Where casts saturate (ARM), Arrow's checked cast accepts it, as 2⁶³ - 1."""
    return types.is_floating(array.type) and pc.any(pc.equal(array, 2.0**63)).as_py() is True
