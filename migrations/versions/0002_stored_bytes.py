"""Add the number of stored bytes of answers to datasets and allowances, so that they can be limited."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# One pass over the answers; the database knows their lengths without reading them.
_COUNT = """
CREATE TEMPORARY TABLE counted AS
SELECT dataset_id, principal_id, sum(stored) AS stored FROM (
    SELECT dataset_id, principal_id, length(response) AS stored FROM releases
    UNION ALL
    SELECT releases.dataset_id, idempotency.principal_id, length(body) FROM idempotency
    JOIN releases ON releases.id = idempotency.release_id WHERE body IS NOT NULL
) AS answers GROUP BY dataset_id, principal_id
"""
_OF_ALLOWANCES = """
UPDATE allowances SET stored_bytes = coalesce((SELECT stored FROM counted
WHERE counted.dataset_id = allowances.dataset_id AND counted.principal_id = allowances.principal_id), 0)
"""
_OF_ACCOUNTS = """
UPDATE accounts SET stored_bytes = coalesce((SELECT sum(stored) FROM counted
WHERE counted.dataset_id = accounts.dataset_id), 0)
"""


def upgrade() -> None:
    for table in ("accounts", "allowances"):
        op.add_column(table, sa.Column("stored_bytes", sa.BigInteger, nullable=False, server_default="0"))
    for statement in (_COUNT, _OF_ALLOWANCES, _OF_ACCOUNTS, "DROP TABLE counted"):
        op.execute(statement)


def downgrade() -> None:
    for table in ("allowances", "accounts"):
        op.drop_column(table, "stored_bytes")
