"""Add seals to the facts of datasets, accounts, releases, reuse candidates and idempotency keys.

This migration leaves the columns empty, since it does not have the secret. `app.services.sealing` fills them in the
same transaction.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
RELEASE_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SEALED = ("accounts", "releases", "reuse_candidates", "idempotency")
KINDS = ("open", "allow", "revoke", "adjust", "debit", "write_off", "close")
MORE_KINDS = ("open", "seal", "allow", "revoke", "adjust", "debit", "write_off", "stale", "revalidate", "close")


def upgrade() -> None:
    op.add_column("accounts", sa.Column("facts_hash", sa.LargeBinary))
    for table in SEALED:
        op.add_column(table, sa.Column("seal", sa.LargeBinary))
    if op.get_bind().dialect.name == "postgresql":
        op.add_column("entries", sa.Column("facts_hash", sa.LargeBinary))
        _replace_condition(MORE_KINDS)
        return
    with op.batch_alter_table("entries", copy_from=_entries(MORE_KINDS), recreate="always") as entries:
        entries.add_column(sa.Column("facts_hash", sa.LargeBinary))


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _replace_condition(KINDS)
        op.drop_column("entries", "facts_hash")
    else:
        with op.batch_alter_table(
            "entries", copy_from=_entries(KINDS, sa.Column("facts_hash", sa.LargeBinary)), recreate="always"
        ) as entries:
            entries.drop_column("facts_hash")
    for table in SEALED:
        op.drop_column(table, "seal")
    op.drop_column("accounts", "facts_hash")


def _condition(kinds: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    return f"kind IN ({listed})"


def _replace_condition(kinds: tuple[str, ...]) -> None:
    op.drop_constraint(op.f("ck_entries_kind"), "entries", type_="check")
    op.create_check_constraint(op.f("ck_entries_kind"), "entries", _condition(kinds))


def _entries(kinds: tuple[str, ...], *more: sa.Column[bytes]) -> sa.Table:
    """Return the old table with a new check constraint; SQLite changes a constraint by rebuilding the table."""
    return sa.Table(
        "entries",
        sa.MetaData(),
        sa.Column("dataset_id", ROW_ID, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("epsilon_nano", sa.BigInteger, nullable=False),
        sa.Column("spent_nano", sa.BigInteger, nullable=False),
        sa.Column("release_id", RELEASE_ID),
        sa.Column("answer_hash", sa.LargeBinary),
        sa.Column("window_days", sa.Integer),
        sa.Column("reason", sa.Text),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("secret_id", sa.Text),
        sa.Column("previous_hash", sa.LargeBinary),
        sa.Column("hash", sa.LargeBinary),
        *more,
        sa.PrimaryKeyConstraint("dataset_id", "seq", name="pk_entries"),
        sa.ForeignKeyConstraint(["dataset_id"], ["accounts.dataset_id"], name="fk_entries_dataset_id"),
        sa.ForeignKeyConstraint(
            ["release_id"], ["releases.id"], name="fk_entries_release_id", deferrable=True, initially="DEFERRED"
        ),
        sa.UniqueConstraint("release_id", name="uq_entries_release_id"),
        sa.CheckConstraint("seq >= 1", name="ck_entries_seq"),
        sa.CheckConstraint(_condition(kinds), name="ck_entries_kind"),
        sa.CheckConstraint("epsilon_nano >= 0 AND spent_nano >= 0", name="ck_entries_not_negative"),
        sa.CheckConstraint("(kind = 'debit') = (release_id IS NOT NULL)", name="ck_entries_debit_has_release"),
        sqlite_with_rowid=False,
    )
