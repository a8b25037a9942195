"""Keeps the collections of the figures' database equal to those of the ledger; `figure_mirror` runs it."""

import psycopg
import structlog

from app.db.figures_database import FiguresDatabase, Target
from app.errors import SealBrokenError
from app.ledger import collection_outbox, figure_collections
from app.ledger.collection_outbox import Change
from app.services.context import Services
from app.services.figures.boards import describe_collection

_BATCH = 100

log = structlog.stdlib.get_logger("snapledger.figures")


def compare_collections(services: Services, target: FiguresDatabase) -> None:
    """Note in the outbox which collections the figures' database does not have as they are now.

    Raises:
        psycopg.Error: the figures' database does not answer, or refuses.
        UnavailableError: the ledger's database does not answer.
    """
    written = target.list_collection_changes()
    with services.database.write() as transaction:
        for each in collection_outbox.list_changes(transaction):
            there = written.pop(each.name, 0)
            if there != each.written:
                collection_outbox.set_written(transaction, each.name, there if there == each.change else 0)
        transaction.commit()
    for unknown in written:
        with target.writing_collection(unknown) as writer:
            writer.forget()


def write_pending_collections(services: Services, target: FiguresDatabase) -> int:
    """Write what the outbox holds, and return how many collections were written.

    A collection that does not match its seal, or that the figures' database cannot hold, is left as it was, and stays
    in the outbox; all others are written.

    Raises:
        psycopg.Error: the figures' database does not answer, or refuses.
        UnavailableError: the ledger's database does not answer.
    """
    done, after = 0, ""
    while pending := _list_pending(services, after):
        for each in pending:
            try:
                _write(services, target, each)
                done += 1
            except SealBrokenError:
                log.error("a collection does not match its seal", collection=each.name)  # noqa: TRY400
            except (psycopg.DataError, psycopg.IntegrityError) as error:  # such as a letter that its encoding lacks
                kind = type(error).__name__  # the message could contain a title
                log.error("a collection does not fit", collection=each.name, kind=kind)  # noqa: TRY400
        after = pending[-1].name
    return done


def _list_pending(services: Services, after: str) -> list[Change]:
    with services.database.read() as session:
        return collection_outbox.list_pending(session, after, _BATCH)


def _write(services: Services, target: FiguresDatabase, pending: Change) -> None:
    with target.writing_collection(pending.name) as writer:
        with services.database.read() as session:
            now = collection_outbox.find_change(session, pending.name)
            found = figure_collections.find_collection(session, services.keyring, pending.name)
            members = [] if found is None else figure_collections.list_members(session, found)
        targets = [Target(each.dataset, each.figure.name) for each in members]
        facts = None if found is None else describe_collection(found, tells_owner=False)
        writer.replace(now.change, facts, targets)
    with services.database.write() as transaction:
        collection_outbox.set_written(transaction, pending.name, now.change)
        transaction.commit()
