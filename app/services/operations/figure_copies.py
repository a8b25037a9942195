"""Copies figures and collections to the figures' database; `figure_mirror` does so again and again.

The outboxes say which have changed. Each is written in a transaction of the figures' database that holds its lock and
reads it only then, so that several processes may do it at once and nothing is written twice. After a crash, or while
either side is away, the outboxes keep what is to be done.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import psycopg
import structlog
from prometheus_client import Gauge

from app import metrics
from app.db.figure_writers import CollectionWriter, FigureWriter, Writer
from app.db.figures_database import FiguresDatabase
from app.db.repositories import datasets
from app.db.session import ReadSession
from app.errors import DamagedAnswerError, SealBrokenError
from app.ledger import figure_collections, figures, outboxes
from app.ledger.chain import audit_log
from app.ledger.outboxes import Change, Outbox
from app.services.context import Services
from app.services.figures.collection_reading import describe_collection
from app.services.figures.reading import describe_figure
from app.services.figures.stored_rows import complete_rows

_BATCH: Final = 100

log = structlog.stdlib.get_logger("snapledger.figures")

Content: TypeAlias = tuple[Mapping[str, Any] | None, Sequence[Any]]
"""What is written of a figure or collection: its facts, None if it is withdrawn or deleted, and its rows or figures."""


class _Kind(NamedTuple):
    """What is copied.

    Attributes:
        name: of one, in the log.
        first: a key that all keys follow.
        pending: counts those that are not written as they are now.
        read: reads one by its names.
    """

    name: str
    outbox: Outbox
    first: int | str
    pending: Gauge
    writer: type[Writer]
    read: Callable[[Services, ReadSession, Sequence[str]], Content]


def prepare(services: Services, target: FiguresDatabase) -> None:
    """Create the schema if it is missing, and note in the outboxes what the figures' database does not have.

    Raises:
        psycopg.Error: the figures' database does not answer, or refuses.
        ForeignSchemaError: the schema has the figures of another ledger, or other tables.
        UnavailableError: the ledger's database does not answer.
    """
    with services.database.read() as session:
        ledger = audit_log.find_ledger_id(session)
    if not target.prepare(ledger):
        role = services.settings.figures_reader_role
        log.warning("the role of readers is missing: create it; within ten minutes it may read", role=role)
    for kind in _KINDS:
        _compare(services, target, kind)


def _compare(services: Services, target: FiguresDatabase, kind: _Kind) -> None:
    written = target.list_changes(kind.writer)
    with services.database.write() as transaction:
        for each in kind.outbox.list_changes(transaction):
            there = written.pop(each.names, 0)
            if there != each.written:  # also if it is the present change: another history may have had one
                kind.outbox.set_written(transaction, each.key, 0)
        transaction.commit()
    for unknown in written:
        with target.writing(kind.writer, unknown) as writer:
            writer.forget()


def note_pending(services: Services) -> None:
    """Set the metrics while nothing can be written.

    Raises:
        UnavailableError: the ledger's database does not answer.
    """
    with services.database.read() as session:
        for kind in _KINDS:
            kind.pending.set(kind.outbox.count_pending(session))


def write_pending(services: Services, target: FiguresDatabase) -> int:
    """Write what the outboxes hold, and return how many figures and collections were written.

    What does not match its seal, or what the figures' database cannot hold, is left as it was, and stays in the outbox;
    all others are written.

    Raises:
        psycopg.Error: the figures' database does not answer, or refuses.
        UnavailableError: the ledger's database does not answer.
    """
    return sum(_write_pending(services, target, kind) for kind in _KINDS)


def _write_pending(services: Services, target: FiguresDatabase, kind: _Kind) -> int:
    done, failed, after = 0, 0, kind.first
    while pending := _list_pending(services, kind.outbox, after):
        kind.pending.set(failed + len(pending))
        for each in pending:
            name = "/".join(each.names)
            try:
                _write(services, target, kind, each)
                done += 1
            except (SealBrokenError, DamagedAnswerError):
                log.error("what is copied does not match its seal", of=kind.name, name=name)  # noqa: TRY400
                failed += 1
            except (psycopg.DataError, psycopg.IntegrityError) as error:  # such as a letter that its encoding lacks
                fault = type(error).__name__  # the message could contain a title
                log.error("what is copied does not fit", of=kind.name, name=name, kind=fault)  # noqa: TRY400
                failed += 1
        after = pending[-1].key
    kind.pending.set(failed)
    return done


def _list_pending(services: Services, outbox: Outbox, after: int | str) -> list[Change]:
    with services.database.read() as session:
        return outbox.list_pending(session, after, _BATCH)


def _write(services: Services, target: FiguresDatabase, kind: _Kind, pending: Change) -> None:
    with target.writing(kind.writer, pending.names) as writer:
        with services.database.read() as session:
            now = kind.outbox.find_change(session, pending.key)
            facts, rows = kind.read(services, session, now.names)
        writer.replace(now.change, facts, rows)
    with services.database.write() as transaction:
        kind.outbox.set_written(transaction, pending.key, now.change)
        transaction.commit()


def _read_figure(services: Services, session: ReadSession, names: Sequence[str]) -> Content:
    dataset, name = names
    found = datasets.find_dataset(session, dataset)
    published = None if found is None else figures.find_published(session, services.keyring, found.id, name)
    if published is None or published.figure.withdrawn_at is not None:
        return None, ()
    rows = figures.open_rows(figures.read_rows(session, published.version), published.version.rows_hash)
    return describe_figure(published, sees_dataset=False), complete_rows(json.loads(rows))


def _read_collection(services: Services, session: ReadSession, names: Sequence[str]) -> Content:
    found = figure_collections.find_collection(session, services.keyring, *names)
    if found is None:
        return None, ()
    members = figure_collections.list_members(session, found)
    return describe_collection(found, tells_owner=False), [(each.dataset, each.figure.name) for each in members]


_KINDS: Final = (
    _Kind("figure", outboxes.OF_FIGURES, 0, metrics.FIGURES_PENDING, FigureWriter, _read_figure),
    _Kind("collection", outboxes.OF_COLLECTIONS, "", metrics.COLLECTIONS_PENDING, CollectionWriter, _read_collection),
)
