"""Principals, datasets, their budgets, and the releases that were charged to them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# A revision describes the tables as they were at that time, so it does not import app.db.tables. The naming convention
# there still gives the constraints their full names.
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
RELEASE_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _create_principals_and_datasets()
    _create_budgets()
    _create_releases()
    _create_entries_and_keys()
    _create_audit_and_relocations()


def downgrade() -> None:
    for table in (
        "relocations",
        "audit",
        "idempotency",
        "entries",
        "reuse_candidates",
        "releases",
        "allowances",
        "accounts",
        "datasets",
        "principals",
    ):
        op.drop_table(table)


def _create_principals_and_datasets() -> None:
    op.create_table(
        "principals",
        sa.Column("id", ROW_ID, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("key_hash", sa.LargeBinary, unique=True),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("disabled_at", sa.Text),
        sa.Column("key_expires_at", sa.Text),
        sa.Column("issuer", sa.Text),
        sa.Column("subject", sa.Text),
        sa.CheckConstraint("role IN ('admin', 'owner', 'auditor', 'analyst')", name="role"),
        sa.CheckConstraint("length(key_hash) = 32", name="key_hash"),
        sa.CheckConstraint("(issuer IS NULL) = (subject IS NULL)", name="subject_has_issuer"),
        sa.UniqueConstraint("issuer", "subject"),
    )
    op.create_table(
        "datasets",
        sa.Column("id", ROW_ID, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("owner_id", ROW_ID, sa.ForeignKey("principals.id"), nullable=False, index=True),
        sa.Column("columns", sa.Text, nullable=False),
        sa.Column("n", sa.BigInteger, nullable=False),
        sa.Column("rows_per_unit", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("file_id", sa.Text),
        sa.Column("succeeds", sa.Text, index=True),
        sa.Column("source", sa.Text),
        sa.CheckConstraint("n >= 2", name="n"),
        sa.CheckConstraint("rows_per_unit >= 1", name="rows_per_unit"),
        sa.CheckConstraint("state IN ('open', 'stale', 'closed')", name="state"),
        sa.CheckConstraint("state <> 'closed' OR file_id IS NULL", name="closed_has_no_file"),
    )


def _create_budgets() -> None:
    op.create_table(
        "accounts",
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("datasets.id"), primary_key=True, autoincrement=False),
        sa.Column("limit_nano", sa.BigInteger, nullable=False),
        sa.Column("spent_nano", sa.BigInteger, nullable=False),
        sa.Column("last_seq", sa.BigInteger, nullable=False),
        sa.Column("head", sa.LargeBinary),
        sa.CheckConstraint("limit_nano BETWEEN 0 AND 1000000000000000", name="limit"),
        sa.CheckConstraint("spent_nano BETWEEN 0 AND limit_nano", name="spent_within_limit"),
        sa.CheckConstraint("last_seq >= 0", name="last_seq"),
    )
    op.create_table(
        "allowances",
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), primary_key=True),
        sa.Column("principal_id", ROW_ID, sa.ForeignKey("principals.id"), primary_key=True, index=True),
        sa.Column("limit_nano", sa.BigInteger, nullable=False),
        sa.Column("spent_nano", sa.BigInteger, nullable=False),
        sa.Column("revoked", sa.Boolean, nullable=False),
        sa.Column("window_days", sa.Integer),
        sa.Column("window_started_at", sa.Text),
        sa.CheckConstraint("limit_nano BETWEEN 0 AND 1000000000000000", name="limit"),
        sa.CheckConstraint("spent_nano BETWEEN 0 AND limit_nano", name="spent_within_limit"),
        sqlite_with_rowid=False,
    )


def _create_releases() -> None:
    op.create_table(
        "releases",
        sa.Column("id", RELEASE_ID, primary_key=True),
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), nullable=False),
        sa.Column("principal_id", ROW_ID, sa.ForeignKey("principals.id"), nullable=False),
        sa.Column("statistic", sa.Text, nullable=False),
        sa.Column("epsilon_nano", sa.BigInteger, nullable=False),
        sa.Column("gamma", sa.Text, nullable=False),
        sa.Column("grid_refinement", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("response", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("epsilon_nano > 0", name="epsilon"),
        sa.CheckConstraint("grid_refinement >= 0", name="grid_refinement"),
        sa.Index(None, "dataset_id", "id"),
        sa.Index(None, "principal_id", "id"),
    )
    op.create_table(
        "reuse_candidates",
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), primary_key=True),
        sa.Column("statistic", sa.Text, primary_key=True),
        sa.Column("slot", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("release_id", RELEASE_ID, sa.ForeignKey("releases.id"), nullable=False),
        sqlite_with_rowid=False,
    )


def _create_entries_and_keys() -> None:
    op.create_table(
        "entries",
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("epsilon_nano", sa.BigInteger, nullable=False),
        sa.Column("spent_nano", sa.BigInteger, nullable=False),
        sa.Column("release_id", RELEASE_ID, _inserted_later("releases.id"), unique=True),
        sa.Column("answer_hash", sa.LargeBinary),
        sa.Column("window_days", sa.Integer),
        sa.Column("reason", sa.Text),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("secret_id", sa.Text),
        sa.Column("previous_hash", sa.LargeBinary),
        sa.Column("hash", sa.LargeBinary),
        sa.CheckConstraint("seq >= 1", name="seq"),
        sa.CheckConstraint("kind IN ('open', 'allow', 'revoke', 'adjust', 'debit', 'write_off', 'close')", name="kind"),
        sa.CheckConstraint("epsilon_nano >= 0 AND spent_nano >= 0", name="not_negative"),
        sa.CheckConstraint("(kind = 'debit') = (release_id IS NOT NULL)", name="debit_has_release"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "idempotency",
        sa.Column("principal_id", ROW_ID, sa.ForeignKey("principals.id"), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.LargeBinary, nullable=False),
        sa.Column("release_id", RELEASE_ID, _inserted_later("releases.id"), nullable=False, index=True),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary),
        sa.CheckConstraint("status IN (200, 201)", name="status"),
    )


def _create_audit_and_relocations() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("via", sa.Text, nullable=False),
        sa.Column("actor", sa.Text),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("target", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("secret_id", sa.Text, nullable=False),
        sa.Column("previous_hash", sa.LargeBinary),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("seq >= 1", name="seq"),
        sa.CheckConstraint("via IN ('principal', 'command', 'service')", name="via"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "relocations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("other", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.CheckConstraint("state IN ('arriving', 'retired')", name="state"),
    )


def _inserted_later(column: str) -> sa.ForeignKey:
    return sa.ForeignKey(column, deferrable=True, initially="DEFERRED")
