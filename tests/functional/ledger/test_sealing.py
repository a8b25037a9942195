"""Ledgers of versions without seals get them when they are migrated, unless their record contradicts what is stored."""

import json
from pathlib import Path

import httpx
from command_line import Done, run
from lengths import ON_POSTGRES_SLOWLY
from service_world import Table, key_of, serving
from sqlalchemy import Connection, func, select, text, update
from tampering import COLUMNS, CSV, MEAN, keyring_of

from app.db.database import Database
from app.db.schema_migration import migrate_down
from app.db.tables import accounts, datasets, entries, idempotency, releases, reuse_candidates
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Keyring

BEFORE_SEALS = "0002"


def make_old(database: Database, keyring: Keyring) -> None:
    """What a version without seals would have written."""
    with database.write() as transaction:
        connection = transaction.connection
        for dataset_id, name in connection.execute(select(datasets.c.id, datasets.c.name)).all():
            of_dataset = entries.c.dataset_id == dataset_id
            head = None
            for row in connection.execute(select(entries).where(of_dataset).order_by(entries.c.seq)).all():
                hash_ = keyring.seal.hash(canonical_bytes(name, *row[1:12], head))
                where = (of_dataset, entries.c.seq == row.seq)
                rewritten = {"facts_hash": None, "previous_hash": head, "hash": hash_}
                connection.execute(update(entries).where(*where).values(**rewritten))
                head = hash_
            connection.execute(update(accounts).where(accounts.c.dataset_id == dataset_id).values(head=head))
        transaction.commit()
    migrate_down(database, BEFORE_SEALS)


def unsealed(connection: Connection) -> list[int]:
    return [
        connection.execute(select(func.count()).select_from(table).where(table.c.seal.is_(None))).scalar_one()
        for table in (accounts, releases, reuse_candidates, idempotency)
    ]


@ON_POSTGRES_SLOWLY
def test_an_old_ledger_is_sealed_when_it_is_migrated(tmp_path: Path, database_url: str) -> None:
    settings = {"DATABASE_URL": database_url, "DATA_DIR": str(tmp_path / "data")}

    def snapledger(*arguments: str) -> Done:
        return run(*arguments, **settings)

    def release(table: Table) -> None:
        assert table.release(MEAN, epsilon="0.5", gamma="0.1", grid_refinement=2, key="one").status_code == 201
        assert table.release(MEAN, epsilon="0.25", key="two").status_code == 200

    with serving(tmp_path, database_url) as service:
        good, closed, changed, other = (service.table(COLUMNS, CSV, rows_per_unit=2) for _ in range(4))
        for table in (good, closed, changed, other):
            release(table)
        assert closed.owner.delete(closed.path).status_code == 204
        keyring = keyring_of(service)
    database = Database(database_url)
    make_old(database, keyring)
    with database.write() as transaction:
        connection = transaction.connection
        connection.execute(text("UPDATE datasets SET rows_per_unit = 1 WHERE name = :name"), {"name": changed.name})
        of_other = "dataset_id = (SELECT id FROM datasets WHERE name = :name)"
        connection.execute(text(f"UPDATE releases SET gamma = '1/3' WHERE {of_other}"), {"name": other.name})  # noqa: S608
        transaction.commit()

    assert snapledger("migrate").status == 0
    with database.read() as session:
        assert unsealed(session.connection) == [
            1,
            2,
            2,
            4,
        ]  # of `changed` all; of `other` what the release is for
        kinds = select(entries.c.kind).join_from(entries, datasets, datasets.c.id == entries.c.dataset_id)
        found = session.connection.execute(kinds.where(datasets.c.name == good.name).order_by(entries.c.seq)).scalars()
        assert list(found) == ["open", "allow", "debit", "seal"]
    for table, status in ((good, 0), (closed, 0), (changed, 1), (other, 1)):
        assert snapledger("ledger", "verify", "--dataset", table.name).status == status
    told = snapledger("ledger", "verify").out
    assert "the dataset's facts have no seal" in told
    before = snapledger("ledger", "verify", "--format", "json").out
    assert snapledger("migrate").status == 0  # nothing is sealed again
    assert snapledger("ledger", "verify", "--format", "json").out == before
    database.close()

    with serving(tmp_path, database_url) as service:
        lines = [json.loads(line) for line in service.log.read_text().splitlines() if '"snapledger.startup"' in line]
        found = {(line["level"], line["event"], line["dataset"]) for line in lines}
        assert found == {("error", "a dataset was changed after it was sealed", changed.name)}
        assert "\nsnapledger_ledgers_invalid 1.0\n" in httpx.get(f"{service.url}/metrics").text
        key = {"Idempotency-Key": "one"}
        question = {"statistic": MEAN, "epsilon": "0.5", "gamma": "0.1", "grid_refinement": 2}
        for table, status in ((good, 201), (changed, 503), (other, 503)):
            path = f"{table.path}/releases"
            assert service.client(key_of(table.analyst)).post(path, json=question, headers=key).status_code == status
