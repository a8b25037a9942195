"""Say of each figure from which version on it is shown, and from which on it is public; index what lists read.

Which audience earlier versions had is not stored. So of a public figure the latest version alone stays public. If the
audit log has a withdrawal of a figure, its earlier versions are withdrawn, since some may be from before it.

This migration leaves the seals as they were, since it does not have the secret. `app.services.sealing` replaces those
that match, in the same transaction.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PUBLIC = "withdrawn_at IS NULL AND public_from IS NOT NULL"
ADDED = ("dataset", "first_version", "public_from", "published_at")
FILL = """
UPDATE figures SET
    dataset = (SELECT name FROM datasets WHERE datasets.id = figures.dataset_id),
    public_from = CASE audience WHEN 'public' THEN version END,
    published_at = coalesce((
        SELECT published_at FROM figure_versions WHERE figure_id = figures.id AND version = figures.version), '')
"""
FILL_FIRST = """
UPDATE figures SET first_version = CASE
    WHEN withdrawn_at IS NOT NULL THEN version + 1
    WHEN 'datasets/' || dataset || '/figures/' || name IN (
        SELECT target FROM audit WHERE action = 'figure.withdraw' AND target IS NOT NULL) THEN version
    ELSE 1 END
"""
INDEXES = (
    ("ix_figures_by_name", ("dataset", "name"), None),
    ("ix_figures_by_time", ("published_at", "id"), None),
    ("ix_figures_public_by_name", ("dataset", "name"), PUBLIC),
    ("ix_figures_public_by_time", ("published_at", "id"), PUBLIC),
)


def upgrade() -> None:
    for name in ADDED:
        op.add_column("figures", sa.Column(name, sa.Integer if name.endswith(("version", "from")) else sa.Text))
    op.execute(FILL)
    op.execute(FILL_FIRST)
    required = [name for name in ADDED if name != "public_from"]
    if op.get_bind().dialect.name == "postgresql":
        op.drop_column("figures", "audience")
        for name in required:
            op.alter_column("figures", name, nullable=False)
        op.create_check_constraint(
            op.f("ck_figures_first_version"), "figures", "first_version BETWEEN 1 AND version + 1"
        )
        op.create_check_constraint(op.f("ck_figures_public_from"), "figures", "public_from BETWEEN 1 AND version")
    else:
        with op.batch_alter_table("figures", copy_from=_new_figures(), recreate="always"):
            pass
    for name, columns, condition in INDEXES:
        where = {} if condition is None else dict.fromkeys(("sqlite_where", "postgresql_where"), sa.text(condition))
        op.create_index(op.f(name), "figures", list(columns), **where)


def downgrade() -> None:
    for name, _, _ in INDEXES:
        op.drop_index(op.f(name), "figures")
    op.add_column("figures", sa.Column("audience", sa.Text))
    op.execute("UPDATE figures SET audience = CASE WHEN public_from IS NULL THEN 'viewers' ELSE 'public' END")
    if op.get_bind().dialect.name == "postgresql":
        for name in ADDED:
            op.drop_column("figures", name)  # with their conditions
        op.alter_column("figures", "audience", nullable=False)
        op.create_check_constraint(op.f("ck_figures_audience"), "figures", "audience IN ('viewers', 'public')")
    else:
        with op.batch_alter_table("figures", copy_from=_old_figures(), recreate="always"):
            pass


def _figures(*columns: sa.Column, checks: dict[str, str]) -> sa.Table:  # type: ignore[type-arg]
    """Return the table with other columns and conditions; SQLite changes them by rebuilding the table."""
    return sa.Table(
        "figures",
        sa.MetaData(),
        sa.Column("id", ROW_ID, sa.Identity(always=True), nullable=False),
        sa.Column("dataset_id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("withdrawn_at", sa.Text),
        sa.Column("seal", sa.LargeBinary, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint("id", name=op.f("pk_figures")),
        sa.ForeignKeyConstraint(["dataset_id"], ["accounts.dataset_id"], name=op.f("fk_figures_dataset_id")),
        sa.UniqueConstraint("dataset_id", "name", name=op.f("uq_figures_dataset_id_name")),
        *(
            sa.CheckConstraint(condition, name=op.f(f"ck_figures_{name}"))
            for name, condition in ({"version": "version >= 1"} | checks).items()
        ),
    )


def _new_figures() -> sa.Table:
    return _figures(
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("first_version", sa.Integer, nullable=False),
        sa.Column("public_from", sa.Integer),
        sa.Column("published_at", sa.Text, nullable=False),
        checks={
            "first_version": "first_version BETWEEN 1 AND version + 1",
            "public_from": "public_from BETWEEN 1 AND version",
        },
    )


def _old_figures() -> sa.Table:
    return _figures(
        sa.Column("audience", sa.Text, nullable=False), checks={"audience": "audience IN ('viewers', 'public')"}
    )
