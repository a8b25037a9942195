"""Convert Arrow arrays to the texts of a category or of the unit column."""

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from app.dp.table.columns import Column, Kind
from app.engines.ingest.cells import MAX_IN_TEXT, TOO_LONG, without_undeclared
from app.engines.ingest.checks import flag_places

_TOO_MANY_BYTES = f"has more than {MAX_IN_TEXT:,} bytes"
_UUID_PARTS = (0, 8), (8, 12), (12, 16), (16, 20), (20, 32)


def is_text(found: pa.DataType) -> bool:
    """Return whether an array's values are texts, or bytes, which are texts where a writer does not say so."""
    return _is_string(found) or _is_binary(found) or is_uuid(found)


def is_identifier(found: pa.DataType) -> bool:
    """Return whether an array may be the unit column."""
    others = types.is_integer, types.is_decimal, types.is_date, types.is_timestamp
    return is_text(found) or any(is_so(found) for is_so in others)


def is_uuid(found: pa.DataType) -> bool:
    """Return whether an array's values are UUIDs."""
    return isinstance(found, pa.UuidType)


def is_unit(column: Column) -> bool:
    """Return whether this is the unit column: the only category column without categories."""
    return column.kind is Kind.CATEGORY and not column.categories


def to_texts(array: pa.Array, column: Column) -> tuple[pa.Array, dict[int, str]]:
    """Return the values as texts, and for each position of a value that cannot be stored, what is wrong with it.

    A UUID becomes its usual text. Other values of the unit column become texts that differ where the values do.
    """
    encoded = _encode(array)
    values, indices = encoded.dictionary, encoded.indices
    problems = _find_too_large(values, indices)
    if problems:  # decoding values that are too large could fill the memory
        return pa.nulls(len(array), pa.string()), problems
    if is_uuid(array.type):
        texts = pa.array(list(map(_write_uuid, values.to_pylist())), pa.string())
    elif is_unit(column) and not _is_string(values.type):
        texts = _write_identifiers(values)
    else:
        texts = _decode(values)
    # A damaged value that no row has is no problem.
    problems = flag_places(pc.and_(pc.is_null(texts), pc.is_valid(values)).take(indices), "is not a text in UTF-8")
    return pa.DictionaryArray.from_arrays(indices, without_undeclared(texts, column)).cast(pa.string()), problems


def _encode(array: pa.Array) -> pa.DictionaryArray:
    """Return an array as a dictionary array whose dictionary has at most as many values as the array.

    A batch may have the dictionary of its whole row group, which would be converted again for each batch.
    """
    stored = array.storage if isinstance(array, pa.ExtensionArray) else array
    encoded = stored if types.is_dictionary(stored.type) else stored.dictionary_encode()
    indices, values = encoded.indices, encoded.dictionary
    if types.is_string_view(values.type) or types.is_binary_view(values.type):
        values = values.cast(pa.large_string() if types.is_string_view(values.type) else pa.large_binary())
    if len(values) > len(indices):
        used = indices.unique().drop_null()
        indices, values = pc.index_in(indices, used), values.take(used)
    return pa.DictionaryArray.from_arrays(indices, values)


def _find_too_large(values: pa.Array, indices: pa.Array) -> dict[int, str]:
    if _is_string(values.type):
        return flag_places(pc.greater(pc.utf8_length(values), MAX_IN_TEXT).take(indices), TOO_LONG)
    if _is_binary(values.type):
        return flag_places(pc.greater(pc.binary_length(values), MAX_IN_TEXT).take(indices), _TOO_MANY_BYTES)
    return {}


def _write_identifiers(values: pa.Array) -> pa.Array:
    """Return the exact values of the unit column: bytes in hexadecimal, dates and times as whole numbers."""
    if _is_binary(values.type):
        return pa.array([None if value is None else value.hex() for value in values.to_pylist()], pa.string())
    if types.is_date(values.type) or types.is_timestamp(values.type):
        values = values.cast(pa.int32() if types.is_date32(values.type) else pa.int64())
    return values.cast(pa.string())


def _write_uuid(value: bytes | None) -> str | None:
    return None if value is None else "-".join(value.hex()[start:end] for start, end in _UUID_PARTS)


def _decode(values: pa.Array) -> pa.Array:
    """Return texts; those that are not in UTF-8 are missing."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(list(map(_decode_one, values.to_pylist())), pa.string())


def _decode_one(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _is_string(found: pa.DataType) -> bool:
    return any(is_so(found) for is_so in (types.is_string, types.is_large_string, types.is_string_view))


def _is_binary(found: pa.DataType) -> bool:
    kinds = types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary
    return any(is_so(found) for is_so in kinds)
