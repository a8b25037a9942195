"""Keys and tokens: finds the principal of one, and rejects a key that has expired.

A key is stored as its digest, a token as its issuer and subject. A disabled principal has no valid credential.
"""

from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import bindparam, select

from app.db.clock import now
from app.db.repositories.principals import COLUMNS, Principal
from app.db.session import Session, WriteSession
from app.db.tables import principals


@dataclass(frozen=True, slots=True)
class KeyDigest:
    """The SHA-256 of a key that a caller presented."""

    digest: bytes


@dataclass(frozen=True, slots=True)
class Identity:
    """The issuer and the subject of a token, and the role that the token grants."""

    issuer: str
    subject: str
    role: str


Credential: TypeAlias = KeyDigest | Identity

BY_KEY = (principals.c.key_hash == bindparam("digest"), principals.c.disabled_at.is_(None))
BY_SUBJECT = (
    principals.c.issuer == bindparam("issuer"),
    principals.c.subject == bindparam("subject"),
    principals.c.disabled_at.is_(None),
)

_SELECT = select(*COLUMNS)
_BY_KEY = _SELECT.where(*BY_KEY)
_BY_KEY_LOCKED = _BY_KEY.with_for_update()
_BY_SUBJECT = _SELECT.where(*BY_SUBJECT)
_BY_SUBJECT_LOCKED = _BY_SUBJECT.with_for_update()
_OF_SUBJECT = _SELECT.where(*BY_SUBJECT[:2])


def has_expired_key(principal: Principal) -> bool:
    """Whether the principal has a key that has expired."""
    return principal.key_expires_at is not None and principal.key_expires_at <= now()


def accept_credential(principal: Principal, credential: Credential) -> Principal | None:
    """Return the principal as its credential admits it: with a token's role, or None if its key has expired."""
    if isinstance(credential, Identity):
        return principal._replace(role=credential.role)
    return None if has_expired_key(principal) else principal


def find_by_credential(session: Session, credential: Credential) -> Principal | None:
    """Return the principal with this credential, or None if it is disabled or the credential has expired."""
    if isinstance(credential, Identity):
        row = session.row(_BY_SUBJECT, issuer=credential.issuer, subject=credential.subject)
    else:
        row = session.row(_BY_KEY, digest=credential.digest)
    return None if row is None else accept_credential(Principal(*row), credential)


def lock_by_key(transaction: WriteSession, key: KeyDigest) -> Principal | None:
    """Do the same as `find_by_credential`, and lock the principal until the end of the transaction."""
    row = transaction.row(_BY_KEY_LOCKED, digest=key.digest)
    return None if row is None else accept_credential(Principal(*row), key)


def lock_by_subject(transaction: WriteSession, identity: Identity) -> Principal | None:
    """Return a token's principal with its stored role, and lock it until the end of the transaction."""
    row = transaction.row(_BY_SUBJECT_LOCKED, issuer=identity.issuer, subject=identity.subject)
    return None if row is None else Principal(*row)


def find_by_subject(session: Session, identity: Identity) -> Principal | None:
    """Return a token's principal, disabled or not, with its stored role instead of the token's."""
    row = session.row(_OF_SUBJECT, issuer=identity.issuer, subject=identity.subject)
    return None if row is None else Principal(*row)
