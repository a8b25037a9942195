"""Who may call, found by the digest of the key."""

from dataclasses import dataclass

from sqlalchemy import bindparam, select, update

from app.db.session import Session, WriteSession
from app.db.tables import principals
from app.db.upsert import upsert
from app.errors import InvalidRequestError, NameTakenError


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody with a key; `disabled_at` is set for ever once the key's rights are taken away."""

    id: int
    name: str
    role: str
    created_at: str
    disabled_at: str | None


_SELECT = select(
    principals.c.id, principals.c.name, principals.c.role, principals.c.created_at, principals.c.disabled_at
)
_BY_KEY_HASH = _SELECT.where(principals.c.key_hash == bindparam("digest"), principals.c.disabled_at.is_(None))
_BY_KEY_HASH_LOCKED = _BY_KEY_HASH.with_for_update()
_BY_NAME = _SELECT.where(principals.c.name == bindparam("name"))
_PAGE = _SELECT.where(principals.c.id > bindparam("after")).order_by(principals.c.id).limit(bindparam("most"))
_ENABLED_ADMINS = (
    select(principals.c.id)
    .where(principals.c.role == "admin", principals.c.disabled_at.is_(None))
    .order_by(principals.c.id)  # the same order for all, or two could wait for each other
    .with_for_update()
)
_ANY = select(principals.c.id).limit(1)
_INSERT = upsert(
    principals, lambda insert: insert.on_conflict_do_nothing(index_elements=["name"]).returning(principals.c.id)
)
_REPLACE_KEY = update(principals).where(principals.c.id == bindparam("principal")).values(key_hash=bindparam("digest"))
_DISABLE = update(principals).where(principals.c.id == bindparam("principal")).values(disabled_at=bindparam("since"))


def by_key_hash(session: Session, digest: bytes) -> Principal | None:
    """The principal whose key has this SHA-256, unless it is disabled."""
    row = session.row(_BY_KEY_HASH, digest=digest)
    return None if row is None else Principal(*row)


def locked_by_key_hash(transaction: WriteSession, digest: bytes) -> Principal | None:
    """As `by_key_hash`, and nobody else replaces the key until the end of the transaction."""
    row = transaction.row(_BY_KEY_HASH_LOCKED, digest=digest)
    return None if row is None else Principal(*row)


def by_name(session: Session, name: str) -> Principal | None:
    """The principal of this name, disabled or not."""
    row = session.row(_BY_NAME, name=name)
    return None if row is None else Principal(*row)


def page(session: Session, after: str | None, limit: int) -> list[Principal]:
    """At most `limit` principals, oldest first, from behind the one that is named `after`.

    Raises:
        InvalidRequestError: nobody is named `after`.
    """
    start = 0
    if after is not None:
        last = by_name(session, after)
        if last is None:
            raise InvalidRequestError(("after", "names nothing in this list"))
        start = last.id
    return [Principal(*row) for row in session.rows(_PAGE, after=start, most=limit)]


def insert(transaction: WriteSession, name: str, role: str, digest: bytes, at: str) -> Principal:
    """Make a principal.

    Raises:
        NameTakenError: the name was given before, even to a principal disabled since.
    """
    row = transaction.change_returning(
        _INSERT[transaction.dialect], name=name, role=role, key_hash=digest, created_at=at, disabled_at=None
    )
    if row is None:
        raise NameTakenError
    return Principal(row.id, name, role, at, None)


def replace_key(transaction: WriteSession, principal_id: int, digest: bytes) -> None:
    """Give a principal another key; the old one stops working when this commits."""
    transaction.change(_REPLACE_KEY, principal=principal_id, digest=digest)


def disable(transaction: WriteSession, principal_id: int, at: str) -> None:
    """Take a principal's rights away."""
    transaction.change(_DISABLE, principal=principal_id, since=at)


def count_enabled_admins(transaction: WriteSession) -> int:
    """How many admins there are, locked until the end of the transaction: two cannot disable each other at once."""
    return len(transaction.rows(_ENABLED_ADMINS))


def any_exists(session: Session) -> bool:
    """Whether the database has any principal at all."""
    return session.row(_ANY) is not None
