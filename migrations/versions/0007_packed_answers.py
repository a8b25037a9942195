"""Pack the small answers that earlier versions stored as they are."""

import sqlalchemy as sa
from alembic import op

from app.ledger.answers.answer_storage import MAX_PACKED_BYTES, pack_content, unpack_content

revision = "0007"
down_revision = "0006"

_BATCH = 1_000
_TABLES = (
    (sa.table("releases", sa.column("id"), sa.column("response", sa.LargeBinary)), ("id",), "response"),
    (
        sa.table("idempotency", sa.column("principal_id"), sa.column("key"), sa.column("body", sa.LargeBinary)),
        ("principal_id", "key"),
        "body",
    ),
)


def upgrade() -> None:
    _convert(pack_content)


def downgrade() -> None:
    _convert(unpack_content)


def _convert(convert) -> None:  # noqa: ANN001 - a function from bytes to bytes
    connection = op.get_bind()
    for table, keys, name in _TABLES:
        content, places = table.c[name], [table.c[key] for key in keys]
        page = (
            sa.select(*places, content)
            .where(content.is_not(None), sa.func.length(content) <= MAX_PACKED_BYTES)
            .order_by(*places)
            .limit(_BATCH)
        )
        change = (
            sa.update(table)
            .where(*(place == sa.bindparam(f"of_{place.name}") for place in places))
            .values({name: sa.bindparam("converted")})
        )
        rows = connection.execute(page).all()
        while rows:
            changes = [
                {**{f"of_{key}": getattr(row, key) for key in keys}, "converted": converted}
                for row in rows
                if (converted := convert(row[-1])) != row[-1]
            ]
            if changes:
                connection.execute(change, changes)
            last = tuple(getattr(rows[-1], key) for key in keys)
            rows = connection.execute(page.where(sa.tuple_(*places) > sa.tuple_(*map(sa.literal, last)))).all()
