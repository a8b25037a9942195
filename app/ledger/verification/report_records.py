"""Reports and their runs as the audit log tells them, compared with those that are stored.

A stored report has a seal, and so has each run, but an earlier row with its earlier seal can be put back, or a row
deleted. The audit log is chained, so it shows that. A run that was refused, or could not be published, may be
tried again without a record.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from app.db.session import Session
from app.db.tables import datasets, principals, report_runs, reports
from app.ledger.units import stored_epsilon_text

_PAGE = 1_000
_PREFIX = "report."
_STORED = (
    select(reports, datasets.c.name.label("dataset"), principals.c.name.label("principal"))
    .join_from(reports, datasets, datasets.c.id == reports.c.dataset_id)
    .join(principals, principals.c.id == reports.c.principal_id)
    .where(reports.c.id > bindparam("after"))
    .order_by(reports.c.id)
    .limit(bindparam("most"))
)
_RUNS = (
    select(report_runs, datasets.c.name.label("dataset"))
    .join_from(report_runs, datasets, datasets.c.id == report_runs.c.dataset_id)
    .where(report_runs.c.report_id == bindparam("report"))
    .order_by(report_runs.c.number)
)


class _Terms(NamedTuple):
    """What was defined last, by whom, and whether it is withdrawn."""

    principal: str | None
    definition_sha256: str
    epsilon_per_run: str
    epsilon_total: str
    withdrawn: bool = False


@dataclass(slots=True)
class _Run:
    """A run as its last record tells it."""

    number: int
    dataset: str
    state: str = "pending"
    charged: str = "0"
    problem: str | None = None


@dataclass(slots=True)
class _Report:
    terms: _Terms
    runs: list[_Run] = field(default_factory=list)


class RecordedReports:
    """The reports as recomputed from the records so far, by the names of the dataset where each is and their own."""

    def __init__(self) -> None:
        self._reports: dict[tuple[str, str], _Report] = {}
        self._runs: dict[tuple[str, str], _Run] = {}  # by the dataset that each was made on: a report moves on

    def step(self, row: Any) -> str | None:  # noqa: ANN401 - a row of the audit log
        """Take the next record; return what is wrong with it, if it is about a report and does not fit."""
        if not row.action.startswith(_PREFIX):
            return None
        _, dataset, _, name = row.target.split("/")
        at, told, act = (dataset, name), json.loads(row.details), row.action.removeprefix(_PREFIX)
        if act == "define":
            terms = _Terms(row.actor, told["definition_sha256"], told["epsilon_per_run"], told["epsilon_total"])
            self._reports.setdefault(at, _Report(terms)).terms = terms
            return None
        if act in {"run", "retry"}:
            return self._step_run(at, act, told)
        return self._move(at, told["succeeds"]) if act == "move" else self._withdraw(at)

    def _withdraw(self, at: tuple[str, str]) -> str | None:
        known = self._reports.get(at)
        if known is None:
            return f"withdraws the report {_name(at)}, which nobody defined"
        known.terms = known.terms._replace(withdrawn=True)
        return None

    def _move(self, at: tuple[str, str], predecessor: str) -> str | None:
        known = self._reports.pop((predecessor, at[1]), None)
        if known is None:
            return f"moves the report {_name(at)}, which was not at {predecessor}"
        queued = _Run(len(known.runs) + 1, at[0])
        known.runs.append(queued)
        self._reports[at] = known
        self._runs[at] = queued
        return None

    def _step_run(self, at: tuple[str, str], act: str, told: dict[str, Any]) -> str | None:
        run = self._runs.get(at)
        if run is None or run.number != told["run"]:
            return f"is about a run of the report {_name(at)} that was never queued"
        if act == "run":
            if run.state == "done":
                return f"ends the run {run.number} of the report {_name(at)} again"
            run.state, run.charged, run.problem = told["state"], told["charged"], told["problem"]
        return None

    def find_differing(self, session: Session) -> Iterator[str]:
        """Yield a problem for each stored report or run that differs from the records, and for each that is missing."""
        missing = dict(self._reports)
        after = 0
        while page := session.rows(_STORED, after=after, most=_PAGE):
            for row in page:
                at = (row.dataset, row.name)
                recorded = missing.pop(at, None)
                if recorded is None:
                    yield f"the report {_name(at)} was defined without a record"
                else:
                    yield from _compare(at, row, session.rows(_RUNS, report=row.id), recorded)
            after = page[-1].id
        for at in missing:
            yield f"the report {_name(at)} is missing"


def _compare(at: tuple[str, str], row: Any, runs: list[Any], recorded: _Report) -> Iterator[str]:  # noqa: ANN401 - rows
    if _read_terms(row) != recorded.terms:
        yield f"the report {_name(at)} is not what the records say"
    stored = {run.number: run for run in runs}
    if len(stored) > len(recorded.runs):
        yield f"the report {_name(at)} has a run without a record"
    for each in recorded.runs:
        run = stored.get(each.number)
        if run is None:
            yield f"the run {each.number} of the report {_name(at)} is missing"
        elif run.dataset != each.dataset or not _may_be(run, each):
            yield f"the run {each.number} of the report {_name(at)} is not what the records say"
    if row.spent_nano != sum(run.charged_nano for run in runs if isinstance(run.charged_nano, int)):
        yield f"the report {_name(at)} has not spent what its runs were charged"


def _may_be(run: Any, recorded: _Run) -> bool:  # noqa: ANN401 - a row of _RUNS
    """Whether a stored run can be what has become of it since its last record."""
    charged, problem = stored_epsilon_text(run.charged_nano), _read_slug(run.problem)
    if (run.state, charged, problem) == (recorded.state, recorded.charged, recorded.problem):
        return True
    again = {"refused": "pending", "released": "released"}.get(recorded.state)
    return recorded.problem is not None and (run.state, charged, problem) == (again, recorded.charged, None)


def _read_terms(row: Any) -> _Terms:  # noqa: ANN401 - a row of _STORED
    return _Terms(
        row.principal,
        hashlib.sha256(str(row.definition).encode()).hexdigest(),
        stored_epsilon_text(row.run_limit_nano),
        stored_epsilon_text(row.total_limit_nano),
        row.withdrawn_at is not None,
    )


def _read_slug(problem: object) -> str | None:
    """Return the slug of a stored problem, as records have it; no record has the one of what is no problem."""
    if problem is None:
        return None
    try:
        return str(json.loads(str(problem))["type"]).rpartition("/")[2]
    except (ValueError, TypeError, KeyError):  # SQLite takes any value in any column
        return "not a problem"


def _name(at: tuple[str, str]) -> str:
    return "/".join(map(str, at))  # SQLite takes any value in any column
