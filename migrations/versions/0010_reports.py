"""Add reports, which are released when a dataset succeeds another, and their runs."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("id", ROW_ID, sa.Identity(always=True), primary_key=True),
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("principal_id", ROW_ID, sa.ForeignKey("principals.id"), nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("run_limit_nano", sa.BigInteger, nullable=False),
        sa.Column("total_limit_nano", sa.BigInteger, nullable=False),
        sa.Column("spent_nano", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.Text, nullable=False),
        sa.Column("withdrawn_at", sa.Text),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("dataset_id", "name"),
        sa.CheckConstraint("run_limit_nano > 0", name="run_limit"),
        sa.CheckConstraint("spent_nano BETWEEN 0 AND total_limit_nano", name="spent_within_limit"),
    )
    op.create_table(
        "report_runs",
        sa.Column("report_id", ROW_ID, sa.ForeignKey("reports.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), nullable=False, index=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("queued_at", sa.Text, nullable=False),
        sa.Column("ended_at", sa.Text),
        sa.Column("principal", sa.Text),
        sa.Column("figures", sa.Text),
        sa.Column("charged_nano", sa.BigInteger, nullable=False),
        sa.Column("release_ids", sa.Text),
        sa.Column("problem", sa.Text),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("report_id", "dataset_id"),
        sa.CheckConstraint("state IN ('pending', 'released', 'done', 'refused')", name="state"),
        sa.CheckConstraint("number >= 1", name="number"),
        sa.CheckConstraint("charged_nano >= 0", name="charged"),
    )


def downgrade() -> None:
    op.drop_table("report_runs")
    op.drop_table("reports")
