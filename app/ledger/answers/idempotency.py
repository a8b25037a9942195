"""Idempotency keys: a key returns the same answer, byte for byte, for as long as its release exists.

A key is claimed in the transaction that answers. If two requests with the same key arrive at once, the primary key lets
only one of them commit.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import bindparam, case, func, select, update

from app.db.row_changes import RowChange
from app.db.session import Session, WriteSession
from app.db.tables import idempotency
from app.errors import SealBrokenError
from app.ledger.answers import releases
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body, StoredAnswer, of_content, pack_content
from app.ledger.answers.releases import Rows
from app.ledger.answers.reused_answers import open_stored
from app.ledger.chain.canonical_json import Member
from app.ledger.chain.keyring import Keyring, Seal

VERSION = "snapledger-idempotency-v1"


@dataclass(frozen=True, slots=True)
class ReplayableAnswer:
    """The answer of a key, and the fingerprint of the request that the key is bound to."""

    fingerprint: bytes
    status: int
    release_id: str
    body: Body


@dataclass(frozen=True, slots=True)
class Claim:
    """The binding of a principal's key to a request, with the time at which it was made."""

    principal_id: int
    key: str
    fingerprint: bytes
    created_at: str


_LENGTH = func.length(idempotency.c.body, type_=idempotency.c.status.type)
_OF_KEY = (idempotency.c.principal_id == bindparam("principal"), idempotency.c.key == bindparam("key"))
_FIND = select(
    idempotency.c.fingerprint,
    idempotency.c.status,
    idempotency.c.release_id,
    idempotency.c.created_at,
    idempotency.c.seal,
    _LENGTH.label("own_bytes"),
    case((bindparam("largest") >= _LENGTH, idempotency.c.body)).label("own_content"),
).where(*_OF_KEY)
_BOUND = select(idempotency.c.status).where(*_OF_KEY)
_SLICE = select(
    func.substr(idempotency.c.body, bindparam("first"), bindparam("size"), type_=idempotency.c.body.type).label(
        "content"
    )
).where(*_OF_KEY)
_COLUMNS = ("principal_id", "key", "fingerprint", "release_id", "status", "created_at", "body", "seal")
_CLAIM = RowChange(idempotency, _COLUMNS, on_conflict="DO NOTHING", is_claim=True)
_ANSWER = (
    update(idempotency)
    .where(idempotency.c.principal_id == bindparam("principal"), idempotency.c.key == bindparam("claimed"))
    .values(
        release_id=bindparam("answered"),
        status=bindparam("with_status"),
        body=bindparam("with_body"),
        seal=bindparam("with_seal"),
    )
)


def list_sealed_members(claim: Claim, release_id: str, status: int, body_hash: bytes | None) -> tuple[Member, ...]:
    """The sealed members of a key; `body_hash` is the SHA-256 of the key's own body, None if it uses the release's."""
    return claim.principal_id, claim.key, claim.fingerprint, release_id, status, claim.created_at, body_hash


def find_answer(session: Session, rows: Rows, keyring: Keyring, principal_id: int, key: str) -> ReplayableAnswer | None:
    """Return the stored answer of a principal's key, or None if the key is unused. `rows` reads a large body.

    Raises:
        DamagedAnswerError: the stored body is damaged.
        SealBrokenError: the key or its answer does not match its seal.
    """
    row = session.row(_FIND, principal=principal_id, key=key, largest=MAX_PLAIN_BYTES)
    if row is None:
        return None
    own = None if row.own_bytes is None else _own_body(row, rows, principal_id, key)
    body_hash = None if own is None else releases.find_hash(own)
    claim = Claim(principal_id, key, row.fingerprint, row.created_at)
    if not keyring.is_sealed(row.seal, VERSION, *list_sealed_members(claim, row.release_id, row.status, body_hash)):
        raise SealBrokenError
    body = releases.find_sealed(rows, keyring, row.release_id)[1] if own is None else own
    return ReplayableAnswer(row.fingerprint, row.status, row.release_id, body)


def own_body(session: Session, principal_id: int, key: str) -> Body | None:
    """The key's own body; None if its answer is the body of the release."""
    row = session.row(_FIND, principal=principal_id, key=key, largest=MAX_PLAIN_BYTES)
    return None if row is None or row.own_bytes is None else _own_body(row, session, principal_id, key)


def _own_body(row: Any, rows: Rows, principal_id: int, key: str) -> Body:  # noqa: ANN401 - a row of _FIND
    content = row.own_content
    read = partial(_slice, rows, principal_id, key) if content is None else of_content(content)
    return open_stored(read, row.own_bytes, lambda: releases.response_body(rows, row.release_id))


def _slice(rows: Rows, principal_id: int, key: str, offset: int, size: int) -> bytes:
    row = rows.row(_SLICE, principal=principal_id, key=key, first=offset + 1, size=size)
    content: bytes = b"" if row is None else row.content
    return content


def claim_key(transaction: WriteSession, seal: Seal, claimed: Claim, release_id: str, status: int) -> bool:
    """Bind a key to a release of this transaction, whose response becomes the key's answer.

    Returns:
        False if the key was already bound, as far as `WriteSession.claim` knows. Then roll the transaction back and
        read the stored answer. On Postgres the claim may wait for another transaction that has claimed the key but has
        not committed yet. On SQLite this transaction began only after the other one had ended.
    """
    return transaction.claim(_CLAIM, _make_row(seal, claimed, release_id, status, None))


def is_taken(transaction: WriteSession, claimed: Claim) -> bool:
    """Return whether another transaction has bound a key that this one seemed to have claimed."""
    if transaction.find_pending(_CLAIM, (claimed.principal_id, claimed.key)) is None:
        return False
    return transaction.row_apart(_BOUND, principal=claimed.principal_id, key=claimed.key) is not None


def _make_row(seal: Seal, claimed: Claim, release_id: str, status: int, body: StoredAnswer | None) -> dict[str, object]:
    members = list_sealed_members(claimed, release_id, status, None if body is None else body.sha256)
    return {
        "principal_id": claimed.principal_id,
        "key": claimed.key,
        "fingerprint": claimed.fingerprint,
        "release_id": release_id,
        "status": status,
        "created_at": claimed.created_at,
        "body": None if body is None else pack_content(body.content),
        "seal": seal.seal_row(VERSION, *members),
    }


def replace_answer(  # noqa: PLR0913, PLR0917 - a row's columns
    transaction: WriteSession, seal: Seal, claimed: Claim, release_id: str, status: int, body: StoredAnswer
) -> None:
    """Change a claim of this transaction to a reuse: an earlier release answers, and the key has its own body."""
    row = _make_row(seal, claimed, release_id, status, body)
    if transaction.find_pending(_CLAIM, _CLAIM.find_key(row)) is None or len(body.content) > MAX_PLAIN_BYTES:
        transaction.change_one(
            _ANSWER,
            principal=claimed.principal_id,
            claimed=claimed.key,
            answered=release_id,
            with_status=status,
            with_body=row["body"],
            with_seal=row["seal"],
        )
    else:
        transaction.put(_CLAIM, row)
