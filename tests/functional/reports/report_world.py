"""A series of datasets with a report, as its owner and analysts meet it."""

from typing import Any

import httpx
from service_world import Service, Table, a_name, becomes
from sqlalchemy import Connection, select, update
from tampering import keyring_of

from app.db.database import Database
from app.db.session import Session
from app.db.tables import report_runs, reports
from app.ledger.verification import audit_log_verification

COLUMNS = {
    "mass": {"kind": "integer", "bounds": [0, 100], "unit": "g", "nullable": False},
    "kind": {"kind": "category", "categories": ["cat", "dog"], "nullable": False},
}
CONTENT = b"mass,kind\n" + b"".join(b"%d,%s\n" % (i % 101, [b"cat", b"dog"][i % 2]) for i in range(200))
ITEMS = [
    {"statistic": {"kind": "mean", "column": "mass"}, "epsilon": "0.5"},
    {"statistic": {"kind": "count", "where": {"kind": {"in": ["cat"]}}}, "epsilon": "0.25"},
]
FIGURES = [{"figure": "mass", "title": "Mass", "items": [0]}, {"figure": "cats", "title": "Cats", "items": [1]}]
REPORT: dict[str, Any] = {
    "batch": {"items": ITEMS},
    "figures": FIGURES,
    "epsilon_per_run": "0.75",
    "epsilon_total": "1.5",
}


def define(table: Table, client: httpx.Client | None = None, name: str = "monthly", **more: Any) -> httpx.Response:
    return (client or table.owner).put(f"{table.path}/reports/{name}", json=REPORT | more)


def succeed(service: Service, table: Table, columns: Any = COLUMNS, content: bytes = CONTENT, **more: Any) -> Table:
    """The next dataset of a table's series, with the same people."""
    metadata = {"name": a_name("table"), "epsilon_limit": "3", "columns": columns, "succeeds": table.name, **more}
    answer = service.upload(table.owner, metadata, content)
    assert answer.status_code == 201, answer.text
    return Table(service, metadata["name"], table.owner_name, table.owner, table.analyst_name, table.analyst)


def rows_now(database: Database) -> dict[str, dict[str, Any]]:
    """The rows of reports by their names, and of runs by the names of their reports and their numbers."""
    with database.read() as session:
        found = {row.name: dict(row._mapping) for row in session.connection.execute(select(reports))}
        names = {row["id"]: name for name, row in found.items()}
        for row in session.connection.execute(select(report_runs)):
            found[f"{names[row.report_id]} {row.number}"] = dict(row._mapping)
    return found


def put_back(connection: Connection, row: dict[str, Any]) -> None:
    table = report_runs if "report_id" in row else reports
    where = [key == row[key.key] for key in table.primary_key]
    assert connection.execute(update(table).where(*where).values(row)).rowcount == 1


def problems(connection: Connection, service: Service) -> list[str]:
    """What verification of the acts finds in a database that is changed."""
    found = audit_log_verification.verify_audit_log(Session(connection), keyring_of(service))
    return [each.what for each in found.problems]


def last_run(table: Table, name: str = "monthly") -> dict[str, Any]:
    """The report's latest run, when nothing is left to do."""
    path = f"{table.path}/reports/{name}/runs"

    def latest() -> dict[str, Any]:
        (run,) = table.owner.get(path, params={"order": "newest", "limit": 1}).json()["runs"]
        return dict(run)

    assert becomes(lambda: latest()["state"] in {"done", "refused"} or latest()["problem"] is not None)
    return latest()


def ends(table: Table, state: str, name: str = "monthly") -> dict[str, Any]:
    """The report's latest run, when it has come to a state, as it may from another one by itself."""
    assert becomes(lambda: last_run(table, name)["state"] == state), last_run(table, name)
    return last_run(table, name)
