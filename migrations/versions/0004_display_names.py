"""Add display names to principals."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("principals", sa.Column("display_name", sa.Text))


def downgrade() -> None:
    op.drop_column("principals", "display_name")
