"""Add requests for budget, and the latest verification of each ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
RELEASE_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "budget_requests",
        sa.Column("id", RELEASE_ID, primary_key=True),
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), nullable=False),
        sa.Column("principal_id", ROW_ID, sa.ForeignKey("principals.id"), nullable=False),
        sa.Column("epsilon_nano", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("granted_nano", sa.BigInteger),
        sa.Column("answer", sa.Text),
        sa.Column("answered_by", sa.Text),
        sa.Column("answered_at", sa.Text),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("state IN ('open', 'granted', 'declined')", name="state"),
        sa.CheckConstraint("epsilon_nano > 0", name="epsilon"),
        sa.CheckConstraint("(state = 'granted') = (granted_nano IS NOT NULL)", name="granted_has_amount"),
        sa.CheckConstraint("(state = 'open') = (answered_by IS NULL)", name="answered_has_principal"),
    )
    op.create_index(None, "budget_requests", ["dataset_id", "id"])
    is_open = sa.text("state = 'open'")
    op.create_index(
        None,
        "budget_requests",
        ["dataset_id", "principal_id"],
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.create_table(
        "verifications",
        sa.Column("ledger", sa.Text, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("via", sa.Text, nullable=False),
        sa.Column("actor", sa.Text),
        sa.Column("entries", sa.BigInteger, nullable=False),
        sa.Column("problems", sa.Integer, nullable=False),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("via IN ('principal', 'command', 'service')", name="via"),
    )


def downgrade() -> None:
    op.drop_table("verifications")
    op.drop_table("budget_requests")
