"""A report or a run that was put back to an earlier row, with its seal, or deleted in the database, is found."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_world import COLUMNS, CONTENT, define, ends, last_run, problems, put_back, rows_now, succeed
from service_world import Service, serving
from sqlalchemy import delete
from tampering import unconstrained

from app.db.database import Database
from app.db.tables import report_runs, reports


@pytest.fixture
def service(tmp_path: Path, database_url: str) -> Iterator[Service]:
    """A service of the test's own, whose database it changes."""
    with serving(tmp_path, database_url) as started:
        yield started


def audit_problems(service: Service) -> list[str]:
    found = service.admin.get("/v1/audit/verification").json()
    assert found["valid"] == (not found["problems"])
    return [each["what"] for each in found["problems"]]


@pytest.mark.slow
def test_an_earlier_row_or_a_missing_one_is_found(service: Service, database_url: str) -> None:
    database = Database(database_url)
    first = service.table(COLUMNS, CONTENT, limit="10", allowance="5")
    for name in ("monthly", "gone"):
        assert define(first, name=name).status_code == 201
    dogs = {"statistic": {"kind": "count", "where": {"kind": {"in": ["dog"]}}}, "epsilon": "0.75"}
    own = {"batch": {"items": [dogs]}, "figures": [{"figure": "dogs", "title": "Dogs"}]}
    assert define(first, first.analyst, "of-the-analyst", **own).status_code == 201
    defined = rows_now(database)
    assert define(first, name="monthly", epsilon_total="3").status_code == 200
    changed = rows_now(database)
    assert first.owner.delete(f"{first.path}/reports/gone").status_code == 204
    second = succeed(service, first)
    assert last_run(second)["state"] == "done"
    assert last_run(second, "of-the-analyst")["state"] == "refused"
    refused = rows_now(database)
    second.grant(second.analyst_name, "2")
    assert ends(second, "done", "of-the-analyst")["charged"] == "0.75"
    third = succeed(service, second)
    assert (last_run(third)["state"], last_run(third, "of-the-analyst")["state"]) == ("done", "refused")
    done = rows_now(database)
    report, other = f"the report {third.name}/monthly", f"the report {third.name}/of-the-analyst"
    assert audit_problems(service) == []
    now = done["monthly"]
    of_analyst = {"principal_id": done["of-the-analyst"]["principal_id"]}
    wrong, unspent = "is not what the records say", "has not spent what its runs were charged"
    tampered: list[tuple[list[dict[str, Any]], list[str]]] = [
        ([defined["gone"]], [f"the report {first.name}/gone {wrong}"]),
        (
            [changed["monthly"]],
            [f"the report {first.name}/monthly was defined without a record", f"{report} is missing"],
        ),
        ([refused["of-the-analyst 1"]], [f"the run 1 of {other} {wrong}", f"{other} {unspent}"]),
        (
            [now | {"spent_nano": 0}, done["monthly 2"] | {"state": "pending", "charged_nano": 0}],
            [f"the run 2 of {report} {wrong}", f"{report} {unspent}"],
        ),
        ([now | {"spent_nano": 0}], [f"{report} {unspent}"]),
        ([now | of_analyst], [f"{report} {wrong}"]),
        ([now | {"definition": "{}"}], [f"{report} {wrong}"]),
        ([now | {"run_limit_nano": 3_000_000_000}], [f"{report} {wrong}"]),
        ([now | {"total_limit_nano": 9_000_000_000}], [f"{report} {wrong}"]),
        ([done["monthly 1"] | {"dataset_id": defined["monthly"]["dataset_id"]}], [f"the run 1 of {report} {wrong}"]),
        ([done["monthly 1"] | {"state": "refused"}], [f"the run 1 of {report} {wrong}"]),
    ]
    with unconstrained(database) as connection:
        for rows, expected in tampered:
            with connection.begin_nested() as savepoint:
                for row in rows:
                    put_back(connection, row)
                found = problems(connection, service)
                savepoint.rollback()
            assert found == expected
        for table, where, told in (
            (report_runs, report_runs.c.report_id == now["id"], f"the run 1 of {report} is missing"),
            (reports, reports.c.name == "gone", f"the report {first.name}/gone is missing"),
        ):
            with connection.begin_nested() as savepoint:
                connection.execute(delete(table).where(where))
                assert told in problems(connection, service)
                savepoint.rollback()
    database.close()
