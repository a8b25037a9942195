"""Principals: the rows of people and programs. `credentials` finds the one that presents a key or a token."""

from typing import NamedTuple

from sqlalchemy import bindparam, or_, select, update

from app.db.clock import now
from app.db.dialects.upsert import upsert
from app.db.page_queries import MAX_NUMBER, PageQueries, page_queries
from app.db.session import Session, WriteSession
from app.db.tables import principals
from app.errors import InvalidRequestError, NameTakenError
from app.roles import SEES_EVERY_DATASET, WITHOUT_ALLOWANCE, Role


class Principal(NamedTuple):
    """A person or a program that calls the service. The fields are the columns, in order.

    Attributes:
        disabled_at: when the principal was disabled, which is permanent; None if it is not disabled.
        key_expires_at: when the key expires; None if it never expires or there is no key.
        subject: the principal's name in the identity provider's tokens; None if it only has a key.
        display_name: how people call the principal; None if nobody has set it.
    """

    id: int
    name: str
    role: str
    created_at: str
    disabled_at: str | None
    key_expires_at: str | None = None
    subject: str | None = None
    display_name: str | None = None


COLUMNS = (
    principals.c.id,
    principals.c.name,
    principals.c.role,
    principals.c.created_at,
    principals.c.disabled_at,
    principals.c.key_expires_at,
    principals.c.subject,
    principals.c.display_name,
)
_SELECT = select(*COLUMNS)
_BY_NAME = _SELECT.where(principals.c.name == bindparam("name"))
_PAGE = page_queries(_SELECT, principals.c.id)
_PAGE_OF_GRANTEES = _PAGE.where(
    principals.c.disabled_at.is_(None), *(principals.c.role != role for role in WITHOUT_ALLOWANCE)
)
_PAGE_OF_POSSIBLE_VIEWERS = _PAGE.where(
    principals.c.disabled_at.is_(None), *(principals.c.role != role for role in SEES_EVERY_DATASET)
)
_LASTING_ADMINS = (
    select(principals.c.id)
    .where(
        principals.c.role == Role.ADMIN,
        principals.c.disabled_at.is_(None),
        principals.c.subject.is_(None),
        or_(principals.c.key_expires_at.is_(None), principals.c.key_expires_at > bindparam("time")),
    )
    .order_by(principals.c.id)  # a fixed order prevents deadlocks
    .with_for_update()
)
_ANY = select(principals.c.id).limit(1)
_INSERT = upsert(
    principals, lambda insert: insert.on_conflict_do_nothing(index_elements=["name"]).returning(principals.c.id)
)
_INSERT_SUBJECT = upsert(principals, lambda insert: insert.on_conflict_do_nothing().returning(principals.c.id))
_REPLACE_KEY = (
    update(principals)
    .where(principals.c.id == bindparam("principal"))
    .values(key_hash=bindparam("digest"), key_expires_at=bindparam("until"))
)
_SET_ROLE = update(principals).where(principals.c.id == bindparam("principal")).values(role=bindparam("granted"))
_SET_DISPLAY_NAME = (
    update(principals).where(principals.c.id == bindparam("principal")).values(display_name=bindparam("shown"))
)
_DISABLE = update(principals).where(principals.c.id == bindparam("principal")).values(disabled_at=bindparam("since"))


def find_by_name(session: Session, name: str) -> Principal | None:
    """Return the principal with this name, disabled or not, or None."""
    row = session.row(_BY_NAME, name=name)
    return None if row is None else Principal(*row)


def page_of_principals(session: Session, after: str | None, limit: int, *, newest: bool = False) -> list[Principal]:
    """Return at most `limit` principals, oldest or newest first, that follow the principal with the name `after`.

    Raises:
        InvalidRequestError: there is no principal with the name `after`.
    """
    return _read_page(session, _PAGE, after, limit, newest=newest)


def page_of_grantees(session: Session, after: str | None, limit: int, *, newest: bool = False) -> list[Principal]:
    """Do the same as `page_of_principals`, without auditors, viewers and disabled principals."""
    return _read_page(session, _PAGE_OF_GRANTEES, after, limit, newest=newest)


def page_of_possible_viewers(
    session: Session, after: str | None, limit: int, *, newest: bool = False
) -> list[Principal]:
    """Do the same as `page_of_principals`, without those who see every dataset and without disabled principals."""
    return _read_page(session, _PAGE_OF_POSSIBLE_VIEWERS, after, limit, newest=newest)


def _read_page(session: Session, pages: PageQueries, after: str | None, limit: int, *, newest: bool) -> list[Principal]:
    start = MAX_NUMBER if newest else 0
    if after is not None:
        last = find_by_name(session, after)
        if last is None:
            raise InvalidRequestError(("after", "must be the `next` of an earlier page of this list"))
        start = last.id
    return [Principal(*row) for row in session.rows(pages.choose(newest=newest), after=start, most=limit)]


def insert_principal(  # noqa: PLR0913 - a row's columns
    transaction: WriteSession,
    name: str,
    role: str,
    digest: bytes | None,
    at: str,
    *,
    key_expires_at: str | None = None,
    issuer: str | None = None,
    subject: str | None = None,
    display_name: str | None = None,
) -> Principal:
    """Create a principal.

    Raises:
        NameTakenError: a principal with this name exists, perhaps a disabled one, or the token's subject already has a
            principal.
    """
    statement = _INSERT if subject is None else _INSERT_SUBJECT
    row = transaction.change_returning(
        statement[transaction.dialect],
        name=name,
        role=role,
        key_hash=digest,
        created_at=at,
        disabled_at=None,
        key_expires_at=key_expires_at,
        issuer=issuer,
        subject=subject,
        display_name=display_name,
    )
    if row is None:
        raise NameTakenError
    return Principal(row.id, name, role, at, None, key_expires_at, subject, display_name)


def replace_key(transaction: WriteSession, principal_id: int, digest: bytes, expires_at: str | None = None) -> None:
    """Replace a principal's key. The old key stops working when this commits."""
    transaction.change(_REPLACE_KEY, principal=principal_id, digest=digest, until=expires_at)


def set_role(transaction: WriteSession, principal_id: int, role: str) -> None:
    """Store another role for a principal."""
    transaction.change(_SET_ROLE, principal=principal_id, granted=role)


def set_display_name(transaction: WriteSession, principal_id: int, display_name: str | None) -> None:
    """Store another display name for a principal, or none."""
    transaction.change(_SET_DISPLAY_NAME, principal=principal_id, shown=display_name)


def disable_principal(transaction: WriteSession, principal_id: int, at: str) -> None:
    """Disable a principal."""
    transaction.change(_DISABLE, principal=principal_id, since=at)


def lock_lasting_admins(transaction: WriteSession) -> list[int]:
    """Lock the admins who have a valid key and no identity provider, and return their ids.

    They are locked until the end of the transaction, so that two admins cannot disable each other at the same time.
    """
    return [row.id for row in transaction.rows(_LASTING_ADMINS, time=now())]


def has_principals(session: Session) -> bool:
    """Whether the database has any principal at all."""
    return session.row(_ANY) is not None
