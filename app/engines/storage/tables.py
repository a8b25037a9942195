"""Stored and live tables: their sums, from when they are taken in until they are dropped."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from app import metrics, private_files
from app.dp.table.columns import Column
from app.dp.table.sums import Answer, Needs
from app.engines import live_tables
from app.engines.atomic_files import remove, remove_abandoned
from app.engines.backends.duckdb_engine import DuckDBEngine
from app.engines.errors import EngineFailure, StaleTable, translate_engine_errors
from app.engines.ingest import Units
from app.engines.ingest.problems import Problems
from app.engines.ingest_process.reader import IngestReader
from app.engines.prepared_sums import prepared_file
from app.engines.sql.scan_sharing import can_share, scans_of
from app.engines.storage.connections import Connections, TableOrigin
from app.engines.storage.drafts import Drafts
from app.engines.storage.file_tables import CopyLimits, WatchedFiles
from app.engines.storage.prepared_answers import find_prepared_answer
from app.engines.storage.prepared_tables import PreparedTables, exchange_table, hold_table
from app.engines.storage.shared_scans import SharedScans
from app.engines.storage.single_flight_cache import SingleFlightCache
from app.engines.storage.stored_sums import StoredSums
from app.engines.storage.table_files import LIVE, WATCHED, data_files
from app.engines.storage.table_intake import TableIntake
from app.engines.storage.unregistered_tables import UnregisteredTables
from app.engines.stored_columns import build_stored_schema
from app.engines.stored_file.writer import read_stored, write_batches

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

MAX_KEPT_BYTES = 160 * 2**20
"""The limit on all cached answers with their keys; it holds four of the largest histograms."""

_BYTES_PER_NUMBER, _BYTES_PER_CHARACTER, _BYTES_PER_ANSWER = 40, 12, 2_000


def _estimate_cached_bytes(key: tuple[str, Needs], answer: Answer) -> int:
    """Estimate how much memory an answer takes with its key, which may contain thousands of edges and values.

    The text of a key has at least one character for every twelve bytes of its numbers and texts in memory.
    """
    return _BYTES_PER_ANSWER + _BYTES_PER_NUMBER * len(answer) + _BYTES_PER_CHARACTER * len(repr(key))


COPY_LIMITS = CopyLimits(2**30, 1_800)


class Tables:
    """All tables, one file each in one directory; safe for threads.

    A file holds a table's rows (Parquet), or describes where a live table is. Several processes may share the
    directory, because a file appears complete and never changes. An ingested table counts as unregistered until
    `mark_registered` is called for it.

    Args:
        reader: reads each file in a process of its own; without a reader, this process reads files without limits.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - limits, each with its default
        self,
        directory: Path,
        kept_sums: int = 4096,
        threads: int | None = None,
        memory_limit: str = "2GB",
        connections: Mapping[str, str] | None = None,
        statement_seconds: int = 300,
        reader: IngestReader | None = None,
        copy_limits: CopyLimits = COPY_LIMITS,
    ) -> None:
        private_files.make_private_directory(directory)
        private_files.narrow(directory)
        self._directory = directory.resolve()
        remove_abandoned(self._directory)
        self._pending = UnregisteredTables(self._directory)
        self._engine = DuckDBEngine(self._directory, threads, memory_limit)
        self._sources = Connections(connections or {}, statement_seconds)
        self._kept: SingleFlightCache[tuple[str, Needs], Answer] = SingleFlightCache(
            kept_sums, MAX_KEPT_BYTES, _estimate_cached_bytes
        )
        # A live table is queried every time, so that a change is noticed; concurrent requests still share one query.
        self._asked: SingleFlightCache[tuple[str, Needs], Answer] = SingleFlightCache(0, 0)
        self._stored_sums = StoredSums(self._directory)
        self._prepared = PreparedTables()
        self._shared_scans = SharedScans()
        self._reader = reader
        of_intake = self._engine, self._sources, self._pending, reader, copy_limits
        self.intake = TableIntake(self._directory, *of_intake)
        self.drafts = Drafts(self._sources, self._engine.scratch, copy_limits, reader)

    def has_connection(self, name: str) -> bool:
        """Whether a connection of this name is configured."""
        return name in self._sources

    def list_connections(self) -> list[tuple[str, str]]:
        """Return the names of the configured connections, and what each leads to: an engine, or files."""
        return self._sources.list_names()

    def sums(self, file_id: str, needs: Needs) -> Answer:
        """Return the exact integers that a statistic needs from a table, from the cache or from one computation.

        Concurrent calls for the same integers share the computation.

        Raises:
            EngineFailure: the engine is busy, unavailable or failed, or the table no longer exists.
            StaleTable: the table is live, and its files, its number of rows or a column's type have changed since
                registration.
        """
        return self.all_sums(file_id, [needs])[needs]

    def all_sums(self, file_id: str, needs: Iterable[Needs]) -> dict[Needs, Answer]:
        """Return the answers to several needs, as `sums` does for one; the needs to compute share table scans.

        Raises:
            As `sums`; the answers that were computed before a failure stay cached.
        """
        self._require_unchanged_files(file_id)
        is_live = file_id.startswith(LIVE)
        kept, compute = (self._asked, self._await_other_computation) if is_live else (self._kept, self._find_or_compute)

        def computed(keys: Sequence[tuple[str, Needs]]) -> Iterator[tuple[tuple[str, Needs], Answer]]:
            for each, answer in compute(file_id, [each for _, each in keys]):
                yield (file_id, each), answer

        answers = kept.get_all([(file_id, each) for each in needs], computed)
        return {each: answer for (_, each), answer in answers.items()}

    def count_once(self, file_id: str, needs: Iterable[Needs]) -> dict[Needs, Answer]:
        """Return the answers to several needs, as `all_sums` does, but keep none of them, neither stored nor cached.

        Raises:
            As `sums`.
        """
        table = self._live(file_id) if file_id.startswith(LIVE) else None
        found, missing = self._find_prepared(self._path(file_id), needs)
        for scan in scans_of(missing, keyed=table is not None):
            if table is None:
                answers = self._scan(self._path(file_id), scan)
            else:
                answers = self._sources.of(table.connection).compute(table, scan)
            found.update(zip(scan, answers, strict=True))
        return found

    def are_known(self, file_id: str, needs: Needs) -> bool:
        """Whether `sums` would answer without a scan, and without asking anything else."""
        if file_id.startswith((WATCHED, LIVE)):
            return False
        return (file_id, needs) in self._kept or not self._find_prepared(self._path(file_id), [needs])[1]

    def is_stale(
        self, file_id: str, origin: TableOrigin | None, columns: Sequence[Column], units: Units | None
    ) -> bool:
        """Whether a table is live and fails one of the checks that were made at its registration.

        If it passes, and its sums are prepared, they are computed again.

        Raises:
            EngineFailure: the engine is busy, unavailable or failed.
        """
        try:
            self._require_unchanged_files(file_id)
            if origin is None or not file_id.startswith(LIVE):
                return False
            table = self._live(file_id)
            self._sources.require_registered(origin, table, columns, units)
            if origin.prepare:
                translate_engine_errors(
                    logger, "preparing a table", lambda: self.intake.prepare_live(self._path(file_id), table, columns)
                )
        except StaleTable:
            return True
        return False

    @staticmethod
    def is_stored(file_id: str) -> bool:
        """Whether the rows of a table are stored here; those of a live table stay in their database."""
        return not file_id.startswith(LIVE)

    def reindex(self, file_id: str, columns: Sequence[Column], registered: Callable[[str], bool]) -> None:
        """Compute the codes and the prepared sums of a stored table again, while others may read it.

        If the table is not `registered` any more at the end, it is dropped. If this is interrupted, the table is as it
        was, or has its new codes, with or without prepared sums.

        Raises:
            EngineFailure: the table is gone or cannot be read or written, or somebody else is doing the same.
        """
        path = self._path(file_id)
        other = self._engine.scratch / f"{uuid4().hex}.parquet"

        def rewrite() -> None:
            write_batches(other, build_stored_schema(columns), read_stored(path, columns), Problems(), columns)
            exchange_table(path, other)

        translate_engine_errors(logger, "reindexing a table", lambda: self._pending.mark(file_id))
        try:
            translate_engine_errors(logger, "reindexing a table", rewrite)
        finally:
            for file in (other, prepared_file(other)):
                file.unlink(missing_ok=True)
            if registered(file_id):
                self._pending.clear(file_id)
            else:
                self.drop(file_id)

    def mark_registered(self, file_id: str) -> None:
        """Mark an ingested table as registered."""
        self._pending.clear(file_id)

    def leave_undecided(self, file_id: str) -> None:
        """Leave an ingested table to `drop_unregistered`, because it is not known whether the table was registered."""
        self._pending.unlock(file_id)

    def drop_unregistered(self, registered: Callable[[str], bool]) -> None:
        """Drop the ingested tables whose process ended before they were registered."""
        self._pending.drop_unregistered(registered, self.drop)

    def drop(self, file_id: str) -> None:
        """Delete a table and everything computed from it. The table may be deleted already."""
        for path in data_files(self._directory, file_id):
            remove(path)
        remove(prepared_file(self._path(file_id)))
        self._prepared.forget(self._path(file_id))
        self._stored_sums.drop(file_id)
        self._kept.forget(lambda key: key[0] == file_id)
        self._asked.forget(lambda key: key[0] == file_id)
        self._pending.clear(file_id)

    def close(self) -> None:
        """Close the reader and the engines; the files stay."""
        if self._reader is not None:
            self._reader.close()
        self._pending.close()
        self._sources.close()
        self._engine.close()

    def _find_or_compute(self, file_id: str, needs: Sequence[Needs]) -> Iterator[tuple[Needs, Answer]]:
        path = self._path(file_id)
        prepared, unprepared = self._find_prepared(path, needs) if path.exists() else ({}, needs)
        yield from prepared.items()
        missing = []
        for each in unprepared:
            answer = self._stored_sums.find(file_id, each) if path.exists() else None
            if answer is None:
                missing.append(each)
            else:
                yield each, answer
        for each, answer in self._compute_shared(file_id, missing, partial(self._scan, path), keyed=False):
            self._stored_sums.keep(file_id, each, answer, path)
            yield each, answer

    def _compute_shared(
        self, file_id: str, needs: Sequence[Needs], scan: Callable[[Sequence[Needs]], Sequence[Answer]], *, keyed: bool
    ) -> Iterator[tuple[Needs, Answer]]:
        """Compute needs, sharing statements with other calls about the same table where that takes less time."""

        def timed(together: Sequence[Needs]) -> Sequence[Answer]:
            with metrics.engine_timed():
                return scan(together)

        together = [each for each in needs if can_share(each, keyed=keyed)]
        yield from self._shared_scans.compute(file_id, together, partial(scans_of, keyed=keyed), timed)
        for each in needs:
            if not can_share(each, keyed=keyed):
                yield each, timed([each])[0]

    def _scan(self, path: Path, scan: Sequence[Needs]) -> list[Answer]:
        """Compute the answers to a scan of a stored table, which nobody can exchange meanwhile."""

        def compute() -> list[Answer]:
            with hold_table(path):
                return self._engine.compute(path, scan, self._prepared.find(path))

        return translate_engine_errors(logger, "a stored table", compute)

    def _await_other_computation(self, file_id: str, needs: Sequence[Needs]) -> Iterator[tuple[Needs, Answer]]:
        table = self._live(file_id)
        answered, missing = self._find_prepared(self._path(file_id), needs)
        if answered:
            with metrics.engine_timed():
                table.require_rows(self._sources.of(table.connection).count(table)[0])
            yield from answered.items()
        engine = self._sources.of(table.connection)
        yield from self._compute_shared(file_id, missing, partial(engine.compute, table), keyed=True)

    def _find_prepared(self, path: Path, needs: Iterable[Needs]) -> tuple[dict[Needs, Answer], list[Needs]]:
        """Return the answers that the prepared sums of a table give, and the needs to which they give none."""
        prepared = self._prepared.find(path)
        answered, missing = {}, []
        for each in needs:
            answer = None if prepared is None else find_prepared_answer(prepared, each)
            if answer is None:
                missing.append(each)
            else:
                answered[each] = answer
        return answered, missing

    def _live(self, file_id: str) -> live_tables.LiveTable:
        return translate_engine_errors(logger, "a live table", lambda: live_tables.read(self._path(file_id)))

    def _require_unchanged_files(self, file_id: str) -> None:
        """Check that the files of a table that is watched are those of its registration.

        Raises:
            StaleTable, EngineFailure: as `sums`.
        """
        if file_id.startswith(WATCHED):
            translate_engine_errors(logger, "a file store", lambda: self._compare_files(file_id))

    def _compare_files(self, file_id: str) -> None:
        watched = WatchedFiles.read(data_files(self._directory, file_id)[1])
        store = self._sources.find_store(watched.connection)
        if store is None:
            raise EngineFailure
        watched.require_unchanged(store)

    def _path(self, file_id: str) -> Path:
        return data_files(self._directory, file_id)[0]
