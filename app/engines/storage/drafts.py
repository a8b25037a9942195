"""Drafts of tables for their owners: of uploaded files, and of tables of connections. Nothing of them is kept."""

import logging
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from app.engines.errors import InvalidFile, Problem, translate_engine_errors
from app.engines.file_stores.file_store import FileStore, parse_file_path, refuse_table
from app.engines.ingest.drafting.draft import DraftedColumns, draft_file
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.ingest_process.pool import IngestInterrupted, Interrupted
from app.engines.ingest_process.reader import IngestReader
from app.engines.storage.connections import Connections, TableOrigin
from app.engines.storage.file_tables import CopyLimits, copy_files, require_versions

logger = logging.getLogger(__name__)


class Drafts:
    """Drafts tables within the limits of uploads; safe for threads.

    Args:
        sources: the configured connections.
        scratch: a directory for temporary files.
        limits: what the copy of a file, or all statements of a draft, may take.
        reader: reads each file in a process of its own; without a reader, this process reads files without limits.
    """

    def __init__(self, sources: Connections, scratch: Path, limits: CopyLimits, reader: IngestReader | None) -> None:
        self._sources = sources
        self._scratch = scratch
        self._limits = limits
        self._reader = reader

    def draft_upload(
        self, upload: BinaryIO, form: FileFormat, interrupted: Interrupted, *, has_header: bool
    ) -> DraftedColumns:
        """Return a draft of the columns of a CSV, Parquet or Excel file.

        Raises:
            InvalidFile: it is no such file, or exceeds a limit.
            SlotsBusy: too many other files are being read.
            EngineFailure: the file could not be read, or `interrupted` became true.
        """

        def draft() -> DraftedColumns:
            if self._reader is not None:
                return self._reader.draft_file(upload, form, interrupted, has_header=has_header)
            upload.seek(0)
            drafted = draft_file(upload, Path(f"/proc/self/fd/{upload.fileno()}"), form, has_header=has_header)
            return DraftedColumns(drafted.metadata(), drafted.left_out)

        return translate_engine_errors(logger, "drafting a table", draft)

    def draft_from(self, origin: TableOrigin, interrupted: Interrupted) -> DraftedColumns:
        """Return a draft of the columns of an external table: of its first rows, or of the first of its files.

        Raises:
            InvalidFile: the table could not be registered so, or exceeds a limit.
            SlotsBusy, EngineFailure: as `draft_upload`.
        """
        if (store := self._sources.find_store(origin.connection)) is not None:
            return self._draft_first_file(store, origin, interrupted)
        deadline = time.monotonic() + self._limits.seconds

        def check() -> None:
            if interrupted():
                raise IngestInterrupted
            if time.monotonic() > deadline:
                raise refuse_table(
                    f"takes more than {self._limits.seconds:,} seconds to be drafted: draft a view with fewer columns"
                )

        return self._sources.of(origin.connection).draft(origin.connection, origin.table, check, live=origin.live)

    def _draft_first_file(self, store: FileStore, origin: TableOrigin, interrupted: Interrupted) -> DraftedColumns:
        files = translate_engine_errors(logger, "a file store", lambda: store.find_files(parse_file_path(origin.table)))
        if origin.live:
            require_versions(files)
        with TemporaryFile(dir=self._scratch) as copied:
            translate_engine_errors(
                logger, "a file store", lambda: copy_files(store, files[:1], copied, self._limits, interrupted)
            )
            try:
                return self.draft_upload(copied, PLAIN, interrupted, has_header=True)
            except InvalidFile as error:
                named = [Problem(f"file {files[0].path}", what) for _, what in error.problems]
                raise InvalidFile(named) from None
