"""Answers that were given before, by idempotency key: replayed as they were."""

from dataclasses import dataclass

from app.db.session import Session
from app.errors import KeyReusedError, UnavailableError
from app.ledger.answers import idempotency
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body
from app.services.access import Access
from app.services.context import Services
from app.services.releasing.bulkhead import LARGE_ANSWERS


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key and the fingerprint of the request that it is bound to."""

    text: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body, which is read from the database piece by piece where it is large.

    `replayed` where both were stored before.
    """

    status: int
    body: bytes | Body
    replayed: bool = False


def find_replay(services: Services, access: Access, key: Key) -> Answer | None:
    """What the key was answered with, if it was.

    Raises:
        KeyReusedError: that was to another request.
        DamagedAnswerError: it is not what was written.
        OverloadedError: as many large answers are being made or looked through as may.
    """
    with services.database.ask() as session:
        stored = _find_stored_answer(services, session, access, key)
    if stored is not None:
        _require_sound(services, access, stored)
    return stored


def find_twin_answer(services: Services, access: Access, key: Key | None) -> Answer:
    """What a twin with the same key was answered, which committed first: our draws are discarded.

    Raises:
        UnavailableError: there is none, after all.
    """
    twin = None if key is None else find_replay(services, access, key)
    if twin is None:
        raise UnavailableError
    return twin


def _find_stored_answer(services: Services, session: Session, access: Access, key: Key) -> Answer | None:
    stored = idempotency.find_answer(session, services.database, services.keyring, access.principal.id, key.text)
    if stored is None:
        return None
    if stored.fingerprint != key.fingerprint:
        raise KeyReusedError
    return Answer(stored.status, stored.body, replayed=True)


def _require_sound(services: Services, access: Access, stored: Answer) -> None:
    """Look through a large answer before the first byte of it is sent."""
    body = stored.body
    if isinstance(body, Body) and body.size > MAX_PLAIN_BYTES:
        services.database.pause()
        with LARGE_ANSWERS.enter(access.principal.id):
            body.require_sound()
