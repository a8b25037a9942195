"""Carries out the runs of reports, in a thread of each process that serves.

The registrations of datasets queue them. Of the processes that share a data directory, one works at a time, so that no
table is read twice for nothing; another takes over when that process ends. What is done is safe without that.
"""

import os
import threading
from typing import Final

import structlog

from app import metrics
from app.errors import SnapledgerError
from app.services.context import Services
from app.services.operations.process_locks import try_lock
from app.services.reports import running
from app.services.reports.run_queue import QUEUED
from app.services.reports.running import Interface

LOCK_FILE: Final = "reports.lock"
"""In the data directory: the process that holds its lock carries out the runs."""

_PAUSE_SECONDS: Final = 2
"""The time between two looks at what is to be done, which other processes queue too."""

_MAX_PAUSE_SECONDS: Final = 60
"""The longest time between two attempts while runs fail."""

_BATCH: Final = 100

log = structlog.stdlib.get_logger("snapledger.reports")


class ReportWorker:
    """The thread of one process."""

    def __init__(self, services: Services, interface: Interface) -> None:
        self._services, self._interface = services, interface
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reports", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Stop, without waiting for what is being released: it is debited as a whole, or not at all."""
        self._ended.set()
        QUEUED.set()

    def _run(self) -> None:
        lock = os.open(self._services.settings.data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        pause = float(_PAUSE_SECONDS)
        try:
            while not self._ended.is_set():
                QUEUED.wait(pause)
                QUEUED.clear()
                if self._ended.is_set() or not try_lock(lock):
                    continue
                failed = self._round()
                pause = min(2 * pause, _MAX_PAUSE_SECONDS) if failed else _PAUSE_SECONDS
        finally:
            os.close(lock)

    def _round(self) -> int:
        """Carry out what is to be done, and return how many runs failed; a defect here must not end the thread."""
        try:
            return carry_out_all(self._services, self._interface, self._ended)
        except SnapledgerError:
            return 1  # the database does not answer, which is reported elsewhere
        except Exception as error:  # noqa: BLE001
            log.error("internal error", kind=type(error).__name__)  # noqa: TRY400 - its message could contain a value
            return 1


def carry_out_all(services: Services, interface: Interface, ended: threading.Event | None = None) -> int:
    """Carry out all runs that are to be released or published; return how many failed, and are still to be done.

    One that fails stops no other.

    Raises:
        UnavailableError: the ledger's database does not answer.
    """
    failed, after = 0, (0, 0)
    while unfinished := running.list_unfinished(services, after, _BATCH):
        metrics.REPORTS_PENDING.set(failed + len(unfinished))
        for run in unfinished:
            if ended is not None and ended.is_set():
                return failed
            try:
                running.carry_out(services, interface, run.report_id, run.number)
            except Exception as error:  # noqa: BLE001 - its message could contain a value
                kind = type(error).__name__
                log.warning("a run of a report is still to be done", dataset=run.dataset, run=run.number, kind=kind)
                failed += 1
        after = unfinished[-1].report_id, unfinished[-1].number
    metrics.REPORTS_PENDING.set(failed)
    return failed
