"""Add figures with their versions, who may see them, and the role of viewers."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ROLES = ("admin", "owner", "auditor", "analyst")


def upgrade() -> None:
    _replace_roles((*ROLES, "viewer"))
    op.create_table(
        "figures",
        sa.Column("id", ROW_ID, sa.Identity(always=True), primary_key=True),
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("audience", sa.Text, nullable=False),
        sa.Column("withdrawn_at", sa.Text),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("dataset_id", "name"),
        sa.CheckConstraint("version >= 1", name="version"),
        sa.CheckConstraint("audience IN ('viewers', 'public')", name="audience"),
    )
    op.create_table(
        "figure_versions",
        sa.Column("figure_id", ROW_ID, sa.ForeignKey("figures.id"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("note", sa.Text),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("published_by", sa.Text, nullable=False),
        sa.Column("published_at", sa.Text, nullable=False),
        sa.Column("rows_hash", sa.LargeBinary, nullable=False),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        sa.Column("rows", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("version >= 1", name="version"),
    )
    op.create_table(
        "figure_outbox",
        sa.Column("figure_id", ROW_ID, sa.ForeignKey("figures.id"), primary_key=True),
        sa.Column("change", sa.BigInteger, nullable=False),
        sa.Column("written", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "viewers",
        sa.Column("dataset_id", ROW_ID, sa.ForeignKey("accounts.dataset_id"), primary_key=True),
        sa.Column("principal_id", ROW_ID, sa.ForeignKey("principals.id"), primary_key=True, index=True),
        sa.Column("granted_at", sa.Text, nullable=False),
        sa.Column("seal", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("viewers")
    op.drop_table("figure_outbox")
    op.drop_table("figure_versions")
    op.drop_table("figures")
    op.execute("UPDATE principals SET role = 'analyst' WHERE role = 'viewer'")  # who sees nothing without an allowance
    _replace_roles(ROLES)


def _condition(roles: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{role}'" for role in roles)
    return f"role IN ({listed})"


def _replace_roles(roles: tuple[str, ...]) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint(op.f("ck_principals_role"), "principals", type_="check")
        op.create_check_constraint(op.f("ck_principals_role"), "principals", _condition(roles))
        return
    with op.batch_alter_table("principals", copy_from=_principals(roles), recreate="always"):
        pass


def _principals(roles: tuple[str, ...]) -> sa.Table:
    """Return the table with another check constraint; SQLite changes a constraint by rebuilding the table."""
    return sa.Table(
        "principals",
        sa.MetaData(),
        sa.Column("id", ROW_ID, sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("key_hash", sa.LargeBinary),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("disabled_at", sa.Text),
        sa.Column("key_expires_at", sa.Text),
        sa.Column("issuer", sa.Text),
        sa.Column("subject", sa.Text),
        sa.Column("display_name", sa.Text),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_principals")),
        sa.UniqueConstraint("name", name=op.f("uq_principals_name")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_principals_key_hash")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_principals_issuer_subject")),
        sa.CheckConstraint(_condition(roles), name=op.f("ck_principals_role")),
        sa.CheckConstraint("length(key_hash) = 32", name=op.f("ck_principals_key_hash")),
        sa.CheckConstraint("(issuer IS NULL) = (subject IS NULL)", name=op.f("ck_principals_subject_has_issuer")),
    )
