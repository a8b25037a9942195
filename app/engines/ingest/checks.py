"""Checks that files of both formats share."""

import pyarrow as pa
import pyarrow.compute as pc

from app.dp.table.columns import Column


def find_missing_values(array: pa.Array, column: Column) -> dict[int, str]:
    """Return a problem for each missing value (NULL or NaN) in a column that is declared to have none."""
    if column.nullable:
        return {}
    return flag_places(pc.is_null(array, nan_is_null=True), "is missing")


def flag_places(wrong: pa.Array, what: str) -> dict[int, str]:
    """Return the same problem for each position where `wrong` is true."""
    return dict.fromkeys(pc.indices_nonzero(wrong).to_pylist(), what)
