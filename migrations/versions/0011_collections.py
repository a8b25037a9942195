"""Add collections of figures, and who may see them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("id", ROW_ID, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("note", sa.Text),
        sa.Column("audience", sa.Text, nullable=False),
        sa.Column("owner_id", ROW_ID, sa.ForeignKey("principals.id"), nullable=False),
        sa.Column("members_hash", sa.LargeBinary, nullable=False),
        sa.Column("changed_at", sa.Text, nullable=False),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("audience IN ('viewers', 'public')", name="audience"),
    )
    op.create_table(
        "collection_figures",
        sa.Column("collection_id", ROW_ID, sa.ForeignKey("collections.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("figure_id", ROW_ID, sa.ForeignKey("figures.id"), nullable=False, index=True),
    )
    op.create_table(
        "collection_viewers",
        sa.Column("collection_id", ROW_ID, sa.ForeignKey("collections.id"), primary_key=True),
        sa.Column("principal_id", ROW_ID, sa.ForeignKey("principals.id"), primary_key=True, index=True),
        sa.Column("granted_at", sa.Text, nullable=False),
        sa.Column("seal", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "collection_outbox",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("change", sa.BigInteger, nullable=False),
        sa.Column("written", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("collection_outbox")
    op.drop_table("collection_viewers")
    op.drop_table("collection_figures")
    op.drop_table("collections")
