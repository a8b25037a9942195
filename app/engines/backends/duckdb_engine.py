"""DuckDB inside the process: the default engine."""

import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from app.dp.table.sums import Answer, Needs
from app.engines.atomic_files import scratch_directory
from app.engines.backends.answers import compute_answers
from app.engines.errors import translate_engine_errors
from app.engines.ingest import LargeUnits
from app.engines.prepared_sums import PreparedTable
from app.engines.sql.bin_expressions import Cuts
from app.engines.sql.expressions import column, whole
from app.engines.sql.queries import CUTS, FIRST_BIN, THRESHOLD, render
from app.engines.sql.stored_codes import use_stored_columns
from app.engines.stored_columns import UNIT

logger = logging.getLogger(__name__)

_FILE = "file"
_TABLE = exp.Table(this=exp.ReadParquet(expressions=[exp.Placeholder(this=_FILE)]))


class DuckDBEngine:
    """Exact sums over stored Parquet files.

    The database has no data of its own, and can read one directory and nothing else. Every query has its own cursor,
    which is DuckDB's unit of concurrency, so any number of threads may run queries at the same time.
    """

    def __init__(
        self,
        directory: Path,
        threads: int | None = None,
        memory_limit: str = "2GB",
        max_spilled_bytes: int | None = None,
    ) -> None:
        self._scratch, self._scratch_lock = scratch_directory(directory)
        settings: dict[str, str | int | bool | float | list[str]] = {
            "memory_limit": memory_limit,
            "temp_directory": str(self._scratch),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
        }
        if threads is not None:
            settings["threads"] = threads
        if max_spilled_bytes is not None:
            settings["max_temp_directory_size"] = f"{max_spilled_bytes}B"
        self._connection = duckdb.connect(":memory:", config=settings)
        # A Parquet file's statistics do not count NaN. Without this setting, DuckDB 2 assumes that there is no NaN.
        self._connection.execute("SET GLOBAL parquet_can_have_nan = true")
        # In this order: each statement forbids the ones before it.
        self._connection.execute("SET allowed_directories = [$directory]", {"directory": str(directory)})
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def compute(self, path: Path, scan: Sequence[Needs], prepared: PreparedTable | None = None) -> list[Answer]:
        """Return the exact integers for each need of a scan from `scans_of`, with one statement over a stored table.

        Args:
            path: the stored table.
            scan: the needs.
            prepared: what the stored table has codes of.

        Raises:
            EngineFailure: the statement failed. Only the error's type is logged, because its message can show values.
        """
        stored = [use_stored_columns(each, prepared) for each in scan]
        return translate_engine_errors(
            logger, "DuckDB", lambda: compute_answers(stored, _TABLE, "duckdb", partial(self._run, path))
        )

    @property
    def scratch(self) -> Path:
        """A directory for files that need not outlive the process, which the engine can read."""
        return self._scratch

    def find_large_units(self, path: Path, most: int) -> LargeUnits:
        """Return the units with more than `most` rows in a table with the column `unit`.

        Raises:
            MemoryError: the query needs more memory or disk than the engine may use.
            EngineFailure: the query failed.
        """

        def count() -> LargeUnits | None:
            with suppress(duckdb.OutOfMemoryException):
                ((over, largest),) = self._rows(render(_large_units_query(most), "duckdb"), path)
                return LargeUnits(int(over), int(largest))
            return None

        found = translate_engine_errors(logger, "DuckDB", count)
        if found is None:
            raise MemoryError
        return found

    def rows_of_units(self, path: Path, schema: pa.Schema, most: int) -> Iterator[pa.RecordBatch]:
        """Yield the columns of `schema` for at most `most` rows of each unit, chosen by a keyed hash of the row.

        The key is random and is never stored. So a person who knows or wrote a row can neither predict nor influence
        whether it is kept. The choice of a unit's rows does not depend on any other unit.

        Raises:
            MemoryError: the query needs more memory or disk than the engine may use.
        """
        values = ", ".join(f'"{name}"' for name in schema.names)
        query = (
            f"SELECT {values} FROM read_parquet($file) QUALIFY row_number() OVER "  # noqa: S608 - hexadecimal names
            f'(PARTITION BY "{UNIT}" ORDER BY sha256($key || CAST(row({values}) AS VARCHAR))) <= {most:d}'
        )
        try:
            with self._connection.cursor() as cursor:
                chosen = cursor.sql(query, params={_FILE: str(path), "key": secrets.token_hex(32)})
                for batch in cast("Iterator[pa.RecordBatch]", chosen.to_arrow_reader(2**14)):
                    yield batch.cast(schema)
        except duckdb.OutOfMemoryException:
            raise MemoryError from None

    def close(self) -> None:
        """Close the database and delete what it spilled to disk."""
        self._connection.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        os.close(self._scratch_lock)

    def _run(self, path: Path, query: str, cuts: Cuts | None) -> list[tuple[int, ...]] | NDArray[np.int64]:
        if cuts is None:
            return self._rows(query, path)
        with self._connection.cursor() as cursor:  # for a million bins, fetch whole columns; both are 64-bit integers
            cursor.register(CUTS, _cuts_table(cuts))  # seen by this cursor alone
            return np.column_stack(list(cursor.execute(query, {_FILE: str(path)}).fetchnumpy().values()))

    def _rows(self, query: str, path: Path) -> list[tuple[int, ...]]:
        with self._connection.cursor() as cursor:
            return cursor.execute(query, {_FILE: str(path)}).fetchall()


def _large_units_query(most: int) -> exp.Select:
    rows = exp.select(exp.alias_(exp.Count(this=exp.Star()), "rows", quoted=True)).from_(_TABLE.copy())
    units = rows.group_by(column(UNIT)).subquery("units")
    over = exp.CountIf(this=exp.GT(this=column("rows"), expression=whole(most)))
    return exp.select(over, exp.Max(this=column("rows"))).from_(units)


def _cuts_table(cuts: Cuts) -> pa.Table:
    # Through numpy, which is faster: Arrow converts a range number by number.
    return pa.table({THRESHOLD: np.array(cuts.thresholds), FIRST_BIN: np.array(cuts.bins)})
