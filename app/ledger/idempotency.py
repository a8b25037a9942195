"""Idempotency keys: one key, one answer, byte for byte, for as long as its release exists.

Nothing is claimed before the transaction that answers: of simultaneous twins the primary key lets one commit.
"""

from dataclasses import dataclass

from sqlalchemy import bindparam, select, update

from app.db.session import Session, WriteSession
from app.db.tables import idempotency, releases
from app.db.upsert import upsert


@dataclass(frozen=True, slots=True)
class Stored:
    """What a key was answered with, and the fingerprint of the request that it is bound to."""

    fingerprint: bytes
    status: int
    release_id: str
    body: bytes


_FIND = (
    select(
        idempotency.c.fingerprint,
        idempotency.c.status,
        idempotency.c.release_id,
        idempotency.c.body,
        releases.c.response,
    )
    .join_from(idempotency, releases, releases.c.id == idempotency.c.release_id)
    .where(idempotency.c.principal_id == bindparam("principal"), idempotency.c.key == bindparam("key"))
)
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


def find(session: Session, principal_id: int, key: str) -> Stored | None:
    """What a principal's key was answered with; None where it is unused."""
    row = session.row(_FIND, principal=principal_id, key=key)
    if row is None:
        return None
    fingerprint, status, release_id, body, response = row
    return Stored(fingerprint, status, release_id, response if body is None else body)


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
    transaction: WriteSession, principal_id: int, key: str, release_id: str, status: int, body: bytes
) -> None:
    """Replace what a claim of this transaction said: an earlier release answers, in a body of this request's own."""
    transaction.change(
        _ANSWER, principal=principal_id, claimed=key, answered=release_id, with_status=status, with_body=body
    )
