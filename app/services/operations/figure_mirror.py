"""Keeps the figures' database equal to what is published, in a thread of each process.

While either side is away it waits, at most a minute, and tries again.
"""

import threading
import time
from contextlib import suppress
from typing import Final

import psycopg
import structlog

from app.db.figures_database import FiguresDatabase
from app.db.figures_schema import ForeignSchemaError
from app.errors import SnapledgerError
from app.services.context import Services
from app.services.operations.figure_copies import note_pending, prepare, write_pending

_PAUSE_SECONDS: Final = 2
"""The time between two looks at the outbox, which other processes fill too."""

_MAX_PAUSE_SECONDS: Final = 60
"""The longest time between two attempts while the figures' database is away."""

_COMPARE_SECONDS: Final = 600
"""The time between two comparisons of everything, in case the figures' database was restored or changed."""

_FOREIGN: Final = (
    "the schema of figures has those of another ledger, or other tables under their names: name another schema, or drop"
    " this one"
)

log = structlog.stdlib.get_logger("snapledger.figures")


class FigureMirror:
    """The thread of one process. Without the setting `figures_database_url` it does not start."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="figures", daemon=True)
        url, settings = services.settings.figures_database_url, services.settings
        self._target = (
            None
            if url is None
            else FiguresDatabase(url.get_secret_value(), settings.figures_schema, settings.figures_reader_role)
        )

    def begin(self) -> None:
        """Start the thread, if there is a figures' database."""
        if self._target is not None:
            self._thread.start()

    def end(self) -> None:
        """Stop, without waiting for what is being written."""
        self._ended.set()

    def _run(self) -> None:
        assert self._target is not None  # noqa: S101 - for the type checker
        pause, compared_at = 0.0, None
        while not self._ended.wait(pause):
            try:
                if compared_at is None or time.monotonic() - compared_at > _COMPARE_SECONDS:
                    prepare(self._services, self._target)
                    compared_at = time.monotonic()
                write_pending(self._services, self._target)
                pause = _PAUSE_SECONDS
            except (psycopg.Error, SnapledgerError, OSError, ForeignSchemaError) as error:
                # The message could contain a password or a title.
                log.warning("figures are not written", kind=type(error).__name__)
                if isinstance(error, ForeignSchemaError):
                    log.error(_FOREIGN, schema=self._services.settings.figures_schema)  # noqa: TRY400
                self._target.close()
                with suppress(SnapledgerError):
                    note_pending(self._services)
                pause, compared_at = min(_MAX_PAUSE_SECONDS, max(_PAUSE_SECONDS, 2 * pause)), None
            except Exception as error:  # noqa: BLE001 - a defect here must not end the thread
                log.error("internal error", kind=type(error).__name__)  # noqa: TRY400 - as above
                pause, compared_at = _MAX_PAUSE_SECONDS, None
        self._target.close()
