"""The storage format of an uploaded table: one Parquet file, with one column type for each kind."""

from collections.abc import Sequence

import pyarrow as pa

from app.dp.table.columns import Column, Kind

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
"""All other kinds are stored as 64-bit whole numbers: decimals of scale s in units of 10⁻ˢ, dates since 1970-01-01."""

_TYPES = {
    Kind.REAL: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.CATEGORY: pa.string(),
}


def encode_name(name: str) -> str:
    """Return the name of a column in the stored file: its UTF-8 bytes in hexadecimal.

    DuckDB's identifiers ignore case. If a table had the columns `a` and `A`, DuckDB would read the first for both.
    """
    return f"c{name.encode().hex()}"


def encode_code_name(name: str) -> str:
    """Return the name of the stored column that holds the codes of a column at its declared bounds."""
    return f"q{name.encode().hex()}"


def choose_stored_type(column: Column) -> pa.DataType:
    """Return the Arrow type in which a column's values are stored."""
    return _TYPES.get(column.kind, pa.int64())


def build_stored_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the schema of the stored file."""
    return pa.schema([pa.field(encode_name(column.name), choose_stored_type(column)) for column in columns])


UNIT = "unit"
"""The column of a temporary file that holds each row's unit; no stored name can be equal to it."""
