"""Takes in tables: files, tables of connections and files elsewhere, each stored whole or not at all."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple, TypeVar
from uuid import uuid4

from app.dp.table.columns import Column
from app.dp.table.sums import Answer, Needs
from app.engines import live_tables
from app.engines.atomic_files import remove
from app.engines.backends.duckdb_engine import DuckDBEngine
from app.engines.errors import InvalidFile, Problem, StaleTable, translate_engine_errors
from app.engines.file_stores.file_store import FileStore, parse_file_path, refuse_table
from app.engines.ingest import Units
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.ingest.parquet.parquet_parts import Part
from app.engines.ingest_process.intake import Counting, ingest_file, ingest_parts, ingest_stream
from app.engines.ingest_process.pool import Interrupted
from app.engines.ingest_process.reader import IngestReader, never
from app.engines.prepared_sums import prepared_file, write_prepared
from app.engines.sql.scan_sharing import scans_of
from app.engines.storage.connections import Connections, TableOrigin
from app.engines.storage.file_tables import CopyLimits, WatchedFiles, copy_files, require_versions
from app.engines.storage.live_preparation import prepare_live_table
from app.engines.storage.table_files import LIVE, WATCHED, data_files
from app.engines.storage.unregistered_tables import UnregisteredTables

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class Ingested(NamedTuple):
    """An ingested table: its id, its number of rows, and the SHA-256 of its file, if it came from a file."""

    file_id: str
    n: int
    sha256: str | None = None


class TableIntake:
    """Stores tables in a directory. A table counts as unregistered until its registration is known.

    Args:
        directory: where the files are stored.
        engine: checks and counts what is stored, and has the directory for files that are written.
        sources: the configured connections.
        pending: the tables whose registration is not known yet.
        reader: reads each file in a process of its own; without a reader, this process reads files without limits.
        copy_limits: the limits on files elsewhere.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it works with
        self,
        directory: Path,
        engine: DuckDBEngine,
        sources: Connections,
        pending: UnregisteredTables,
        reader: IngestReader | None,
        copy_limits: CopyLimits,
    ) -> None:
        self._directory, self._engine, self._sources = directory, engine, sources
        self._pending, self._reader, self._copy_limits = pending, reader, copy_limits

    def ingest(  # noqa: PLR0913, PLR0917 - what a file is and how it is declared
        self,
        upload: BinaryIO,
        columns: Sequence[Column],
        null_values: Sequence[str],
        form: FileFormat = PLAIN,
        units: Units | None = None,
        interrupted: Interrupted = never,
    ) -> Ingested:
        """Store the declared columns of a CSV, Parquet or Excel file. `null_values` are those of `form`.

        Raises:
            InvalidFile: the file does not match its declaration, or exceeds a limit; nothing is left behind.
            SlotsBusy: too many other files are being read; nothing is left behind.
            EngineFailure: the table could not be stored, or `interrupted` became true; nothing is left behind.
        """
        form = replace(form, null_values=null_values)

        def store(path: Path) -> tuple[int, str]:
            if self._reader is not None:
                return self._reader.read_file(path, upload, form, columns, units, interrupted)
            try:
                return ingest_file(self._counting(), path, upload, form, columns, units)
            except MemoryError:
                raise InvalidFile([Problem("file", "needs more memory than there is")]) from None

        file_id = uuid4().hex
        n, digest = self._take_in(file_id, store)
        return Ingested(file_id, n, digest)

    def ingest_from(
        self,
        origin: TableOrigin,
        columns: Sequence[Column],
        units: Units | None = None,
        interrupted: Interrupted = never,
    ) -> Ingested:
        """Copy the declared columns of an external table, or store only its location if it stays live.

        Files are always copied. If they stay live, it is noticed when one of them has changed.

        Raises:
            InvalidFile: the table does not match its declaration, or exceeds a limit; nothing is left behind.
            SlotsBusy: too many other files are being read; nothing is left behind.
            EngineFailure: the engine is busy, unavailable or failed, the table could not be stored, or `interrupted`
                became true; nothing is left behind.
        """
        if (store := self._sources.find_store(origin.connection)) is not None:
            return self._ingest_files(store, origin, columns, units, interrupted)
        if not origin.live:
            file_id = uuid4().hex
            return Ingested(
                file_id, self._take_in(file_id, lambda path: self._copy(origin, columns, units, path, interrupted))
            )
        table = self._sources.validate_live_table(origin, columns, units)
        file_id = f"{LIVE}{uuid4().hex}"

        def describe(path: Path) -> None:
            if origin.prepare:
                self.prepare_live(path, table, columns)
            live_tables.write(table, path)

        try:
            self._take_in(file_id, describe)
        except StaleTable:
            raise refuse_table("changed while it was read: try again") from None
        return Ingested(file_id, table.n)

    def prepare_live(self, path: Path, table: live_tables.LiveTable, columns: Sequence[Column]) -> None:
        """Compute the prepared sums of a live table in its database, and write them beside its description.

        Raises:
            StaleTable, EngineFailure: as `Tables.sums`.
        """

        def compute(needs: Sequence[Needs]) -> dict[Needs, Answer]:
            engine = self._sources.of(table.connection)
            return {
                each: answer
                for scan in scans_of(needs)
                for each, answer in zip(scan, engine.compute(table, scan), strict=True)
            }

        write_prepared(path, prepare_live_table(table.n, columns, compute))

    def _ingest_files(
        self,
        store: FileStore,
        origin: TableOrigin,
        columns: Sequence[Column],
        units: Units | None,
        interrupted: Interrupted,
    ) -> Ingested:
        path = parse_file_path(origin.table)
        file_id = f"{WATCHED if origin.live else ''}{uuid4().hex}"

        def copy(target: Path) -> int:
            files = store.find_files(path)
            if origin.live:
                require_versions(files)
            with TemporaryFile(dir=self._engine.scratch) as copied:
                parts = copy_files(store, files, copied, self._copy_limits, interrupted)
                n = self._read_parts(target, copied, parts, columns, units, interrupted)
            if origin.live:
                watched = WatchedFiles(origin.connection, path, files)
                watched.write(data_files(self._directory, file_id)[1])
                try:
                    watched.require_unchanged(store)
                except StaleTable:
                    raise refuse_table("changed while it was read: try again") from None
            return n

        try:
            return Ingested(file_id, self._take_in(file_id, copy))
        except BaseException:
            for file in data_files(self._directory, file_id):
                remove(file)
            raise

    def _read_parts(  # noqa: PLR0913, PLR0917 - what the files are and how they are declared
        self,
        target: Path,
        copied: BinaryIO,
        parts: Sequence[Part],
        columns: Sequence[Column],
        units: Units | None,
        interrupted: Interrupted,
    ) -> int:
        if self._reader is not None:
            return self._reader.read_parts(target, copied, parts, columns, units, interrupted)
        return ingest_parts(self._counting(), target, copied, parts, columns, units)

    def _copy(
        self, origin: TableOrigin, columns: Sequence[Column], units: Units | None, path: Path, interrupted: Interrupted
    ) -> int:
        engine = self._sources.of(origin.connection)
        read = {column.name: column for column in [*([units.declared] if units else []), *columns]}
        table = engine.locate(origin.connection, origin.table, list(read.values()), live=False)
        if units is not None and units.column in {column.name for column in columns}:
            engine.locate(origin.connection, origin.table, [units.declared], live=False)
        with engine.stream_copy(table) as rows:
            form = FileFormat([rows.null], ",", "row", strip=False, dates_as_units=True)
            if self._reader is not None:
                return self._reader.read_stream(path, rows.file, rows.cancel, form, columns, units, interrupted)
            return ingest_stream(self._counting(), path, rows.file, form, columns, units)

    def _counting(self) -> Counting:
        return Counting(self._engine.scratch, lambda: self._engine)

    def _take_in(self, file_id: str, store: Callable[[Path], Result]) -> Result:
        self._pending.mark(file_id)
        try:
            return translate_engine_errors(logger, "storing a table", lambda: store(self._path(file_id)))
        except BaseException:
            prepared_file(self._path(file_id)).unlink(missing_ok=True)
            self._pending.clear(file_id)
            raise

    def _path(self, file_id: str) -> Path:
        return data_files(self._directory, file_id)[0]
