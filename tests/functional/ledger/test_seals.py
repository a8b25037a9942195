"""What is stored is compared with its seal when it is read: what was changed without the secret answers nobody."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from service_world import Service, Table, numbers_csv, told
from sqlalchemy import ColumnElement, select, update
from sqlalchemy import Table as SqlTable

from app.db.database import Database
from app.db.repositories.datasets import Dataset
from app.db.tables import accounts, datasets, idempotency, principals, releases, reuse_candidates
from app.ledger.chain.facts import hash_facts

COLUMNS = {"x": {"kind": "integer", "bounds": [0, 100]}, "y": {"kind": "integer", "bounds": [0, 100]}}
CSV = "x,y\n" + "".join(f"{line},{line}\n" for line in numbers_csv(20).split()[1:])
MEAN, OTHER = {"kind": "mean", "column": "x"}, {"kind": "mean", "column": "y"}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, CSV, rows_per_unit=5)


@contextmanager
def changed(service: Service, of: SqlTable, where: ColumnElement[bool], **values: object) -> Iterator[None]:
    """The rows with other values, until they get those back that they had."""
    database, columns = Database(service.database_url), [of.c[name] for name in values]

    def write(condition: ColumnElement[bool], written: dict[str, Any]) -> None:
        with database.write() as transaction:
            assert transaction.connection.execute(update(of).where(condition).values(**written)).rowcount == 1
            transaction.commit()

    with database.read() as session:
        before = dict(zip(values, session.connection.execute(select(*columns).where(where)).one(), strict=True))
    write(where, values)
    moved = {name: value for name, value in values.items() if name in of.primary_key.columns}
    again = where if not moved else _at(of, where, moved)
    yield
    write(again, before)
    database.close()


def _at(of: SqlTable, where: ColumnElement[bool], moved: dict[str, Any]) -> ColumnElement[bool]:
    return (of.c.key == "key") & (of.c.principal_id == moved["principal_id"])


def id_of(service: Service, table: SqlTable, name: str) -> int:
    database = Database(service.database_url)
    with database.read() as session:
        found: int = session.connection.execute(select(table.c.id).where(table.c.name == name)).scalar_one()
    database.close()
    return found


def assert_broken(answer: httpx.Response) -> None:
    """A problem that is the same whatever was changed."""
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/seal-broken"), answer.text
    assert json.loads(told(answer)) == {
        "type": "/problems/seal-broken",
        "title": "A stored record does not match its seal",
        "status": 503,
        "detail": "Nothing was charged. Something outside the service changed what is stored here: tell the operator, "
        "who can run `snapledger ledger verify`.",
    }


def assert_not_answered(table: Table) -> None:
    before = table.budget()
    batch = {"items": [{"statistic": MEAN}], "epsilon": "0.1"}
    derived = {"derived": {"kind": "sum", "column": "x"}, "epsilon": "0.1"}
    post, key = table.analyst.post, {"Idempotency-Key": "a"}
    with table.service.unchanged():
        for reuse in (True, False):
            assert_broken(table.release(MEAN, epsilon="0.1", reuse=reuse))
        assert_broken(post(f"{table.path}/releases", json={"statistic": MEAN, "epsilon": "0.001"}))
        assert_broken(table.plan(MEAN, epsilon="0.1"))
        assert_broken(post(f"{table.path}/batches/plan", json=batch))
        assert_broken(post(f"{table.path}/batches", json=batch, headers=key))
        assert_broken(post(f"{table.path}/derived/plan", json=derived))
        assert_broken(post(f"{table.path}/derived", json=derived, headers=key))
    assert table.budget() == before


FACTS: list[tuple[SqlTable, dict[str, Any]]] = [
    (datasets, {"rows_per_unit": 1}),
    (datasets, {"n": 2_000}),
    (datasets, {"columns": json.dumps({})}),
    (datasets, {"description": "another"}),
    (datasets, {"file_id": "another"}),
    (datasets, {"source": None}),
    (datasets, {"succeeds": "another"}),
    (datasets, {"created_at": "2026-01-01T00:00:00.000000Z"}),
    (datasets, {"state": "stale"}),
    (datasets, {"owner_id": 1}),
    (accounts, {"spent_nano": 0}),
    (accounts, {"limit_nano": 10**12}),
    (accounts, {"head": b"x" * 32}),
    (accounts, {"seal": None}),
    (accounts, {"facts_hash": None}),
]


def test_a_dataset_whose_facts_were_changed_answers_nobody(table: Table) -> None:
    service, number = table.service, id_of(table.service, datasets, table.name)
    table.fresh(MEAN, epsilon="0.5")
    before, verification = table.budget(), f"{table.path}/ledger/verification"
    for of, values in FACTS:
        where = datasets.c.id == number if of is datasets else accounts.c.dataset_id == number
        with changed(service, of, where, **values):
            if values == {"rows_per_unit": 1}:
                assert_not_answered(table)
            assert_broken(table.release(MEAN, epsilon="0.5", reuse=False))
            assert service.admin.get(verification).json()["valid"] is False, values
    assert table.owner.get(verification).json()["valid"] is True
    assert table.budget() == before
    table.fresh(MEAN, epsilon="0.5")


def test_a_closed_dataset_that_is_opened_again_answers_nobody(table: Table) -> None:
    service, number = table.service, id_of(table.service, datasets, table.name)
    database = Database(service.database_url)
    with database.read() as session:
        file_id, source = session.connection.execute(
            select(datasets.c.file_id, datasets.c.source).where(datasets.c.id == number)
        ).one()
    database.close()
    assert table.owner.delete(table.path).status_code == 204
    with changed(service, datasets, datasets.c.id == number, state="open", file_id=file_id, source=source):
        assert_not_answered(table)
        assert service.admin.get(f"{table.path}/ledger/verification").json()["valid"] is False
    assert table.release(MEAN, epsilon="0.1").json()["type"] == "/problems/closed"


def test_closing_what_was_changed_seals_neither(table: Table) -> None:
    """It is closed all the same, and stays not valid, whatever is put back."""
    where = datasets.c.id == id_of(table.service, datasets, table.name)
    with changed(table.service, datasets, where, n=2_000):
        assert table.owner.delete(table.path).status_code == 204
    assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"] is False
    assert table.release(MEAN, epsilon="0.1").json()["type"] == "/problems/seal-broken"


RELEASES: list[dict[str, Any]] = [
    {"gamma": "1/2"},
    {"grid_refinement": 7},
    {"epsilon_nano": 900_000_000},
    {"statistic": "another"},
    {"created_at": "2026-01-01T00:00:00.000000Z"},
    {"seal": None},
]


def test_a_release_that_was_changed_is_neither_reused_nor_replayed(table: Table) -> None:
    first = table.release(MEAN, key="key", epsilon="0.5")
    assert first.status_code == 201
    release_id, before = first.json()["id"], table.budget()
    for values in RELEASES:
        with changed(table.service, releases, releases.c.id == release_id, **values):
            assert_broken(table.release(MEAN, key="key", epsilon="0.5"))
            if "statistic" not in values:  # by its statistic it is found
                assert_broken(table.release(MEAN, epsilon="0.25"))
            assert_broken(table.analyst.get(f"/v1/releases/{release_id}"))
            assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"] is False, values
    assert table.budget() == before
    assert table.release(MEAN, key="key", epsilon="0.5").content == first.content


def test_an_answer_that_was_replaced_is_not_replayed(table: Table) -> None:
    assert table.release(MEAN, key="first", epsilon="0.5").status_code == 201
    reused = table.release(MEAN, key="key", epsilon="0.25")
    assert reused.status_code == 200
    mine = idempotency.c.principal_id == id_of(table.service, principals, table.analyst_name)
    where = mine & (idempotency.c.key == "key")
    other_name, other = table.another("1")
    other_id = id_of(table.service, principals, other_name)
    forged = reused.content.replace(b'"value":', b'"value":1')
    for values in (
        {"body": forged},
        {"body": None},
        {"fingerprint": b"x" * 32},
        {"status": 201},
        {"created_at": "2026-01-01T00:00:00.000000Z"},
        {"seal": None},
        {"principal_id": other_id},
    ):
        with changed(table.service, idempotency, where, **values):
            asker = other if "principal_id" in values else None
            assert_broken(table.release(MEAN, key="key", epsilon="0.25", client=asker))
            assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"] is False
    assert table.release(MEAN, key="key", epsilon="0.25").content == reused.content


def test_a_candidate_that_is_another_question_s_release_answers_nothing(table: Table) -> None:
    one, two = table.fresh(MEAN, epsilon="0.5"), table.fresh(OTHER, epsilon="0.5")
    database = Database(table.service.database_url)
    with database.write() as transaction:
        moved = update(reuse_candidates).where(reuse_candidates.c.release_id == one["id"])
        assert transaction.connection.execute(moved.values(release_id=two["id"])).rowcount == 2
        transaction.commit()
    database.close()
    before = table.budget()
    assert_broken(table.release(MEAN, epsilon="0.25"))
    assert table.budget() == before
    found = table.owner.get(f"{table.path}/ledger/verification").json()
    assert [problem["what"] for problem in found["problems"]] == [
        f"the reuse entry of the release {two['id']} was changed after it was sealed"
    ] * 2


def test_what_a_changed_release_promised_is_not_told_of_the_right_one(table: Table) -> None:
    made, asked = table.fresh(MEAN, epsilon="0.5"), {"statistic": MEAN, "epsilon": "0.25"}
    with changed(table.service, releases, releases.c.id == made["id"], epsilon_nano=5 * 10**9):
        planned = table.analyst.post(f"{table.path}/plan", json=asked).json()
        assert planned["reused_accuracy"]["radius"] < made["accuracy"]["radius"]  # a plan checks no seal of a release
        assert_broken(table.release(**asked))
    planned = table.analyst.post(f"{table.path}/plan", json=asked).json()
    assert planned["reused_accuracy"]["radius"] == made["accuracy"]["radius"]
    assert table.release(**asked).json()["accuracy"] == made["accuracy"]


def test_no_entry_seals_an_account_that_was_changed(table: Table) -> None:
    """The hash of facts has no secret: whoever changes both must not have them sealed by the next grant."""
    service = table.service
    database = Database(service.database_url)
    with database.read() as session:
        dataset = Dataset(*session.connection.execute(select(datasets).where(datasets.c.name == table.name)).one())
    database.close()
    changed_facts = hash_facts(dataset._replace(rows_per_unit=1))
    of_account, of_dataset = accounts.c.dataset_id == dataset.id, datasets.c.id == dataset.id
    path = f"{table.path}/allowances/{table.analyst_name}"
    with (
        changed(service, datasets, of_dataset, rows_per_unit=1),
        changed(service, accounts, of_account, facts_hash=changed_facts),
    ):
        assert_broken(table.owner.put(path, json={"epsilon_limit": "9"}))
        assert_broken(table.owner.delete(path))
        adjusted = {"epsilon_limit": "9", "reason": "a survey"}
        assert_broken(table.owner.post(f"{table.path}/budget/adjustments", json=adjusted))
        assert_not_answered(table)
    table.grant(table.analyst_name, "9")
    assert table.release(MEAN, epsilon="0.5").json()["privacy"]["rows_per_unit"] == 5


def test_figures_that_no_release_has_are_a_constant_refusal(table: Table) -> None:
    table.fresh(MEAN, epsilon="0.5")
    of_dataset = releases.c.dataset_id == id_of(table.service, datasets, table.name)
    with changed(table.service, releases, of_dataset, gamma="half"):
        assert_broken(table.plan(MEAN, epsilon="0.25"))
        assert_broken(table.release(MEAN, epsilon="0.25"))
