"""What the service aims at, and whether the latest measurements meet it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, str]
OURS = {"server": "snapledger"}
_NUMBER = re.compile(r"[\d,]*\.?\d+")


def read_number(text: str) -> float | None:
    """The number that a cell starts with, if any."""
    found = _NUMBER.match(text)
    return float(found[0].replace(",", "")) if found else None


@dataclass(frozen=True)
class Goal:
    """A figure of a benchmark, and what it should be at least or at most.

    Attributes:
        what: the figure.
        run: the name of the benchmark.
        find: returns the figure from the rows of its tables.
        least, most: the goal; one of them is given.
        unit: what follows the number.
    """

    what: str
    run: str
    find: Callable[[Sequence[Row]], float]
    least: float | None = None
    most: float | None = None
    unit: str = ""

    def is_met(self, figure: float) -> bool:
        """Whether a figure is as good as the goal."""
        return (self.least is None or figure >= self.least) and (self.most is None or figure <= self.most)

    def describe(self) -> str:
        """The goal in words."""
        bound = self.least if self.least is not None else self.most
        return f"at {'least' if self.least is not None else 'most'} {bound:,g}{self.unit}"


def _cell(rows: Sequence[Row], column: str, **where: str) -> float:
    """The number in a column of the first row whose cells start with these texts."""
    named = {name.replace("_", " "): text for name, text in where.items()}
    for row in rows:
        number = read_number(row.get(column, ""))
        if number is not None and all(row.get(name, "").startswith(text) for name, text in named.items()):
            return number
    raise LookupError(f"no row has {column} and {where}")


def _against_bare(contest: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: _cell(rows, "against bare", contest=contest, **OURS)


def _tail(rows: Sequence[Row]) -> float:
    contest = "releases, 16 clients"
    return _cell(rows, "p99 ms", contest=contest, **OURS) / _cell(rows, "p50 ms", contest=contest, **OURS)


def _two_workers(rows: Sequence[Row]) -> float:
    two, one = (_cell(rows, "a second", workers=workers, what="release") for workers in "21")
    return two / one


def _ours(question: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: _cell(rows, "ours", median_ms=question)


def _against(column: str, ours: str, question: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: _cell(rows, ours, median_ms=question) / _cell(rows, column, median_ms=question)


def _over_http(statistic: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: _cell(rows, "ours s", statistic=statistic) / _cell(rows, "numpy s", statistic=statistic)


def _growth(what: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: _cell(rows[-1:], f"{what} against the first")


def _memory(rows: Sequence[Row]) -> float:
    return _cell(rows[-1:], "service MiB") / _cell(rows[len(rows) // 2 - 1 :], "service MiB")


def _verification(database: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: _cell(rows[::-1], "entries a second", database=database, what="verification")


def _registration(what: str) -> Callable[[Sequence[Row]], float]:
    return lambda rows: _cell(rows, "ratio", what=what)


_ON = {"releases-sqlite": "SQLite", "releases-postgres": "Postgres"}
_GROWTH = {"growth": "SQLite", "growth-postgres": "Postgres"}
_QUESTIONS = ("mean", "variance", "histogram of a category")

GOALS = (
    Goal("Releases on SQLite, beside a bare endpoint", "releases-sqlite", _against_bare("releases, 16"), 0.6),
    Goal("Plans with one client, beside a bare endpoint", "releases-sqlite", _against_bare("plans"), 0.6),
    Goal("Releases on Postgres, beside a bare endpoint", "releases-postgres", _against_bare("releases, 16"), 0.5),
    Goal("Releases on 16 datasets, on Postgres", "releases-postgres", _against_bare("releases on 16 datasets"), 0.6),
    Goal("Releases with two workers, beside one worker", "workers", _two_workers, least=1),
    *(Goal(f"p99 of releases, beside their p50, on {name}", run, _tail, most=4) for run, name in _ON.items()),
    *(Goal(f"A first {name}", "dashboards", _ours(name), most=10, unit=" ms") for name in _QUESTIONS),
    Goal("A first covariance, beside numpy", "dashboards", _against("numpy", "ours", "covariance"), most=1),
    Goal("A first filtered count, beside numpy", "dashboards", _against("numpy", "ours", "filtered count"), most=1),
    Goal(
        "A first mean at other bounds, beside numpy", "dashboards", _against("numpy", "ours", "mean, other"), most=1.2
    ),
    Goal("A first covariance over HTTP, beside numpy", "first-questions", _over_http("covariance"), most=1),
    Goal("A first filtered count over HTTP, beside numpy", "first-questions", _over_http("filtered count"), most=1),
    Goal("A first mean at other bounds over HTTP", "first-questions", _over_http("mean, other"), most=1.2),
    Goal("Fifty first questions at once, beside DuckDB", "dashboards", _against("DuckDB", "at once", "50 all"), most=1),
    Goal("Registration, beside one without prepared sums", "registration", _registration("processor s"), most=1.3),
    Goal("Bytes of a table, beside one without prepared sums", "registration", _registration("stored MB"), most=1.5),
    *(Goal(f"Growth of plans, on {name}", run, _growth("plans"), most=1.2) for run, name in _GROWTH.items()),
    *(Goal(f"Growth of releases, on {name}", run, _growth("releases"), most=1.2) for run, name in _GROWTH.items()),
    *(
        Goal(f"Verified entries a second, on {name}", "verification", _verification(name), least=100_000)
        for name in ("SQLite", "Postgres")
    ),
    Goal("Memory at the end, beside that after half of the requests", "memory", _memory, most=1.05),
)


def judge(runs: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """One row for each goal that was measured: what, the goal, the figure, and whether it is met."""
    judged = []
    for goal in GOALS:
        found = (runs.get(name, {}).get("tables") for name in (f"{goal.run}-long", goal.run))
        tables = next(filter(None, found), ())
        rows = [dict(zip(table["columns"], row, strict=True)) for table in tables for row in table["rows"]]
        try:
            figure = goal.find(rows)
        except LookupError:  # it was not measured
            continue
        judged.append((goal.what, goal.describe(), f"{figure:,.4g}{goal.unit}", "yes" if goal.is_met(figure) else "no"))
    return judged
