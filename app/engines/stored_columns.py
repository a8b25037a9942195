"""How an uploaded table is stored: one Parquet file, whose columns have one type for each kind."""

from collections.abc import Sequence

import pyarrow as pa

from app.dp.table.columns import Column, Kind

INT64_LEAST, INT64_MOST = -(2**63), 2**63 - 1
"""Integers and decimals are stored as 64-bit whole numbers: a decimal column of scale s in units of 10⁻ˢ."""

_TYPES = {
    Kind.INTEGER: pa.int64(),
    Kind.DECIMAL: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.CATEGORY: pa.string(),
}


def stored_name(name: str) -> str:
    """The name of a column in the stored file: its UTF-8 bytes in hexadecimal.

    DuckDB's identifiers ignore case, so that of two columns `a` and `A` it would read the first under either name.
    """
    return f"c{name.encode().hex()}"


def stored_type(column: Column) -> pa.DataType:
    """The Arrow type that a column's values are stored as."""
    return _TYPES[column.kind]


def stored_schema(columns: Sequence[Column]) -> pa.Schema:
    """The schema of the stored file."""
    return pa.schema([pa.field(stored_name(column.name), stored_type(column)) for column in columns])


UNIT = "unit"
"""The column, in a file that is not kept, that says whose row it is; no stored name is like it."""
