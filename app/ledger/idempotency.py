"""Idempotency keys: one key, one answer, byte for byte, for as long as its release exists.

Nothing is claimed before the transaction that answers: of simultaneous twins the primary key lets one commit.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import bindparam, case, func, select, update

from app.db.session import Session, WriteSession
from app.db.tables import idempotency
from app.db.tables import releases as release_table
from app.db.upsert import upsert
from app.ledger import releases
from app.ledger.answer_storage import MAX_PLAIN_BYTES, Body, StoredAnswer, of_content
from app.ledger.releases import RESPONSE_BYTES, Rows, StoredRelease
from app.ledger.reused_answers import open_stored


@dataclass(frozen=True, slots=True)
class Stored:
    """What a key was answered with, and the fingerprint of the request that it is bound to."""

    fingerprint: bytes
    status: int
    release_id: str
    body: Body


_LENGTH = func.length(idempotency.c.body, type_=idempotency.c.status.type)
_OF_KEY = (idempotency.c.principal_id == bindparam("principal"), idempotency.c.key == bindparam("key"))
_FIND = (
    select(
        idempotency.c.fingerprint,
        idempotency.c.status,
        idempotency.c.release_id,
        _LENGTH.label("own_bytes"),
        case((bindparam("largest") >= _LENGTH, idempotency.c.body)).label("own_content"),
        case((idempotency.c.body.is_(None), RESPONSE_BYTES)).label("release_bytes"),
        case((idempotency.c.body.is_(None) & (bindparam("largest") >= RESPONSE_BYTES), release_table.c.response)).label(
            "release_content"
        ),
    )
    .join_from(idempotency, release_table, release_table.c.id == idempotency.c.release_id)
    .where(*_OF_KEY)
)
_SLICE = select(
    func.substr(idempotency.c.body, bindparam("first"), bindparam("size"), type_=idempotency.c.body.type).label(
        "content"
    )
).where(*_OF_KEY)
_CLAIM = upsert(
    idempotency,
    lambda insert: (
        insert.on_conflict_do_nothing(index_elements=["principal_id", "key"])
        .inline()
        .execution_options(preserve_rowcount=True)
    ),
)
_ANSWER = (
    update(idempotency)
    .where(idempotency.c.principal_id == bindparam("principal"), idempotency.c.key == bindparam("claimed"))
    .values(release_id=bindparam("answered"), status=bindparam("with_status"), body=bindparam("with_body"))
)


def find(session: Session, rows: Rows, principal_id: int, key: str) -> Stored | None:
    """What a principal's key was answered with; None where it is unused. `rows` is where a large body is read from.

    Raises:
        DamagedAnswerError: the body is not one that was written here.
    """
    row = session.row(_FIND, principal=principal_id, key=key, largest=MAX_PLAIN_BYTES)
    if row is None:
        return None
    return Stored(row.fingerprint, row.status, row.release_id, _body(row, rows, principal_id, key))


def _body(row: Any, rows: Rows, principal_id: int, key: str) -> Body:  # noqa: ANN401 - a row of _FIND
    if row.own_bytes is None:
        return StoredRelease(row.release_id, row.release_bytes, row.release_content).body(rows)
    content = row.own_content
    read = partial(_slice, rows, principal_id, key) if content is None else of_content(content)
    return open_stored(read, row.own_bytes, lambda: releases.response(rows, row.release_id))


def _slice(rows: Rows, principal_id: int, key: str, offset: int, size: int) -> bytes:
    row = rows.row(_SLICE, principal=principal_id, key=key, first=offset + 1, size=size)
    content: bytes = b"" if row is None else row.content
    return content


def claim(  # noqa: PLR0913, PLR0917 - a row's columns
    transaction: WriteSession, principal_id: int, key: str, fingerprint: bytes, release_id: str, status: int, at: str
) -> bool:
    """Bind a key to a release of this transaction, whose response will be its answer; False where it is bound already.

    On Postgres it waits for a twin that has claimed the key and not committed yet; on SQLite the twin's transaction was
    waited for when this one began. After False the transaction has nothing more to do: roll back and read the answer.
    """
    claimed = transaction.change(
        _CLAIM[transaction.dialect],
        principal_id=principal_id,
        key=key,
        fingerprint=fingerprint,
        release_id=release_id,
        status=status,
        created_at=at,
        body=None,
    )
    return claimed == 1


def answer(  # noqa: PLR0913, PLR0917 - a row's columns
    transaction: WriteSession, principal_id: int, key: str, release_id: str, status: int, body: StoredAnswer
) -> None:
    """Replace what a claim of this transaction said: an earlier release answers, in a body of this request's own."""
    transaction.change(
        _ANSWER, principal=principal_id, claimed=key, answered=release_id, with_status=status, with_body=body.content
    )
