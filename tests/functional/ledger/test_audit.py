"""Administrative acts are in the audit log: who did what to what, when, and in which request."""

import getpass
import json
import secrets
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from alembic.script import ScriptDirectory
from command_line import Done, run
from psycopg import sql
from service_world import X_COLUMNS, Service, Table, a_name, key_of, numbers_csv, pages, serving
from sqlalchemy import delete, insert, update

from app.db import schema_migration as migrations
from app.db.database import Database
from app.db.tables import audit, principals
from app.ledger.chain.keyring import Keyring
from app.ledger.verification.audit_log_verification import verify_audit_log


def records(service: Service) -> list[dict[str, Any]]:
    return [record for page in pages(service.admin, "/v1/audit", 1000) for record in page]


def last(service: Service, answer: httpx.Response) -> tuple[Any, ...]:
    """The last record, which is that of the request which was answered."""
    record = records(service)[-1]
    assert record["request_id"] == answer.headers["x-request-id"]
    assert answer.is_success, answer.text
    details = {name: value for name, value in record["details"].items() if name != "key_seal"}
    return record["via"], record["actor"], record["action"], record["target"], details


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20))


def test_acts_on_principals(service: Service) -> None:
    name, far = a_name("person"), "2126-01-31T12:00:00Z"
    told = {"role": "analyst", "key_expires_at": None}
    made = service.admin.post("/v1/principals", json={"name": name, "role": "analyst"})
    assert last(service, made) == ("principal", "admin", "principal.create", f"principals/{name}", told)
    own = service.client(made.json()["key"]).post("/v1/me/key")
    assert last(service, own) == ("principal", name, "principal.key", f"principals/{name}", {"key_expires_at": None})
    renewed = service.admin.post(f"/v1/principals/{name}/keys", json={"key_expires_at": far})
    expiry = {"key_expires_at": "2126-01-31T12:00:00.000000Z"}
    assert last(service, renewed) == ("principal", "admin", "principal.key", f"principals/{name}", expiry)
    gone = service.admin.delete(f"/v1/principals/{name}")
    assert last(service, gone) == ("principal", "admin", "principal.disable", f"principals/{name}", {})


def test_acts_on_datasets_and_budgets(service: Service) -> None:
    owner_name, owner = service.principal("owner")
    analyst, _ = service.principal("analyst")
    name = a_name("table")
    path = f"/v1/datasets/{name}"
    by = ("principal", owner_name)
    metadata = {"name": name, "epsilon_limit": "10", "columns": X_COLUMNS}
    made = service.upload(owner, metadata, numbers_csv(20).encode())
    told = {"epsilon_limit": "10", "rows_per_unit": 1}
    assert last(service, made) == (*by, "dataset.register", f"datasets/{name}", told)
    allowance = f"datasets/{name}/allowances/{analyst}"
    granted = owner.put(f"/v1/{allowance}", json={"epsilon_limit": "2.5", "window_days": 30})
    assert last(service, granted) == (*by, "allowance.grant", allowance, {"epsilon_limit": "2.5", "window_days": 30})
    revoked = owner.delete(f"/v1/{allowance}")
    assert last(service, revoked) == (*by, "allowance.revoke", allowance, {})
    adjusted = owner.post(f"{path}/budget/adjustments", json={"epsilon_limit": "12", "reason": "the secret reason"})
    assert last(service, adjusted) == (*by, "budget.adjust", f"datasets/{name}", {"epsilon_limit": "12"})
    closed = service.admin.delete(path)
    assert last(service, closed) == ("principal", "admin", "dataset.close", f"datasets/{name}", {})


@pytest.mark.slow
def test_a_live_table_s_validation(tmp_path: Path, database_url: str, postgres_server: str) -> None:
    source = a_name("source").replace("-", "_")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        made = "CREATE TABLE {} AS SELECT id % 100 AS x FROM generate_series(1, 50) AS id"
        connection.execute(sql.SQL(made).format(sql.Identifier(source)))
    with serving(tmp_path, database_url, CONNECTION_WAREHOUSE=postgres_server) as service:
        at = {"connection": "warehouse", "table": source, "live": True}
        metadata = {"name": "live", "epsilon_limit": "1", "columns": X_COLUMNS, "source": at}
        assert service.admin.post("/v1/datasets", json=metadata).status_code == 201
        answer = service.admin.post("/v1/datasets/live/revalidation")
        assert last(service, answer)[2:] == ("dataset.revalidate", "datasets/live", {"state": "open"})
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(sql.SQL("DELETE FROM {} WHERE x = 1").format(sql.Identifier(source)))
        assert service.admin.post("/v1/datasets/live/revalidation").status_code == 409
        assert records(service)[-1]["details"] == {"state": "stale"}


def test_what_is_refused_or_only_asked_is_no_act(service: Service, table: Table) -> None:
    before = records(service)[-1]["seq"]
    table.fresh({"kind": "mean", "column": "x"}, epsilon="0.5")
    assert table.plan({"kind": "mean", "column": "x"}, epsilon=1).status_code == 200
    assert service.admin.delete("/v1/principals/no-one-of-that-name").status_code == 404
    assert service.admin.post("/v1/principals", json={"name": "admin", "role": "owner"}).status_code == 409
    assert table.analyst.post("/v1/principals", json={"name": "x", "role": "owner"}).status_code == 403
    past = {"key_expires_at": "2026-01-01T00:00:00Z"}
    assert service.admin.post(f"/v1/principals/{table.analyst_name}/keys", json=past).status_code == 422
    assert table.owner.put(f"{table.path}/allowances/nobody", json={"epsilon_limit": 1}).status_code == 404
    lower = {"epsilon_limit": "0.25", "reason": "x"}
    assert table.owner.post(f"{table.path}/budget/adjustments", json=lower).status_code == 422
    assert records(service)[-1]["seq"] == before


def test_who_may_read_it(service: Service, table: Table) -> None:
    _, auditor = service.principal("auditor")
    for path in ("/v1/audit", "/v1/audit/verification"):
        for client, status in (
            *((table.owner, 403), (table.analyst, 403), (service.stranger, 401)),
            *((auditor, 200), (service.admin, 200)),
        ):
            assert client.get(path).status_code == status
        assert service.admin.post(path).status_code == 405
    limit = min(1000, len(records(service)) // 3)
    paged = [record for page in pages(auditor, "/v1/audit", limit) for record in page]
    assert [record["seq"] for record in paged] == list(range(1, len(paged) + 1))
    assert auditor.get("/v1/audit", params={"after": "x"}).status_code == 422


def test_the_first_record_is_the_first_admin_s(service: Service) -> None:
    first = records(service)[0]
    told = {name: first[name] for name in ("seq", "via", "actor", "action", "target", "request_id", "previous_hash")}
    assert told == {
        "seq": 1,
        "via": "service",
        "actor": None,
        "action": "principal.create",
        "target": "principals/admin",
        "request_id": None,
        "previous_hash": None,
    }


def test_no_record_holds_a_key_or_a_value(service: Service) -> None:
    value = 777_777_777_777_777  # more digits than a hash has in a row
    table = service.table({"x": {"kind": "integer", "bounds": [0, 10**15]}}, f"x\n{value}\n1\n2\n")
    reason = {"epsilon_limit": "11", "reason": "what an owner may write"}
    assert table.owner.post(f"{table.path}/budget/adjustments", json=reason).status_code == 201
    text = json.dumps(records(service))
    for hidden in (str(value), service.admin_key, key_of(table.owner), key_of(table.analyst), reason["reason"]):
        assert str(hidden) not in text


def test_the_chain_and_the_principals_are_verified(service: Service, table: Table) -> None:
    found = service.admin.get("/v1/audit/verification").json()
    assert (found["valid"], found["problems"]) == (True, [])
    listed = records(service)
    assert (found["entries"], found["head"]) == (len(listed), listed[-1]["hash"])
    for before, after in pairwise(listed):
        assert after["previous_hash"] == before["hash"]


class Operator:
    """Who has a service's settings and its database, with the service stopped."""

    def __init__(self, folder: Path, url: str) -> None:
        self.secret = secrets.token_hex(32)
        self.settings = {"DATABASE_URL": url, "DATA_DIR": str(folder / "data"), "SECRET": self.secret}
        with serving(folder, url, SECRET=self.secret) as service:
            self.table = service.table(X_COLUMNS, numbers_csv(20))
            self.key = service.admin_key
        self.database = Database(url)

    def run(self, *arguments: str) -> Done:
        return run(*arguments, **self.settings)

    def problems(self) -> list[tuple[int | None, str]]:
        with self.database.read() as session:
            return [(each.seq, each.what) for each in verify_audit_log(session, Keyring([self.secret])).problems]

    def change(self, statement: Any) -> None:
        """Write to the database behind the service's back, and take it back."""
        with self.database.write() as transaction:
            transaction.connection.execute(statement)
            transaction.commit()

    def records(self) -> list[Any]:
        with self.database.read() as session:
            return list(session.connection.execute(audit.select().order_by(audit.c.seq)))


@pytest.fixture
def operator(tmp_path: Path, database_url: str) -> Iterator[Operator]:
    made = Operator(tmp_path, database_url)
    yield made
    made.database.close()


@pytest.mark.slow
def test_what_was_done_behind_the_service_s_back_is_found(operator: Operator) -> None:
    row = principals.c
    rows = [dict(record._mapping) for record in operator.records()]

    def restore() -> None:
        operator.change(delete(audit))
        for kept in rows:
            operator.change(insert(audit).values(kept))

    assert operator.problems() == []
    for statement, seq, told in [
        (update(audit).where(audit.c.seq == 2).values(actor="mallory"), 2, "differs"),
        (update(audit).where(audit.c.seq == 2).values(details="{}"), 2, "differs"),
        (update(audit).where(audit.c.seq == 2).values(secret_id="0" * 16), 2, "not configured"),
        (delete(audit).where(audit.c.seq == 3), 4, "missing"),
        (update(audit).where(audit.c.seq == 3).values(previous_hash=b"x" * 32), 3, "before it"),
        (delete(audit).where(audit.c.seq > 1), None, "without a record"),
    ]:
        operator.change(statement)
        found = operator.problems()
        assert found[0][0] == seq, (found, told)
        assert told in found[0][1]
        restore()
    assert operator.problems() == []
    analyst = row.name == operator.table.analyst_name
    for changed in ({"role": "admin"}, {"key_hash": b"m" * 32}, {"key_expires_at": "2126"}, {"disabled_at": "t"}):
        with operator.database.read() as session:
            kept = dict(session.connection.execute(principals.select().where(analyst)).one()._mapping)
        operator.change(update(principals).where(analyst).values(changed))
        assert operator.problems() == [
            (None, f"the principal {operator.table.analyst_name} differs from what the records say")
        ]
        operator.change(update(principals).where(analyst).values({name: kept[name] for name in changed}))
    made = {"name": "mallory", "role": "admin", "key_hash": b"m" * 32, "created_at": "t"}
    operator.change(insert(principals).values(made))
    assert operator.problems() == [(None, "the principal mallory was created without a record")]
    done = operator.run("ledger", "verify")
    assert (done.status, "mallory" in done.out, "administrative acts: NOT VALID" in done.out) == (1, True, True)


@pytest.mark.slow
def test_acts_of_commands(operator: Operator) -> None:
    checkpoint = Path(operator.settings["DATA_DIR"]) / "checkpoint.json"
    assert operator.run("ledger", "checkpoint", str(checkpoint)).status == 0
    name = operator.table.name
    assert operator.run("create-key", "grace", "--role", "owner", "--expires-at", "2126-01-01T00:00:00Z").status == 0
    assert operator.run("create-key", "grace").status == 0
    assert operator.run("ledger", "write-off", name, "0.5", "--reason", "lost").status == 0
    told = [(each.via, each.action, each.target, json.loads(each.details)) for each in operator.records()[-3:]]
    for _, _, _, details in told:
        details.pop("key_seal", None)
    assert told == [
        (
            *("command", "principal.create", "principals/grace"),
            {"role": "owner", "key_expires_at": "2126-01-01T00:00:00.000000Z"},
        ),
        ("command", "principal.key", "principals/grace", {"key_expires_at": None}),
        ("command", "budget.write_off", f"datasets/{name}", {"epsilon": "0.5", "principal": "admin"}),
    ]
    assert {each.actor for each in operator.records()[-3:]} == {getpass.getuser()}
    assert operator.run("ledger", "verify", "--checkpoint", str(checkpoint)).status == 0
    assert operator.run("create-key", "grace", "--expires-at", "yesterday").status == 1
    assert operator.problems() == []

    operator.change(delete(audit))  # all of it turned back
    behind = operator.run("ledger", "verify", "--checkpoint", str(checkpoint))
    assert "BEHIND it: administrative acts" in behind.out


@pytest.mark.slow
def test_migrations_and_restored_backups_are_acts(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup, fresh = tmp_path / "backup", f"sqlite:///{tmp_path}/fresh/ledger.sqlite3"
    assert operator.run("backup", str(backup)).status == 0
    elsewhere = operator.settings | {"DATABASE_URL": fresh, "DATA_DIR": str(tmp_path / "fresh")}
    wrong = run("restore", str(backup), **elsewhere | {"SECRET": "s" * 32})
    assert (wrong.status, "another secret" in wrong.err) == (1, True)
    assert run("restore", str(backup), **elsewhere).status == 0
    restored = Database(fresh)
    with restored.read() as session:
        found = list(session.connection.execute(audit.select().order_by(audit.c.seq)))[-1]
    made_at = json.loads((backup / "checkpoint.json").read_text())["at"]
    assert (found.via, found.action, json.loads(found.details)) == ("command", "database.restore", {"at": made_at})
    restored.close()

    scripts = tmp_path / "scripts"
    shutil.copytree(migrations.SCRIPTS, scripts)
    latest = ScriptDirectory(str(migrations.SCRIPTS)).get_current_head()
    (scripts / "versions" / "next.py").write_text(
        f"revision, down_revision = 'next', '{latest}'\ndef upgrade(): pass\ndef downgrade(): pass\n"
    )
    monkeypatch.setattr(migrations, "SCRIPTS", scripts)
    migrations._heads.cache_clear()
    before = len(operator.records())
    wrong = run("migrate", **operator.settings | {"SECRET": "s" * 32})
    assert (wrong.status, "another secret" in wrong.err, len(operator.records())) == (1, True, before)
    assert not migrations.is_current(operator.database)  # what is not on record is not done
    assert operator.run("migrate").status == 0
    assert operator.run("migrate").status == 0
    assert len(operator.records()) == before + 1
    found = operator.records()[-1]
    told = {"from": latest, "to": "next"}
    assert (found.via, found.action, found.target, json.loads(found.details)) == (
        *("command", "database.migrate"),
        *(None, told),
    )
    migrations._heads.cache_clear()
