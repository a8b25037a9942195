"""Checks the seals of reuse candidates and of idempotency keys with their answers.

Both are read in pages; keys are sorted by their releases. The releases themselves are checked with their debits.
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import bindparam, case, func, literal_column, select, tuple_, type_coerce
from sqlalchemy.types import NullType

from app.db.session import Session
from app.db.tables import idempotency, releases, reuse_candidates
from app.errors import DamagedAnswerError
from app.ledger.answers.answer_storage import COMPRESSED, PACKED, REUSED
from app.ledger.answers.idempotency import VERSION, list_sealed_members, own_body
from app.ledger.answers.releases import CANDIDATE_VERSION, candidate_members
from app.ledger.chain.keyring import Keyring

PAGE = 1_000

_CANDIDATES = (
    select(
        reuse_candidates.c.statistic,
        reuse_candidates.c.slot,
        type_coerce(reuse_candidates.c.score, NullType()).label("score"),  # unconverted: a float
        reuse_candidates.c.release_id,
        reuse_candidates.c.seal,
    )
    .where(
        reuse_candidates.c.dataset_id == bindparam("dataset"),
        tuple_(reuse_candidates.c.statistic, reuse_candidates.c.slot)
        > tuple_(bindparam("statistic"), bindparam("slot")),
    )
    .order_by(reuse_candidates.c.statistic, reuse_candidates.c.slot)
    .limit(literal_column(str(PAGE)))
)
# The database computes the hashes of plain answers, so their content need not be fetched.
_IS_PLAIN = func.substr(
    idempotency.c.body, literal_column("1"), literal_column("1"), type_=idempotency.c.body.type
).not_in([bindparam("compressed"), bindparam("reused"), bindparam("packed")])
_PLACE = (releases.c.id, idempotency.c.principal_id, idempotency.c.key)
_KEYS = (
    select(
        *_PLACE,
        idempotency.c.fingerprint,
        idempotency.c.status,
        idempotency.c.created_at,
        case((_IS_PLAIN, func.sha256(idempotency.c.body, type_=idempotency.c.body.type))).label("plain_hash"),
        idempotency.c.body.is_not(None).label("own"),
        idempotency.c.seal,
    )
    .join_from(releases, idempotency, idempotency.c.release_id == releases.c.id)
    .where(
        releases.c.dataset_id == bindparam("dataset"),
        releases.c.id >= bindparam("release"),
        idempotency.c.release_id >= bindparam("release"),  # or else each page would read the keys before it again
        tuple_(*_PLACE) > tuple_(bindparam("release"), bindparam("principal"), bindparam("key")),
    )
    .order_by(*_PLACE)
    .limit(literal_column(str(PAGE)))
)


def find_unsealed(session: Session, keyring: Keyring, dataset_id: int) -> Iterator[str]:
    """Yield a problem for each of a dataset's candidates and keys that does not match its seal."""
    for row in _read_candidates(session, dataset_id):
        if not isinstance(row.score, float) or not keyring.is_sealed(
            row.seal,
            CANDIDATE_VERSION,
            *candidate_members(dataset_id, row.statistic, row.slot, row.score, row.release_id),
        ):
            yield f"the reuse entry of the release {row.release_id} was changed after it was sealed"
    for row in _read_keys(session, dataset_id):
        body_hash = row.plain_hash or (_compute_hash(session, row) if row.own else None)
        if not keyring.is_sealed(row.seal, VERSION, *list_sealed_members(row, row.id, row.status, body_hash)):
            yield f"an idempotency key or its answer, of the release {row.id}, was changed after it was sealed"


def _compute_hash(session: Session, row: Any) -> bytes:  # noqa: ANN401 - a row of _KEYS
    """The hash of an answer that is not stored plain; empty if the answer is damaged."""
    try:
        body = own_body(session, row.principal_id, row.key)
        return b"" if body is None else body.checked_sha256()
    except DamagedAnswerError:
        return b""


def _read_candidates(session: Session, dataset_id: int) -> Iterator[Any]:
    statistic, slot = "", 0
    while page := session.rows(_CANDIDATES, dataset=dataset_id, statistic=statistic, slot=slot):
        yield from page
        statistic, slot = page[-1].statistic, page[-1].slot


def _read_keys(session: Session, dataset_id: int) -> Iterator[Any]:
    within = {"dataset": dataset_id, "compressed": COMPRESSED, "reused": REUSED, "packed": PACKED}
    with session.reading_ahead() as start:
        wait = start(_KEYS, **within, release="", principal=0, key="")
        while page := wait():
            last = page[-1]
            wait = start(_KEYS, **within, release=last.id, principal=last.principal_id, key=last.key)
            yield from page
