"""The tables that the service keeps: taken in, summed, dropped."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import uuid4

import pyarrow as pa

from app import metrics
from app.dp.columns import Column
from app.dp.sums import Answer, Needs
from app.engines.duckdb_engine import DuckDBEngine
from app.engines.engine import Engine
from app.engines.errors import EngineFailure
from app.engines.files import remove, remove_abandoned
from app.engines.ingest import ingest
from app.engines.kept import Kept

logger = logging.getLogger(__name__)

MOST_KEPT_NUMBERS = 4_000_000
"""Whole numbers in all kept answers together: four of the largest histograms, some 150 MB."""


class Ingested(NamedTuple):
    """A table taken in: the name to ask for it by, and its number of rows."""

    file_id: str
    n: int


def data_file(directory: Path, file_id: str) -> Path:
    """Where the table of this id is kept in a directory of tables."""
    return directory / f"{file_id}.parquet"


class Tables:
    """Every stored table, one Parquet file each in one directory; safe for threads.

    Several processes may share the directory: a file appears whole and never changes.
    """

    def __init__(
        self, directory: Path, kept_sums: int = 4096, threads: int | None = None, memory_limit: str = "2GB"
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory.resolve()
        remove_abandoned(self._directory)
        self._engine: Engine = DuckDBEngine(self._directory, threads, memory_limit)
        self._kept: Kept[tuple[str, Needs], Answer] = Kept(kept_sums, MOST_KEPT_NUMBERS)

    def ingest(self, upload: BinaryIO, columns: Sequence[Column], null_values: Sequence[str]) -> Ingested:
        """Store the declared columns of a CSV or Parquet file.

        Raises:
            InvalidFile: the file does not hold what is declared; nothing is left behind.
            EngineFailure: it could not be written; nothing is left behind.
        """
        file_id = uuid4().hex
        try:
            return Ingested(file_id, ingest(upload, columns, null_values, self._path(file_id)))
        except (OSError, MemoryError, pa.ArrowException) as error:
            logger.error("a table could not be stored: %s", type(error).__name__)  # noqa: TRY400  see duckdb_engine
        raise EngineFailure

    def sums(self, file_id: str, needs: Needs) -> Answer:
        """The exact integers that a statistic needs of a table: kept, or computed once for all who ask now.

        Raises:
            EngineFailure: the engine is busy, away or failed, or the table is gone.
        """
        return self._kept.get((file_id, needs), lambda: self._compute(file_id, needs))

    def _compute(self, file_id: str, needs: Needs) -> Answer:
        with metrics.engine_timed():
            return self._engine.compute(self._path(file_id), needs)

    def drop(self, file_id: str) -> None:
        """Delete a table for good, with everything computed from it. It may be gone already."""
        remove(self._path(file_id))
        self._kept.forget(lambda key: key[0] == file_id)

    def close(self) -> None:
        """Let go of the engine; the files stay."""
        self._engine.close()

    def _path(self, file_id: str) -> Path:
        return data_file(self._directory, file_id)
