"""Keep what a later verification of a ledger needs to go on where the latest one ended."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.execute("DELETE FROM verifications")  # their seals do not cover the state; the next round makes new ones
    op.add_column("verifications", sa.Column("state", sa.Text))


def downgrade() -> None:
    op.execute("DELETE FROM verifications")
    op.drop_column("verifications", "state")
