"""A small ledger in which everything that a ledger can hold is, and every way to change one value of it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from service_world import Service, Table, becomes, numbers_csv
from sqlalchemy import Column, Connection, insert, select, text, update
from sqlalchemy import Table as SqlTable

from app.db import tables as schema
from app.db.clock import now
from app.db.database import Database
from app.db.repositories import datasets, principals
from app.ledger import dataset_states
from app.ledger.chain import audit_log
from app.ledger.chain.audit_log import Actor
from app.ledger.chain.keyring import Keyring

COLUMNS = {"x": {"kind": "integer", "bounds": [0, 100]}, "g": {"kind": "category", "categories": ["a", "b"]}}
CSV = "x,g\n" + "".join(f"{line},{'ab'[number % 2]}\n" for number, line in enumerate(numbers_csv(20).split()[1:]))
MEAN = {"kind": "mean", "column": "x"}
OF_GROUPS = {"kind": "histogram", "column": "g"}
EXPIRY = "2099-01-01T00:00:00Z"
TIME = "2026-01-01T00:00:00.000000Z"


def keyring_of(service: Service) -> Keyring:
    return Keyring([(service.data / "secret").read_text("utf-8").strip()])


def fill(service: Service) -> Table:
    """Datasets of every state, releases, what answers again, allowances and principals of every kind."""
    table = service.table(COLUMNS, CSV, rows_per_unit=2, description="penguins")
    for key in ("one", "two"):
        assert table.release(MEAN, epsilon="0.25", reuse=False, key=key).status_code == 201
    assert table.release(MEAN, epsilon="0.125", key="three").status_code == 200
    assert table.release(OF_GROUPS, epsilon="0.5", gamma="0.1", grid_refinement=2, key="four").status_code == 201
    items = [{"statistic": MEAN, "weight": 1}, {"statistic": {"kind": "variance", "column": "x"}, "weight": 1}]
    batch = {"epsilon": "0.5", "items": items}
    assert (
        table.analyst.post(f"{table.path}/batches", json=batch, headers={"Idempotency-Key": "five"}).status_code == 201
    )
    derived = {"derived": {"kind": "standard_deviation", "column": "x"}, "epsilon": "0.5"}
    key = {"Idempotency-Key": "six"}
    assert table.analyst.post(f"{table.path}/derived", json=derived, headers=key).status_code == 201
    name, client = table.another("1")
    windowed = {"epsilon_limit": "1", "window_days": 7}
    assert table.owner.put(f"{table.path}/allowances/{name}", json=windowed).status_code in {200, 201}
    assert table.release(MEAN, epsilon="0.25", reuse=False, client=client).status_code == 201
    revoked, _ = table.another("1")
    assert table.owner.delete(f"{table.path}/allowances/{revoked}").status_code == 204
    assert service.admin.delete(f"/v1/principals/{revoked}").status_code == 204
    body = {"name": "short-lived", "role": "analyst", "key_expires_at": EXPIRY, "display_name": "Brief"}
    assert service.admin.post("/v1/principals", json=body).status_code == 201
    adjusted = {"epsilon_limit": "9", "reason": "a survey"}
    assert table.owner.post(f"{table.path}/budget/adjustments", json=adjusted).status_code == 201
    for answer in ("grant", "decline", None):
        asked = table.analyst.post(f"{table.path}/budget-requests", json={"epsilon": "0.5", "reason": "a survey"})
        assert asked.status_code == 201
        if answer is not None:
            at = f"{table.path}/budget-requests/{asked.json()['id']}/{answer}"
            assert table.owner.post(at, json={"answer": "so be it"}).status_code == 200
    _fill_figures(service, table)
    assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]
    assert service.admin.get("/v1/audit/verification").json()["valid"]
    _define_reports(table)
    successor = {"name": "successor", "epsilon_limit": "1", "columns": COLUMNS, "succeeds": table.name}
    assert service.upload(table.owner, successor, CSV.encode()).status_code == 201
    runs = "/v1/datasets/successor/reports/monthly/runs"
    assert becomes(lambda: table.owner.get(runs).json()["runs"][0]["state"] == "done")
    closed = service.table(COLUMNS, CSV)
    closed.fresh(MEAN, epsilon="0.5")
    assert closed.owner.delete(closed.path).status_code == 204
    stale = service.table(COLUMNS, CSV)
    _fill_beside(service, stale.name)
    return table


def _fill_figures(service: Service, table: Table) -> None:
    """Figures with versions, and one that is withdrawn; collections of them; and viewers of both."""
    released = [each["id"] for each in table.owner.get(f"{table.path}/releases").json()["releases"][:2]]
    for name, release in (("x", released[0]), ("gone", released[0]), ("x", released[1]), ("other", released[1])):
        body = {"title": name, "note": "of all", "release": release}
        assert table.owner.put(f"{table.path}/figures/{name}", json=body).status_code in {200, 201}
    assert table.owner.delete(f"{table.path}/figures/gone").status_code == 204
    for name, shown in (("board", ["x"]), ("other-board", ["other", "x"])):
        members = [{"dataset": table.name, "figure": each} for each in shown]
        body = {"title": name, "note": "of all", "figures": members}
        assert table.owner.put(f"/v1/collections/{name}", json=body).status_code == 201
    for granted in ((table.path, "/v1/collections/board"), ("/v1/collections/other-board",)):
        viewer, _ = service.principal("viewer")
        for path in granted:
            assert table.owner.put(f"{path}/viewers/{viewer}").status_code in {201, 204}


def _define_reports(table: Table) -> None:
    """A report that the successor's owner pays for, and one that is withdrawn."""
    body = {
        "batch": {"items": [{"statistic": MEAN, "epsilon": "0.25"}]},
        "figures": [{"figure": "x-again", "title": "x"}],
        "epsilon_per_run": "0.25",
        "epsilon_total": "1",
    }
    for name in ("monthly", "gone"):
        assert table.owner.put(f"{table.path}/reports/{name}", json=body).status_code == 201
    assert table.owner.delete(f"{table.path}/reports/gone").status_code == 204


def _fill_beside(service: Service, stale: str) -> None:
    """What takes a live table or a provider of tokens to come by."""
    keyring, database = keyring_of(service), Database(service.database_url)
    with database.write() as transaction:
        found = datasets.find_dataset(transaction, stale)
        assert found is not None
        dataset_states.mark(transaction, keyring, found.id, now(), stale=True)
        of_token = {"issuer": "https://provider.example", "subject": "s"}
        principals.insert_principal(transaction, "of-a-token", "analyst", None, now(), **of_token)
        told = {"role": "analyst", **of_token}
        target = "principals/of-a-token"
        audit_log.append_record(transaction, keyring.seal, Actor("service"), "principal.create", target, told, None)
        transaction.commit()
    database.close()


@contextmanager
def unconstrained(database: Database) -> Iterator[Connection]:
    """A connection without CHECKs and references, whose transaction is rolled back in the end."""
    with suppress(_UndoneError), database.migrating() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        else:
            _drop_constraints(connection)
        yield connection
        raise _UndoneError


class _UndoneError(Exception):
    pass


def _drop_constraints(connection: Connection) -> None:
    constraints = "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype IN ('c', 'f') AND conrelid <> 0"
    for table, name in connection.execute(text(constraints)).all():
        connection.execute(text(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'))
    for table in schema.metadata.sorted_tables:
        for column in table.c:
            if column.identity is not None:
                connection.execute(text(f"ALTER TABLE {table.name} ALTER {column.name} DROP IDENTITY"))


def rows_of(connection: Connection, table: SqlTable) -> list[dict[str, Any]]:
    if table is schema.relocations and connection.execute(select(table)).first() is None:
        connection.execute(insert(table).values(id="m", state="retired", other="elsewhere", at=now()))
    return [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]


def change(table: SqlTable, column: Column[Any], row: dict[str, Any], rows: list[dict[str, Any]]) -> Any:
    """The statement that gives one column of one row another value, one that it may have where there is one."""
    where = [key == row[key.key] for key in table.primary_key]
    return update(table).where(*where).values({column: _other(column, row[column.key], rows)})


def _other(column: Column[Any], value: Any, rows: list[dict[str, Any]]) -> Any:
    fixed = {
        "role": "owner" if value == "admin" else "admin",
        "state": "open" if value != "open" else "closed",
        "kind": "allow" if value != "allow" else "revoke",
        "status": 401 - value if column.key == "status" else None,
        "via": "service" if value != "service" else "command",
    }
    if column.key in fixed:
        return fixed[column.key]
    if (
        column.foreign_keys and not column.unique and list(column.table.primary_key) != [column]
    ):  # to what else is referred to, if there is anything else
        others = sorted({row[column.key] for row in rows} - {value, None})
        if others:
            return others[0]
    if value is None:
        return {bytes: b"x" * 32, int: 7}.get(column.type.python_type, TIME)
    if not isinstance(value, str):
        return _OTHERS[type(value)](column, value)
    return TIME if value.endswith("Z") else f"{value}x"


_OTHERS: dict[type, Any] = {
    bool: lambda _, value: not value,
    float: lambda _, value: value / 2,
    int: lambda column, value: value + (1_000 if column.primary_key else 1),
    bytes: lambda _, value: bytes([*value[:-1], value[-1] ^ 1]),
}
