"""Keeps the figures' database equal to what is published, in a thread of each process.

The outboxes say which figures and collections have changed. Each is written in a transaction of the figures' database
that holds its lock and reads it only then, so that several processes may do it at once and nothing is written twice.
After a crash, or while either side is away, the outboxes keep what is to be done.
"""

import threading
import time
from typing import Final

import psycopg
import structlog

from app import metrics
from app.db.figures_database import FiguresDatabase, Target
from app.errors import DamagedAnswerError, SealBrokenError, SnapledgerError
from app.ledger import figure_outbox, figures
from app.ledger.figure_outbox import Change
from app.services.context import Services
from app.services.figures.reading import OpenedFigure, describe_figure
from app.services.operations import collection_mirror

_PAUSE_SECONDS: Final = 2
"""The time between two looks at the outbox, which other processes fill too."""

_MAX_PAUSE_SECONDS: Final = 60
"""The longest time between two attempts while the figures' database is away."""

_COMPARE_SECONDS: Final = 600
"""The time between two comparisons of all figures, in case the figures' database was restored or changed."""

_BATCH: Final = 100

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
                collection_mirror.write_pending_collections(self._services, self._target)
                pause = _PAUSE_SECONDS
            except (psycopg.Error, SnapledgerError, OSError) as error:
                # The message could contain a password or a title.
                log.warning("figures are not written", kind=type(error).__name__)
                self._target.close()
                pause, compared_at = min(_MAX_PAUSE_SECONDS, max(_PAUSE_SECONDS, 2 * pause)), None
            except Exception as error:  # noqa: BLE001 - a defect here must not end the thread
                log.error("fault", kind=type(error).__name__)  # noqa: TRY400 - as above
                pause, compared_at = _MAX_PAUSE_SECONDS, None
        self._target.close()


def prepare(services: Services, target: FiguresDatabase) -> None:
    """Create the schema if it is missing, and note in the outbox what the figures' database does not have.

    Raises:
        psycopg.Error: the figures' database does not answer, or refuses.
        UnavailableError: the ledger's database does not answer.
    """
    if not target.prepare():
        role = services.settings.figures_reader_role
        log.warning("the role of readers is missing: create it, and restart", role=role)
    written = target.list_changes()
    with services.database.write() as transaction:
        known = figure_outbox.list_changes(transaction)
        for each in known:
            there = written.pop(Target(each.dataset, each.figure), 0)
            if there != each.written:
                figure_outbox.set_written(transaction, each.figure_id, there if there == each.change else 0)
        transaction.commit()
    for unknown in written:
        with target.writing(unknown) as writer:
            writer.forget()
    collection_mirror.compare_collections(services, target)


def write_pending(services: Services, target: FiguresDatabase) -> int:
    """Write what the outbox holds, and return how many figures were written.

    A figure that does not match its seal, or that the figures' database cannot hold, is left as it was, and stays in
    the outbox; all others are written.

    Raises:
        psycopg.Error: the figures' database does not answer, or refuses.
        UnavailableError: the ledger's database does not answer.
    """
    done, failed, after = 0, 0, 0
    while pending := _list_pending(services, after):
        metrics.FIGURES_PENDING.set(failed + len(pending))
        for each in pending:
            try:
                _write(services, target, each)
                done += 1
            except (SealBrokenError, DamagedAnswerError):
                log.error("a figure does not match its seal", dataset=each.dataset, figure=each.figure)  # noqa: TRY400
                failed += 1
            except (psycopg.DataError, psycopg.IntegrityError) as error:  # such as a letter that its encoding lacks
                kind = type(error).__name__  # the message could contain a title
                log.error("a figure does not fit", dataset=each.dataset, figure=each.figure, kind=kind)  # noqa: TRY400
                failed += 1
        after = pending[-1].figure_id
    metrics.FIGURES_PENDING.set(failed)
    return done


def _list_pending(services: Services, after: int) -> list[Change]:
    with services.database.read() as session:
        return figure_outbox.list_pending(session, after, _BATCH)


def _write(services: Services, target: FiguresDatabase, pending: Change) -> None:
    with target.writing(Target(pending.dataset, pending.figure)) as writer:
        with services.database.read() as session:
            now = figure_outbox.find_change(session, pending.figure_id)
            published = figures.find_published(session, services.keyring, now.dataset_id, now.figure)
        if published is not None and published.figure.withdrawn_at is None:
            writer.replace(
                now.change,
                describe_figure(published, sees_dataset=False),
                OpenedFigure(services.database, published).rows,
            )
        else:
            writer.replace(now.change, None, ())
    with services.database.write() as transaction:
        figure_outbox.set_written(transaction, pending.figure_id, now.change)
        transaction.commit()
