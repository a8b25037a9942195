"""Checks that files of both formats share."""

import pyarrow as pa
import pyarrow.compute as pc

from app.dp.table.columns import Column
from app.engines.ingest.problems import MOST_PROBLEMS


def find_missing_values(array: pa.Array, column: Column) -> dict[int, str]:
    """The first values that are missing (NULL or NaN) although the column is declared to have them all."""
    if column.nullable:
        return {}
    return flag_places(pc.is_null(array, nan_is_null=True), "is missing")


def flag_places(wrong: pa.Array, what: str) -> dict[int, str]:
    """The same problem at the first places where `wrong` is true."""
    return dict.fromkeys(pc.indices_nonzero(wrong)[:MOST_PROBLEMS].to_pylist(), what)
