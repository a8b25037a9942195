"""Batches of checked rows on their way into a stored table, by way of a second file where units are counted."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from app.dp.columns import Column
from app.engines.duckdb_engine import DuckDBEngine
from app.engines.ingest import Batches, Units
from app.engines.ingest.problems import Problems
from app.engines.ingest.writer import write_batches
from app.engines.stored import UNIT, stored_schema


def take_in(
    engine: DuckDBEngine, target: Path, batches: Batches, columns: Sequence[Column], units: Units | None
) -> int:
    """Store the declared columns as `target`, and count their rows.

    Raises:
        InvalidFile: they do not hold what is declared, or a unit has too many rows; nothing is left behind.
        EngineFailure, OSError: they could not be read or written; nothing is left behind.
    """
    problems, schema = Problems(), stored_schema(columns)
    if units is None:
        return write_batches(target, schema, batches(columns, problems), problems)
    with_units = schema.append(pa.field(UNIT, pa.string()))
    staged = engine.scratch / f"{uuid4().hex}.parquet"
    try:
        rows = _named(batches([*columns, units.declared], problems), with_units)
        n = write_batches(staged, with_units, rows, problems)
        if not units.truncate:
            refuse_units_over(engine.units_over(staged, units.most), units)
        most = units.most if units.truncate else n
        return write_batches(target, schema, engine.rows_of_units(staged, schema, most), problems)
    finally:
        staged.unlink(missing_ok=True)


def refuse_units_over(over: int, units: Units) -> None:
    """Refuse a table in which somebody has too many rows.

    Raises:
        InvalidFile: somebody has; the owner is told how many.
    """
    if over:
        told = "1 unit has" if over == 1 else f"{over:,} units have"
        what = f"says that {told} more rows than rows_per_unit, which is {units.most:,}"
        Problems().refuse(f"column {units.column}", what)


def _named(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
