"""The runs of reports: on each dataset at most one of each report, from the registration that queues it to its end.

A run is queued in the transaction that registers the dataset, so it is never lost, and it is released in the
transaction that debits, so it is never debited twice. Each row has a seal. Changes hold the lock of the report's row.

    pending ─► released ─► done
       ▲  └──► refused ──┐
       └─────────────────┘
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Literal, NamedTuple

from sqlalchemy import and_, bindparam, func, insert, or_, select, tuple_, update

from app.db.clock import now
from app.db.page_queries import page_queries
from app.db.session import Session, WriteSession
from app.db.tables import datasets, report_runs, reports
from app.errors import SealBrokenError
from app.ledger import reports as stored_reports
from app.ledger.chain.keyring import Keyring, Seal
from app.ledger.reports import Report

VERSION = "snapledger-report-run-v1"
MAX_NUMBER = 2**31 - 1  # of the column

State = Literal["pending", "released", "done", "refused"]


class Run(NamedTuple):
    """A run. The fields are the columns, in order, and then the name of the dataset.

    Attributes:
        number: counts the report's runs from 1.
        state: `pending`; `released`: debited, and to be published; `done`: published; `refused`: nothing was debited.
        queued_at: when it was queued last.
        principal: in whose name it was released; None before.
        figures: the definition that was released, with its figures, as JSON; None before.
        charged_nano: what it was charged.
        release_ids: the ids of its releases as JSON; None before.
        problem: why it was refused or why its figures could not be published, as JSON; None otherwise.
    """

    report_id: int
    number: int
    dataset_id: int
    state: State
    queued_at: str
    ended_at: str | None
    principal: str | None
    figures: str | None
    charged_nano: int
    release_ids: str | None
    problem: str | None
    seal: bytes
    dataset: str = ""


_COLUMNS = Run._fields[: len(report_runs.c)]
_WIDTH = len(_COLUMNS)
_SELECT = select(*report_runs.c, datasets.c.name.label("dataset")).join_from(
    report_runs, datasets, datasets.c.id == report_runs.c.dataset_id
)
_OF_REPORT = report_runs.c.report_id == bindparam("of_report")
_ON_DATASET = report_runs.c.dataset_id == bindparam("dataset")
_ON = _SELECT.where(_OF_REPORT, _ON_DATASET)
_ONE = _SELECT.where(_OF_REPORT, report_runs.c.number == bindparam("run"))
_PAGE = page_queries(_SELECT.where(_OF_REPORT), report_runs.c.number)
_ALL_ON = _SELECT.where(_ON_DATASET).order_by(report_runs.c.report_id)
_LAST = select(func.max(report_runs.c.number, type_=report_runs.c.number.type).label("found")).where(_OF_REPORT)
_TO_DO = (
    _SELECT.where(
        or_(
            report_runs.c.state == "pending",
            and_(report_runs.c.state == "released", report_runs.c.problem.is_(None)),
        ),
        tuple_(report_runs.c.report_id, report_runs.c.number)
        > tuple_(bindparam("after_report"), bindparam("after_run")),
    )
    .order_by(report_runs.c.report_id, report_runs.c.number)
    .limit(bindparam("most"))
)
_NOT_DONE = (
    _SELECT.join(reports, reports.c.id == report_runs.c.report_id)
    .where(
        _ON_DATASET,
        reports.c.dataset_id == report_runs.c.dataset_id,
        reports.c.withdrawn_at.is_(None),
        report_runs.c.state != "done",
    )
    .order_by(report_runs.c.report_id)
)
_INSERT = insert(report_runs).inline()
_SET = (
    update(report_runs)
    .where(_OF_REPORT, report_runs.c.number == bindparam("run"))
    .values({name: bindparam(f"new_{name}") for name in _COLUMNS[2:]})
)


def _is_sealed(keyring: Keyring, run: Run) -> bool:
    return keyring.is_sealed(run.seal, VERSION, *run[: _WIDTH - 1])


def _seal(seal: Seal, run: Run) -> Run:
    return run._replace(seal=seal.seal_row(VERSION, *run[: _WIDTH - 1]))


def _require_sealed(keyring: Keyring, row: object) -> Run | None:
    if row is None:
        return None
    run = Run(*row)  # type: ignore[misc]
    if not _is_sealed(keyring, run):
        raise SealBrokenError
    return run


def find_run(session: Session, keyring: Keyring, report_id: int, number: int) -> Run | None:
    """Return a run by its number, or None.

    Raises:
        SealBrokenError: it does not match its seal.
    """
    return _require_sealed(keyring, session.row(_ONE, of_report=report_id, run=number))


def find_run_on(session: Session, keyring: Keyring, report_id: int, dataset_id: int) -> Run | None:
    """Return a report's run on a dataset, or None.

    Raises:
        SealBrokenError: it does not match its seal.
    """
    return _require_sealed(keyring, session.row(_ON, of_report=report_id, dataset=dataset_id))


def page_of_runs(session: Session, report_id: int, after: int | None, limit: int, *, newest: bool) -> list[Run]:
    """Return at most `limit` runs of a report, oldest or newest first, that follow the number `after`."""
    start = min(after if after is not None else MAX_NUMBER if newest else 0, MAX_NUMBER)
    query = _PAGE.choose(newest=newest)
    return [Run(*row) for row in session.rows(query, of_report=report_id, after=start, most=limit)]


def list_unfinished(session: Session, after: tuple[int, int], limit: int) -> list[Run]:
    """Return at most `limit` runs to be released or published, that follow the report and the number `after`."""
    report_id, number = after
    return [Run(*row) for row in session.rows(_TO_DO, after_report=report_id, after_run=number, most=limit)]


def save_run(transaction: WriteSession, seal: Seal, run: Run) -> Run:
    """Seal and store a run whose report the transaction has locked; its seal is replaced."""
    sealed = _seal(seal, run)
    values = {f"new_{name}": getattr(sealed, name) for name in _COLUMNS[2:]}
    transaction.change_one(_SET, of_report=sealed.report_id, run=sealed.number, **values)
    return sealed


def move_reports(
    transaction: WriteSession, keyring: Keyring, dataset_id: int, successor_id: int, at: str
) -> list[Report]:
    """Move all reports in force to a dataset's successor, in the transaction that registers it, and queue their runs.

    The transaction has locked them. A report that does not match its seal stays, and is not run.
    """
    moved = []
    for report in stored_reports.list_in_force(transaction, keyring, dataset_id):
        moved.append(stored_reports.save_report(transaction, keyring.seal, report._replace(dataset_id=successor_id)))
        number = (transaction.row(_LAST, of_report=report.id).found or 0) + 1
        queued = Run(report.id, number, successor_id, "pending", at, None, None, None, 0, None, None, b"")
        sealed = _seal(keyring.seal, queued)
        transaction.change(_INSERT, **{name: getattr(sealed, name) for name in _COLUMNS})
    return moved


def queue_again(run: Run) -> Run:
    """Return a run that is not done as it is to be tried again, also if it is being tried."""
    state: State = "pending" if run.state == "refused" else run.state
    return run._replace(state=state, queued_at=now(), problem=None, ended_at=None)


def queue_unfinished(transaction: WriteSession, keyring: Keyring, dataset_id: int) -> None:
    """Queue again what is not done on a dataset, because its budgets or its state have changed.

    A run that is being tried with what was so before will not be refused for that. Only runs of reports that have not
    moved on are tried again. The transaction holds the lock of the account. What does not match its seal stays as it
    is: verification tells of it.
    """
    for row in transaction.rows(_NOT_DONE, dataset=dataset_id):
        with suppress(SealBrokenError):
            report = stored_reports.lock_report_of_run(transaction, keyring, row.report_id)
            run = find_run(transaction, keyring, row.report_id, row.number)
            if run is not None and run.state != "done" and report.dataset_id == dataset_id:
                save_run(transaction, keyring.seal, queue_again(run))


def find_unsealed(session: Session, keyring: Keyring, dataset_id: int) -> Iterator[str]:
    """Yield a problem for each run on a dataset that does not match its seal."""
    for row in session.rows(_ALL_ON, dataset=dataset_id):
        run = Run(*row)
        if not _is_sealed(keyring, run):
            yield f"the run {run.number} of a report was changed after it was sealed"
