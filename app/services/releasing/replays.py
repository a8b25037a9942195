"""Replays stored answers by idempotency key, exactly as they were given."""

from dataclasses import dataclass

from app.errors import KeyReusedError, UnavailableError
from app.ledger.answers import idempotency
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body
from app.services.access import Access
from app.services.context import Services
from app.services.releasing.bulkhead import LARGE_ANSWERS


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """An idempotency key and the fingerprint of the request that it is bound to."""

    text: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body. A large body is read from the database piece by piece.

    `replayed` is true if both were stored by an earlier request.
    """

    status: int
    body: bytes | Body
    replayed: bool = False


def find_replay(services: Services, access: Access, key: IdempotencyKey) -> Answer | None:
    """Return the answer that was stored for an idempotency key before the request began, or None.

    Raises:
        KeyReusedError: the key was used for a different request.
        DamagedAnswerError: the stored answer is not what was written.
        OverloadedError: too many large answers are being made or checked.
    """
    return _read_answer(services, access, key) if access.is_key_used else None


def find_twin_answer(services: Services, access: Access, key: IdempotencyKey | None) -> Answer:
    """Return the answer of a concurrent request with the same key that committed first. Our own draws are discarded.

    Raises:
        UnavailableError: no such answer is stored.
    """
    twin = None if key is None else _read_answer(services, access, key)
    if twin is None:
        raise UnavailableError
    return twin


def _read_answer(services: Services, access: Access, key: IdempotencyKey) -> Answer | None:
    database, caller = services.database, access.principal.id
    with database.read_without_transaction() as session:
        stored = idempotency.find_answer(session, database, services.keyring, caller, key.text)
    if stored is None:
        return None
    if stored.fingerprint != key.fingerprint:
        raise KeyReusedError
    _require_sound(services, access, stored.body)
    return Answer(stored.status, stored.body, replayed=True)


def _require_sound(services: Services, access: Access, body: Body) -> None:
    """Check a whole large answer before its first byte is sent."""
    if body.size > MAX_PLAIN_BYTES:
        services.database.pause()
        with LARGE_ANSWERS.enter(access.principal.id):
            body.require_sound()
