import multiprocessing
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from app.db import schema_migration as migrations
from app.db.connection_limits import Limits
from app.db.database import Database
from app.db.repositories import principals
from app.db.schema_migration import is_current, migrate, migrate_down
from app.db.tables import metadata
from app.errors import UnavailableError


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Database]:
    database = Database(empty_database_url)
    yield database
    database.close()


def table_names(database: Database) -> set[str]:
    with database.read() as session:
        return set(inspect(session.connection).get_table_names())


ROWS = (
    "INSERT INTO principals (name, role, key_hash, created_at) VALUES ('ada', 'owner', :bytes, 't')",
    (
        "INSERT INTO datasets (name, description, owner_id, columns, n, rows_per_unit, created_at, state)"
        " VALUES ('penguins', '', 1, '{}', 344, 1, 't', 'open')"
    ),
    "INSERT INTO accounts (dataset_id, limit_nano, spent_nano, last_seq) VALUES (1, 10, 5, 1)",
    "INSERT INTO allowances (dataset_id, principal_id, limit_nano, spent_nano, revoked) VALUES (1, 1, 10, 5, false)",
    (
        "INSERT INTO releases (id, dataset_id, principal_id, statistic, epsilon_nano, gamma, grid_refinement,"
        " created_at, response) VALUES ('r', 1, 1, 's', 5, '1/20', 0, 't', :bytes)"
    ),
    "INSERT INTO reuse_candidates (dataset_id, statistic, slot, score, release_id) VALUES (1, 's', 0, 0.5, 'r')",
    (
        "INSERT INTO entries (dataset_id, seq, kind, principal, epsilon_nano, spent_nano, release_id, at)"
        " VALUES (1, 1, 'debit', 'ada', 5, 5, 'r', 't')"
    ),
    (
        "INSERT INTO idempotency (principal_id, key, fingerprint, release_id, status, created_at)"
        " VALUES (1, 'k', :bytes, 'r', 201, 't')"
    ),
    (
        "INSERT INTO budget_requests (id, dataset_id, principal_id, epsilon_nano, reason, created_at, state, seal)"
        " VALUES ('q', 1, 1, 5, 'why', 't', 'open', :bytes)"
    ),
    (
        "INSERT INTO verifications (ledger, at, via, entries, problems, seal)"
        " VALUES ('audit', 't', 'service', 1, 0, :bytes)"
    ),
    (
        "INSERT INTO figures (dataset_id, name, version, seal, dataset, first_version, published_at)"
        " VALUES (1, 'mass', 1, :bytes, 'penguins', 1, 't')"
    ),
    (
        "INSERT INTO figure_versions"
        " (figure_id, version, title, source, published_by, published_at, rows_hash, seal, rows)"
        " VALUES (1, 1, 'Mass', '{}', 'ada', 't', :bytes, :bytes, :bytes)"
    ),
    "INSERT INTO figure_outbox (figure_id, change, written) VALUES (1, 1, 0)",
    "INSERT INTO viewers (dataset_id, principal_id, granted_at, seal) VALUES (1, 1, 't', :bytes)",
    (
        "INSERT INTO reports (dataset_id, name, principal_id, definition, run_limit_nano, total_limit_nano, spent_nano,"
        " changed_at, seal) VALUES (1, 'monthly', 1, '{}', 1, 2, 0, 't', :bytes)"
    ),
    (
        "INSERT INTO report_runs (report_id, number, dataset_id, state, queued_at, charged_nano, seal)"
        " VALUES (1, 1, 1, 'pending', 't', 0, :bytes)"
    ),
    (
        "INSERT INTO collections (name, title, audience, owner_id, members_hash, changed_at, seal)"
        " VALUES ('board', 'Board', 'viewers', 1, :bytes, 't', :bytes)"
    ),
    "INSERT INTO collection_figures (collection_id, position, figure_id) VALUES (1, 1, 1)",
    "INSERT INTO collection_viewers (collection_id, principal_id, granted_at, seal) VALUES (1, 1, 't', :bytes)",
    "INSERT INTO collection_outbox (name, change, written) VALUES ('board', 1, 0)",
)


def fill(database: Database) -> None:
    """Write a row into every table, in SQL: a later revision's tests still have to write what this one's held."""
    with database.write() as transaction:
        for statement in ROWS:
            given = {"bytes": b"d" * 32} if ":bytes" in statement else {}
            transaction.connection.execute(text(statement), given)
        transaction.commit()


def test_up_and_down_and_up_again_with_data(empty: Database) -> None:
    assert not is_current(empty)
    migrate(empty)
    assert is_current(empty)
    assert table_names(empty) == set(metadata.tables) | {"alembic_version"}
    fill(empty)
    migrate(empty)  # nothing to do, nothing lost
    with empty.read() as session:
        assert principals.find_by_name(session, "ada") is not None
    migrate_down(empty, "base")
    assert not is_current(empty)
    assert table_names(empty) == {"alembic_version"}
    migrate(empty)
    fill(empty)


def test_tables_and_migrations_do_not_drift(database: Database) -> None:
    with database.read() as session:
        assert compare_metadata(MigrationContext.configure(session.connection), metadata) == []


def comparable_index(index: Any) -> dict[str, Any]:
    """An index whose condition is text, since two clauses of the same text are not equal."""
    return {**index, "dialect_options": {name: str(value) for name, value in index["dialect_options"].items()}}


def schema(connection: Connection) -> dict[str, object]:
    """All that the database can tell of its tables, CHECK constraints too, which alembic does not compare."""
    inspector = inspect(connection)
    return {
        table: {
            "columns": [{key: str(value) for key, value in column.items()} for column in inspector.get_columns(table)],
            "primary key": inspector.get_pk_constraint(table),
            "checks": sorted(inspector.get_check_constraints(table), key=lambda check: check["name"] or ""),
            "uniques": sorted(inspector.get_unique_constraints(table), key=lambda unique: unique["name"] or ""),
            "indexes": sorted(map(comparable_index, inspector.get_indexes(table)), key=lambda index: index["name"]),
            "references": sorted(inspector.get_foreign_keys(table), key=lambda key: key["name"] or ""),
            "options": inspector.get_table_options(table),
        }
        for table in metadata.tables
    }


@pytest.mark.parametrize(
    ("database_url", "empty_database_url"), [("sqlite", "sqlite"), ("postgres", "postgres")], indirect=True
)
def test_migrations_make_exactly_the_tables_of_the_code(database: Database, empty: Database) -> None:
    with empty.migrating() as connection:
        metadata.create_all(connection)
    with database.read() as migrated, empty.read() as created:
        assert schema(migrated.connection) == schema(created.connection)


def _migrate_in_a_process(url: str) -> bool:
    database = Database(url)
    migrate(database)
    database.close()
    return is_current(database)


@pytest.mark.slow
def test_four_processes_migrate_an_empty_database_at_once(empty_database_url: str, empty: Database) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.map(_migrate_in_a_process, [empty_database_url] * 4, chunksize=1) == [True] * 4
    with empty.read() as session:
        assert session.connection.execute(text("SELECT count(*) FROM alembic_version")).scalar_one() == 1


def test_a_migration_waits_for_another(empty_database_url: str, empty: Database) -> None:
    impatient = Database(empty_database_url, Limits(migration_seconds=0.1))
    with empty.migrating(), pytest.raises(UnavailableError):
        migrate(impatient)
    impatient.close()
    migrate(empty)  # with a limit that its own statements share, however slow the machine
    assert is_current(empty)


def latest_revision() -> str:
    latest = ScriptDirectory(str(migrations.SCRIPTS)).get_current_head()
    assert latest is not None
    return latest


@pytest.mark.parametrize("empty_database_url", ["postgres"], indirect=True)
def test_a_migration_does_not_wait_long_for_a_table_in_use(
    empty_database_url: str, empty: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """While it waits everybody else waits behind it, readers too."""
    migrate(empty)
    scripts = tmp_path / "scripts"
    shutil.copytree(migrations.SCRIPTS, scripts)
    (scripts / "versions" / "next_waits.py").write_text(
        f"from alembic import op\nimport sqlalchemy as sa\nrevision, down_revision = 'next', '{latest_revision()}'\n"
        "def upgrade(): op.add_column('releases', sa.Column('more', sa.Text))\ndef downgrade(): pass\n"
    )
    monkeypatch.setattr(migrations, "SCRIPTS", scripts)
    impatient = Database(empty_database_url, Limits(migration_lock_seconds=0.1))
    with empty.read() as reader:
        reader.connection.execute(text("SELECT count(*) FROM releases"))
        with pytest.raises(UnavailableError):
            migrate(impatient)
    impatient.close()
    migrate(empty)
    with empty.read() as reader:
        assert "more" in {column["name"] for column in inspect(reader.connection).get_columns("releases")}


def test_a_migration_that_fails_leaves_nothing(
    empty: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripts = tmp_path / "scripts"
    shutil.copytree(migrations.SCRIPTS, scripts)
    (scripts / "versions" / "next_fails.py").write_text(
        f"revision, down_revision = 'next', '{latest_revision()}'\n"
        "def upgrade(): raise LookupError\ndef downgrade(): pass\n"
    )
    monkeypatch.setattr(migrations, "SCRIPTS", scripts)
    with pytest.raises(LookupError):
        migrate(empty)
    assert table_names(empty) == set()


def test_a_migration_that_leaves_a_dangling_reference_is_undone(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3")
    migrate(database)
    fill(database)

    def forget_the_principals() -> None:
        with database.migrating() as connection:
            connection.execute(text("DELETE FROM principals"))

    with pytest.raises(RuntimeError, match="refers to nothing"):
        forget_the_principals()
    with database.read() as session:
        assert principals.has_principals(session)
    database.close()


def test_migrations_are_found_from_any_directory_and_under_any_name(
    empty: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    scripts = tmp_path / "100% (odd); name"
    shutil.copytree(migrations.SCRIPTS, scripts)
    monkeypatch.setattr(migrations, "SCRIPTS", scripts)
    migrate(empty)
    assert is_current(empty)
