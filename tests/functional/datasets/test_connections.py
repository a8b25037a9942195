"""Tables in somebody else's database, registered by name: what is told of them, and what never is."""

import re
import secrets
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from service_world import X_COLUMNS, Service, Table, serving, told
from sourced_tables import SourcedTables
from sqlalchemy import make_url

MEAN = {"kind": "mean", "column": "x"}
PASSWORD = "kept-out-of-every-answer"  # noqa: S105


class Warehouse(SourcedTables):
    """A database with tables, and the service that knows it as `warehouse`."""

    connection = "warehouse"

    def __init__(self, url: str, service: Service) -> None:
        self.url = url
        self.service = service

    def run(self, *statements: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def make(self, *values: int) -> str:
        """A table of one column."""
        name = f"t{secrets.token_hex(6)}"
        self.run(f"CREATE TABLE {name} (x int)", *(f"INSERT INTO {name} VALUES ({value})" for value in values))  # noqa: S608
        return name


# On Postgres, the ledger is beside the tables, which changes little of them.
@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def warehouse(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres_server: str
) -> Iterator[Warehouse]:
    folder, url = tmp_path_factory.mktemp("warehouse"), make_url(postgres_server)
    suffix = request.param
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE warehouse_{suffix}".encode())
        connection.execute(f"CREATE DATABASE ledger_{suffix}".encode())
        connection.execute(f"CREATE ROLE reader_{suffix} SUPERUSER LOGIN PASSWORD '{PASSWORD}'".encode())
    of_reader = url.set(database=f"warehouse_{suffix}", username=f"reader_{suffix}", password=PASSWORD)
    settings = {
        "CONNECTION_WAREHOUSE": of_reader.render_as_string(hide_password=False),
        "CONNECTION_AWAY": f"postgresql://nobody:{PASSWORD}@127.0.0.1:1/away",
    }
    database = f"sqlite:///{folder}/ledger.sqlite3"
    if suffix == "postgres":
        database = url.set(database=f"ledger_{suffix}").render_as_string(hide_password=False)
    with serving(folder, database, **settings) as service:
        own = url.set(database=f"warehouse_{suffix}").render_as_string(hide_password=False)
        yield Warehouse(own, service)
        assert PASSWORD not in service.log.read_text()
        for path in service.data.rglob("*.json"):
            assert PASSWORD not in path.read_text()


@pytest.mark.parametrize("live", [False, True])
def test_a_table_is_registered_by_its_name(warehouse: Warehouse, live) -> None:
    """JSON whose `source` names a configured connection and table: 201 with what `GET` returns."""
    name = warehouse.make(10, 20, 30, 40)
    _, owner = warehouse.service.principal("owner")
    made = warehouse.register(owner, f"public.{name}", live=live)
    assert made.status_code == 201, made.text
    document = made.json()
    assert document.pop("report")["columns"] == {"x": {"missing": 0, "clamped_low": 0, "clamped_high": 0}}
    assert document == owner.get(f"/v1/datasets/{document['name']}").json()
    assert (document["n"], document["state"]) == (4, "open")
    assert document["source"] == {
        "connection": "warehouse",
        "table": f"public.{name}",
        "live": live,
        "unit_column": None,
        "truncate": False,
    }
    assert PASSWORD not in made.text


def test_a_live_table_is_prepared_on_request(warehouse: Warehouse) -> None:
    """`prepare`: its sums are computed at registration and at each revalidation; a copy is prepared anyway."""
    name = warehouse.make(*range(100))
    owner_name, owner = warehouse.service.principal("owner")
    source = {"connection": "warehouse", "table": f"public.{name}", "prepare": True}
    made = warehouse.register(owner, "", live=True, source=source | {"live": True})
    assert made.status_code == 201, made.text
    assert made.json()["source"]["prepare"] is True
    table = Table(warehouse.service, made.json()["name"], owner_name, owner, *warehouse.service.principal("analyst"))
    table.grant(table.analyst_name, "100000")
    answer = table.fresh(MEAN, epsilon=1000, alpha="1e-9")
    assert answer["value"] == pytest.approx(49.5, abs=answer["accuracy"]["radius"])
    assert owner.post(f"{table.path}/revalidation").status_code == 200
    refused = warehouse.register(owner, "", live=False, source=source | {"live": False})
    assert (refused.status_code, "a copy is always prepared" in refused.text) == (422, True)


@pytest.mark.parametrize("live", [False, True])
def test_its_statistics_are_those_of_its_rows(warehouse: Warehouse, live) -> None:
    table = warehouse.dataset(warehouse.make(*range(100)), live=live)
    answer = table.fresh(MEAN, epsilon=1000, alpha="1e-9")
    assert answer["value"] == pytest.approx(49.5, abs=answer["accuracy"]["radius"])
    histogram = table.fresh({"kind": "histogram", "column": "x", "bins": 200}, epsilon=1000)
    assert sum(round(value) for value in histogram["value"]) == 100


def test_analysts_are_not_told_where_data_lives(warehouse: Warehouse) -> None:
    """Public facts: none says where the data is; its owner and admins see it."""
    table = warehouse.dataset(warehouse.make(1, 2), live=True)
    _, auditor = warehouse.service.principal("auditor")
    for client in (table.analyst, auditor):
        assert "source" not in client.get(table.path).json()
        assert not any("source" in one for one in client.get("/v1/datasets", params={"limit": 1000}).json()["datasets"])
    for client in (table.owner, warehouse.service.admin):
        assert client.get(table.path).json()["source"]["connection"] == "warehouse"


def test_another_number_of_rows_makes_it_stale_until_its_owner_acts(warehouse: Warehouse) -> None:
    """If it no longer equals n the dataset turns stale and answers 409 to everyone; the new count is never told."""
    name = warehouse.make(*range(20))
    table = warehouse.dataset(name, live=True)
    table.fresh(MEAN, epsilon=1)
    stored = table.release(MEAN, epsilon=1, key="before", reuse=False)
    warehouse.run(f"INSERT INTO {name} SELECT generate_series(1, 31417)")
    before = table.entries()
    answers = [table.release(MEAN, epsilon=1, reuse=False)]
    answers += [table.release(MEAN, epsilon=1), table.plan(MEAN, epsilon=1)]
    answers += [table.plan(MEAN, epsilon=1, client=table.owner), table.owner.post(f"{table.path}/revalidation")]
    for answer in answers:
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/stale")
    assert len({told(answer) for answer in answers}) == 1
    *entries, last = table.entries()
    assert (entries, last["kind"]) == (before, "stale")  # nothing was debited
    facts = table.analyst.get(table.path)
    assert (facts.json()["state"], facts.json()["n"]) == ("stale", 20)
    replayed = table.release(MEAN, epsilon=1, key="before", reuse=False)
    assert (replayed.status_code, replayed.content) == (201, stored.content)
    answered = [answer.text for answer in [*answers, facts]]
    lines = warehouse.service.log.read_text().splitlines()
    everything = "".join([*answered, *(line for line in lines if "server process" not in line)])  # which has a number
    assert not re.search(r"(?<![0-9a-f.])314[13]7(?![0-9a-f])", everything)  # ids and times may have the digits

    warehouse.run(f"DELETE FROM {name} WHERE ctid NOT IN (SELECT ctid FROM {name} LIMIT 20)")  # noqa: S608
    assert table.plan(MEAN, epsilon=1).status_code == 409  # the owner has not acted
    assert table.analyst.post(f"{table.path}/revalidation").status_code == 403
    opened = table.owner.post(f"{table.path}/revalidation")
    assert (opened.status_code, opened.json()["state"]) == (200, "open")
    assert opened.json() == table.owner.get(table.path).json()
    table.fresh(MEAN, epsilon=1)


@pytest.mark.parametrize("value", ["1", "1e30", "'Infinity'"])
def test_another_type_makes_it_stale_whatever_the_values_are(warehouse: Warehouse, value: str) -> None:
    """The status of a live table whose column was altered does not depend on a value."""
    name = warehouse.make(1, 2, 3)
    table = warehouse.dataset(name, live=True)
    warehouse.run(f"ALTER TABLE {name} ALTER x TYPE numeric", f"UPDATE {name} SET x = {value} WHERE x = 2")  # noqa: S608
    answers = [table.release(MEAN, epsilon=1), table.owner.post(f"{table.path}/revalidation")]
    assert [(answer.status_code, answer.json()["type"]) for answer in answers] == [(409, "/problems/stale")] * 2
    assert table.budget()["epsilon_spent"] == "0"
    warehouse.run(f"UPDATE {name} SET x = 2 WHERE x NOT IN (1, 3)", f"ALTER TABLE {name} ALTER x TYPE int")  # noqa: S608
    assert table.owner.post(f"{table.path}/revalidation").json()["state"] == "open"


def test_revalidation_refuses_units_with_more_rows_and_missing_values(warehouse: Warehouse) -> None:
    name = f"t{secrets.token_hex(6)}"
    warehouse.run(f"CREATE TABLE {name} AS SELECT id % 50 AS who, id % 7 AS x FROM generate_series(0, 99) AS id")  # noqa: S608
    _, owner = warehouse.service.principal("owner")
    columns = {"x": X_COLUMNS["x"] | {"nullable": False}}
    made = warehouse.register(owner, name, live=True, unit_column="who", rows_per_unit=2, columns=columns).json()
    path = f"/v1/datasets/{made['name']}/revalidation"
    assert owner.post(path).status_code == 200
    some = f"ctid IN (SELECT ctid FROM {name} WHERE who = 0 LIMIT 2)"  # noqa: S608
    changes = {"who = 0 WHERE who = 1": f"who = 1 WHERE {some}", "x = NULL WHERE x = 3": "x = 3 WHERE x IS NULL"}
    for change, back in changes.items():
        warehouse.run(f"UPDATE {name} SET {change}")  # noqa: S608
        refused = owner.post(path)
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/stale")
        warehouse.run(f"UPDATE {name} SET {back}")  # noqa: S608
        assert owner.post(path).json()["state"] == "open"


def test_a_stale_dataset_can_be_deleted(warehouse: Warehouse) -> None:
    name = warehouse.make(1, 2, 3)
    table = warehouse.dataset(name, live=True)
    warehouse.run(f"TRUNCATE {name}")
    assert table.release(MEAN, epsilon=1).json()["type"] == "/problems/stale"
    assert table.owner.delete(table.path).status_code == 204
    for answer in (table.plan(MEAN, epsilon=1), table.owner.post(f"{table.path}/revalidation")):
        assert answer.json()["type"] == "/problems/closed"
    found = table.owner.get(table.path).json()
    assert (found["state"], found["source"]) == ("closed", None)


def test_revalidation_changes_nothing_of_a_copy(warehouse: Warehouse) -> None:
    name = warehouse.make(1, 2, 3)
    table = warehouse.dataset(name, live=False)
    warehouse.run(f"DROP TABLE {name}")
    assert table.owner.post(f"{table.path}/revalidation").json()["state"] == "open"
    table.fresh(MEAN, epsilon=1)


def test_a_database_that_is_away_is_a_constant_503_without_a_debit(warehouse: Warehouse) -> None:
    """An engine that fails, is away or times out gives a constant 503 without a debit and without a value."""
    name = warehouse.make(1, 2, 3)
    table = warehouse.dataset(name, live=True)
    warehouse.run(f"ALTER TABLE {name} RENAME TO {name}_elsewhere")
    before = table.entries()
    failed = table.release(MEAN, epsilon=1, key="again")
    assert (failed.status_code, failed.json()["type"]) == (503, "/problems/unavailable")
    assert (table.entries(), table.budget()["epsilon_spent"]) == (before, "0")
    assert table.owner.post(f"{table.path}/revalidation").status_code == 503
    warehouse.run(f"ALTER TABLE {name}_elsewhere RENAME TO {name}")
    assert table.release(MEAN, epsilon=1, key="again").status_code == 201
    with warehouse.service.unchanged():
        away = warehouse.register(table.owner, name, live=True, source={"connection": "away", "table": name})
    assert told(away) == told(failed)


@pytest.mark.parametrize(
    "source",
    [
        {"connection": "elsewhere", "table": "t"},
        {"connection": "WAREHOUSE", "table": "t"},
        {"connection": "postgresql://u:p@h/d", "table": "t"},
        {"connection": "warehouse", "table": ""},
        {"connection": "warehouse", "table": "no_such_table"},
        {"connection": "warehouse", "table": "a.b.c"},
        {"connection": "warehouse", "table": "t\x00"},
        {"connection": "warehouse", "table": "t", "url": "postgresql://h"},
        {"connection": "warehouse", "table": "t", "live": "yes"},
        {"connection": "warehouse"},
        {"table": "t"},
        "warehouse.t",
        None,
        [],
    ],
)
def test_only_configured_connections_and_existing_tables(warehouse: Warehouse, source: Any) -> None:
    """Only configured connections can be named; credentials never pass through the interface."""
    _, owner = warehouse.service.principal("owner")
    with warehouse.service.unchanged():
        refused = warehouse.register(owner, "t", live=False, source=source)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-request")
    assert "postgresql" not in refused.text
    assert PASSWORD not in refused.text


def test_what_does_not_fit_is_told_to_the_owner(warehouse: Warehouse) -> None:
    name = warehouse.make(1, 2)
    _, owner = warehouse.service.principal("owner")
    columns = {"y": X_COLUMNS["x"], "x": {"kind": "boolean"}}
    for live in (False, True):
        refused = warehouse.register(owner, name, live=live, columns=columns)
        told = {problem["where"] for problem in refused.json()["errors"]}
        assert (refused.status_code, told) == (422, {"column y", "column x"})


def test_who_may_register(warehouse: Warehouse) -> None:
    name = warehouse.make(1, 2)
    _, analyst = warehouse.service.principal("analyst")
    assert warehouse.register(analyst, name, live=True).status_code == 403
    assert warehouse.register(warehouse.service.stranger, name, live=True).status_code == 401
    _, owner = warehouse.service.principal("owner")
    for content, status in ((b"{", 400), (b"[]", 422), (b'{"a": NaN}', 400), (b" " * (2**20 + 1), 413)):
        answer = owner.post("/v1/datasets", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == status
    answer = owner.post("/v1/datasets", content=b"x", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize("live", [False, True])
def test_people_not_rows(warehouse: Warehouse, live) -> None:
    """Registration verifies that nobody has more than c rows, and tells the owner how many would be over."""
    name = f"t{secrets.token_hex(6)}"
    warehouse.run(f"CREATE TABLE {name} AS SELECT id % 50 AS who, id % 7 AS x FROM generate_series(0, 120) AS id")  # noqa: S608
    _, owner = warehouse.service.principal("owner")
    refused = warehouse.register(owner, name, live=live, unit_column="who", rows_per_unit=2)
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {
            "where": "column who",
            "what": "21 units have more than 2 rows (`rows_per_unit`), and the largest has 3: "
            "raise `rows_per_unit`, or set `truncate`",
        }
    ]
    made = warehouse.register(owner, name, live=live, unit_column="who", rows_per_unit=3)
    assert (made.status_code, made.json()["n"], made.json()["rows_per_unit"]) == (201, 121, 3)
    cut = warehouse.register(owner, name, live=live, unit_column="who", rows_per_unit=2, truncate=True)
    assert cut.status_code == (422 if live else 201)
    if not live:
        assert (cut.json()["n"], cut.json()["source"]["truncate"]) == (100, True)


KINDS = """CREATE TABLE {name} AS SELECT
    id::int AS n, (id * 1.25)::numeric(8, 2) AS price, id / 7.0::float8 AS ratio, id::numeric AS free,
    CASE id % 3 WHEN 0 THEN NULL WHEN 1 THEN 'a' ELSE 'b' END AS letter, 'remark ' || id AS remark, id % 2 = 0 AS even,
    date '2024-01-01' + id AS day, timestamp '2024-01-01 00:00' + id * interval '6 hours' AS at,
    timestamp '2024-01-01' + id * interval '1 day' AS midnight,
    timestamptz '2024-01-01 00:00+00' + id * interval '90 seconds' AS instant, 5 AS constant,
    point(id, id) AS place, repeat('x', 300) AS long
    FROM generate_series(1, 200) AS id"""
DRAFTED = {
    "n": {"kind": "integer", "bounds": ["1", "200"], "unconfirmed": ["bounds"]},
    "price": {"kind": "decimal", "scale": 2, "bounds": ["1.25", "250.00"], "unconfirmed": ["bounds"]},
    "ratio": {"kind": "real", "bounds": [str(1 / 7), str(200 / 7)], "unconfirmed": ["bounds"]},
    "free": {"kind": "real", "bounds": ["1.0", "200.0"], "unconfirmed": ["bounds"]},
    "letter": {"kind": "category", "categories": ["a", "b"], "unconfirmed": ["categories"]},
    "even": {"kind": "boolean"},
    "day": {"kind": "date", "bounds": ["2024-01-02", "2024-07-19"], "unconfirmed": ["bounds"]},
    "at": {
        "kind": "timestamp",
        "time_zone": "UTC",
        "resolution": "hour",
        "bounds": ["2024-01-01T06:00:00", "2024-02-20T00:00:00"],
        "unconfirmed": ["bounds", "time_zone"],
    },
    "midnight": {"kind": "date", "bounds": ["2024-01-02", "2024-07-19"], "unconfirmed": ["bounds"]},
    "instant": {
        "kind": "timestamp",
        "time_zone": "UTC",
        "resolution": "second",
        "bounds": ["2024-01-01T00:01:30", "2024-01-01T05:00:00"],
        "unconfirmed": ["bounds", "time_zone"],
    },
}


@pytest.mark.parametrize("live", [False, True])
def test_a_table_s_draft_is_registered_when_it_is_confirmed(warehouse: Warehouse, live) -> None:
    """The columns have the kinds of their types, and those that no registration would take are left out."""
    name = f"t{secrets.token_hex(6)}"
    warehouse.run(KINDS.format(name=name))
    _, owner = warehouse.service.principal("owner")
    source = {"connection": "warehouse", "table": f"public.{name}", "live": live}
    with warehouse.service.unchanged():
        answer = owner.post("/v1/drafts", json={"source": source})
    assert answer.status_code == 200, answer.text
    metadata, left_out = answer.json()["metadata"], {one["column"] for one in answer.json()["left_out"]}
    unbounded = {"free"} if live else set()
    assert metadata["columns"] == {name: each for name, each in DRAFTED.items() if name not in unbounded}
    assert left_out == {"remark", "constant", "place", "long"} | unbounded
    assert (metadata["name"], metadata["source"]) == (name, source)
    assert warehouse.register(owner, f"public.{name}", live=live, columns=metadata["columns"]).status_code == 422
    confirmed = {name: each | {"unconfirmed": []} for name, each in metadata["columns"].items()}
    made = warehouse.register(owner, f"public.{name}", live=live, columns=confirmed)
    assert made.status_code == 201, made.text
    report = made.json()["report"]["columns"]
    assert all(counts["missing"] == (66 if name == "letter" else 0) for name, counts in report.items())
    log = warehouse.service.log.read_text()
    assert not [text for text in ("2024-07-19", "remark", PASSWORD) if text in log]


def test_only_the_first_rows_of_a_table_are_looked_at(warehouse: Warehouse) -> None:
    name = f"t{secrets.token_hex(6)}"
    warehouse.run(f"CREATE TABLE {name} AS SELECT x FROM generate_series(1, 100001) AS x")  # noqa: S608
    _, owner = warehouse.service.principal("owner")
    answer = owner.post("/v1/drafts", json={"source": {"connection": "warehouse", "table": name}})
    assert answer.json()["metadata"]["columns"]["x"]["bounds"] == ["1", "100000"]


def test_a_view_has_a_draft_unless_a_row_of_it_cannot_be_computed(warehouse: Warehouse) -> None:
    name = warehouse.make(0, 1, 2)
    warehouse.run(f"CREATE VIEW v{name} AS SELECT x FROM {name}")  # noqa: S608
    warehouse.run(f"CREATE VIEW w{name} AS SELECT 10 / x AS x FROM {name}")  # noqa: S608
    _, owner = warehouse.service.principal("owner")

    def draft(table: str, *, live: bool = False, connection: str = "warehouse") -> Any:
        return owner.post("/v1/drafts", json={"source": {"connection": connection, "table": table, "live": live}})

    assert draft(f"v{name}").json()["metadata"]["columns"]["x"]["bounds"] == ["0", "2"]
    for refused in (draft(f"v{name}", live=True), draft(f"w{name}"), draft("nowhere"), draft("a.b.c")):
        assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "source.table")
    away = draft("t", connection="away")
    assert (away.status_code, away.headers["retry-after"]) == (503, away.headers["retry-after"])
    assert PASSWORD not in away.text


def test_owners_choose_from_the_names_of_connections(warehouse: Warehouse) -> None:
    _, owner = warehouse.service.principal("owner")
    answer = owner.get("/v1/connections")
    assert answer.json() == {
        "connections": [{"name": "away", "leads_to": "Postgres"}, {"name": "warehouse", "leads_to": "Postgres"}]
    }
    assert PASSWORD not in answer.text
