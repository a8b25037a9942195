"""Reports: batches that are to be released on the dataset that succeeds the one where each report is.

A report says in whose name it is released, and how much it may cost: each run, and all runs together. Each row has a
seal, which is checked before anything is done with it. Changes hold the lock of the report's row; a transaction that
also needs an account locks the account first.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import bindparam, func, insert, or_, select, update

from app.db.session import Session, WriteSession
from app.db.tables import datasets, principals, report_runs, reports
from app.errors import SealBrokenError
from app.ledger.chain.keyring import Keyring, Seal

VERSION = "snapledger-report-v1"


class Report(NamedTuple):
    """A report. The fields are the columns, in order, and then the name of the principal.

    Attributes:
        dataset_id: the dataset where it is; its successor is the next that it is released on.
        principal_id: in whose name it is released, and who pays.
        definition: the batch and the figures, as canonical JSON.
        run_limit_nano, total_limit_nano: the most that one run may cost, and all runs together.
        spent_nano: what its runs have cost.
        withdrawn_at: when it was withdrawn; None while it is in force.
    """

    id: int
    dataset_id: int
    name: str
    principal_id: int
    definition: str
    run_limit_nano: int
    total_limit_nano: int
    spent_nano: int
    changed_at: str
    withdrawn_at: str | None
    seal: bytes
    principal: str

    @property
    def remaining_nano(self) -> int:
        """What further runs may cost together."""
        return self.total_limit_nano - self.spent_nano


_COLUMNS = Report._fields[: len(reports.c)]
_WIDTH = len(_COLUMNS)
_SELECT = select(*reports.c, principals.c.name.label("principal")).join_from(
    reports, principals, principals.c.id == reports.c.principal_id
)
_OF_DATASET = reports.c.dataset_id == bindparam("dataset")
_NAMED = _SELECT.where(_OF_DATASET, reports.c.name == bindparam("report"))
_IN_FORCE = reports.c.withdrawn_at.is_(None)
_ONE = _SELECT.where(reports.c.id == bindparam("report_id"))
_ALL_IN_FORCE = _SELECT.where(_OF_DATASET, _IN_FORCE).order_by(reports.c.id)
# Without a join: a row for which Postgres has waited would not be found if its principal had changed meanwhile.
_ID = select(reports.c.id)
_LOCK_ONE = _ID.where(reports.c.id == bindparam("report_id")).with_for_update()
_LOCK_NAMED = _ID.where(_OF_DATASET, reports.c.name == bindparam("report")).with_for_update()
_LOCK_ALL = _ID.where(_OF_DATASET, _IN_FORCE).order_by(reports.c.id).with_for_update()
_ALL = _SELECT.where(_OF_DATASET).order_by(reports.c.id)
_PAGE = (
    _SELECT.where(_OF_DATASET, _IN_FORCE, reports.c.name > bindparam("after"))
    .order_by(reports.c.name)
    .limit(bindparam("most"))
)
_PAGE_OF_PRINCIPAL = _PAGE.where(reports.c.principal_id == bindparam("definer"))
_COUNT = select(func.count().label("found")).select_from(reports).where(_OF_DATASET)
_COUNT_IN_FORCE = _COUNT.where(reports.c.withdrawn_at.is_(None))
_COUNT_OF_PRINCIPAL = _COUNT.where(reports.c.principal_id == bindparam("definer"))
_INSERT = insert(reports).returning(reports.c.id)
_SET = (
    update(reports)
    .where(reports.c.id == bindparam("report_id"))
    .values({name: bindparam(f"new_{name}") for name in _COLUMNS[1:]})
)

STRAYS = {
    "report": select(reports.c.name)
    .where(
        or_(reports.c.dataset_id.not_in(select(datasets.c.id)), reports.c.principal_id.not_in(select(principals.c.id)))
    )
    .limit(1),
    "run of a report": select(report_runs.c.state)
    .where(
        or_(
            report_runs.c.dataset_id.not_in(select(datasets.c.id)),
            report_runs.c.report_id.not_in(select(reports.c.id)),
        )
    )
    .limit(1),
}
"""Find rows that belong to nothing, which no dataset's ledger shows, by what they are."""


def is_sealed(keyring: Keyring, report: Report) -> bool:
    """Whether a report matches its seal."""
    return keyring.is_sealed(report.seal, VERSION, *report[: _WIDTH - 1])


def _require_sealed(keyring: Keyring, row: object) -> Report | None:
    if row is None:
        return None
    report = Report(*row)  # type: ignore[misc]
    if not is_sealed(keyring, report):
        raise SealBrokenError
    return report


def find_report(session: Session, keyring: Keyring, dataset_id: int, name: str) -> Report | None:
    """Return a report that is at a dataset, in force or withdrawn; None if there is none.

    Raises:
        SealBrokenError: it does not match its seal.
    """
    return _require_sealed(keyring, session.row(_NAMED, dataset=dataset_id, report=name))


def lock_report(transaction: WriteSession, keyring: Keyring, dataset_id: int, name: str) -> Report | None:
    """Do the same as `find_report`, and lock the report until the end of the transaction."""
    transaction.row(_LOCK_NAMED, dataset=dataset_id, report=name)
    return find_report(transaction, keyring, dataset_id, name)


def read_report(session: Session, keyring: Keyring, report_id: int) -> Report:
    """Return the report of a run.

    Raises:
        SealBrokenError: it is missing or does not match its seal.
    """
    return _present(_require_sealed(keyring, session.row(_ONE, report_id=report_id)))


def lock_report_of_run(transaction: WriteSession, keyring: Keyring, report_id: int) -> Report:
    """Do the same as `read_report`, and lock the report until the end of the transaction."""
    transaction.row(_LOCK_ONE, report_id=report_id)
    return read_report(transaction, keyring, report_id)


def _present(report: Report | None) -> Report:
    if report is None:
        raise SealBrokenError
    return report


def lock_reports(transaction: WriteSession, dataset_id: int) -> None:
    """Lock the reports at a dataset that are in force, until the end of the transaction."""
    transaction.rows(_LOCK_ALL, dataset=dataset_id)


def list_in_force(session: Session, keyring: Keyring, dataset_id: int) -> list[Report]:
    """Return the reports at a dataset that are in force, without those that do not match their seals."""
    rows = session.rows(_ALL_IN_FORCE, dataset=dataset_id)
    return [report for report in map(Report._make, rows) if is_sealed(keyring, report)]


def page_of_reports(
    session: Session, dataset_id: int, after: str | None, limit: int, principal_id: int | None
) -> list[Report]:
    """Return at most `limit` reports in force by name, that follow the name `after`.

    With `principal_id`, only those of that principal are returned.
    """
    within = {"dataset": dataset_id, "after": after or "", "most": limit}
    if principal_id is None:
        return [Report(*row) for row in session.rows(_PAGE, **within)]
    return [Report(*row) for row in session.rows(_PAGE_OF_PRINCIPAL, **within, definer=principal_id)]


def count_reports(session: Session, dataset_id: int, principal_id: int) -> tuple[int, int]:
    """Return how many reports are in force at a dataset, and how many a principal has there, withdrawn or not."""
    in_force: int = session.row(_COUNT_IN_FORCE, dataset=dataset_id).found
    own: int = session.row(_COUNT_OF_PRINCIPAL, dataset=dataset_id, definer=principal_id).found
    return in_force, own


def insert_report(transaction: WriteSession, seal: Seal, report: Report) -> Report:
    """Seal and store a new report; its id and seal are replaced."""
    values = {name: getattr(report, name) for name in _COLUMNS[1:]}
    made = transaction.change_returning(_INSERT, **values)
    return save_report(transaction, seal, report._replace(id=made.id))


def save_report(transaction: WriteSession, seal: Seal, report: Report) -> Report:
    """Seal and store a report that the transaction has locked; its seal is replaced."""
    sealed = report._replace(seal=seal.seal_row(VERSION, *report[: _WIDTH - 1]))
    values = {f"new_{name}": getattr(sealed, name) for name in _COLUMNS[1:]}
    transaction.change_one(_SET, report_id=sealed.id, **values)
    return sealed


def find_unsealed(session: Session, keyring: Keyring, dataset_id: int) -> Iterator[str]:
    """Yield a problem for each report at a dataset that does not match its seal."""
    for row in session.rows(_ALL, dataset=dataset_id):
        report = Report(*row)
        if not is_sealed(keyring, report):
            yield f"the report {report.name} was changed after it was sealed"
