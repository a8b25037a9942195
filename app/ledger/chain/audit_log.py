"""The record of administrative acts: who did what to what, when, and in which request.

Records are numbered from 1 without a gap, appended in the transaction of what they tell of, and never changed. As in a
dataset's ledger each seals all before it (docs/ledger.md).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import bindparam, func, insert, select

from app.db.session import Session, WriteSession
from app.db.tables import audit
from app.ledger.chain.canonical_json import encode_array
from app.ledger.chain.keyring import Seal

VERSION = "snapledger-audit-v1"
_KEY_VERSION = b"snapledger-key-v1\n"
_APPENDING = 7_309_475_598_860_382_561  # the advisory lock's name: any number that nobody else uses

Via = Literal["principal", "command", "service"]
Detail: TypeAlias = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a principal by its name; who ran a command, by the system's name for it; or the service by itself."""

    via: Via
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One administrative act. The fields are the columns, in order.

    Attributes:
        via, actor: as of `Actor`.
        action: such as `principal.create`.
        target: on whom or what, as its path below `/v1`; None where it is the whole database.
        details: a JSON object: public facts of the act, never a key, a token or a value of the data.
        request_id: of the request that did it; None where none did.
        secret_id: which of the operator's secrets sealed it.
        previous_hash, hash: of the record before (None before the first), and its own.
    """

    seq: int
    via: str
    actor: str | None
    action: str
    target: str | None
    details: str
    request_id: str | None
    at: str
    secret_id: str
    previous_hash: bytes | None
    hash: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """The last record at some time: its number and its hash."""

    seq: int
    hash: bytes


_LAST = select(audit.c.seq, audit.c.hash, audit.c.secret_id).order_by(audit.c.seq.desc()).limit(1)
_HASH = select(audit.c.hash).where(audit.c.seq == bindparam("number"))
_LOCK = select(func.pg_advisory_xact_lock(_APPENDING))
_INSERT = insert(audit).inline()
_PAGE = select(audit).where(audit.c.seq > bindparam("after")).order_by(audit.c.seq).limit(bindparam("most"))

encode_details = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True).encode


def canonical_bytes(*sealed: str | int | bytes | None) -> bytes:
    """The bytes of which a record's hash is the HMAC: a JSON array in the form of RFC 8785, hashes in hexadecimal.

    `sealed` are the columns but the last, in their order.
    """
    return encode_array(VERSION, *sealed)


def key_seal(seal: Seal, key_hash: bytes) -> str:
    """What a record tells of a key: it shows whether the key is another, and without the secret nothing of it."""
    return seal.hash(_KEY_VERSION + key_hash)[:16].hex()


def append_record(  # noqa: PLR0913, PLR0917 - who, what, on what, in which request
    transaction: WriteSession,
    seal: Seal,
    by: Actor,
    action: str,
    target: str | None,
    details: Mapping[str, Detail],
    request_id: str | None,
) -> Record:
    """Write the next record, as the last thing before the commit: from here on nobody else writes one.

    Its time is the database's, read once nobody else can write one.
    """
    if transaction.dialect == "postgresql":  # on SQLite the transaction itself is the lock
        transaction.row(_LOCK)
    last = transaction.row(_LAST)
    seq, head = (0, None) if last is None else (last.seq, last.hash)
    sealed = (
        *(seq + 1, by.via, by.name, action, target, encode_details(details), request_id, transaction.time()),
        *(seal.secret_id, head),
    )
    record = Record(*sealed, hash=seal.hash(canonical_bytes(*sealed)))
    transaction.change(_INSERT, **{name: getattr(record, name) for name in Record.__slots__})
    return record


def page_of_records(session: Session, after: int, limit: int) -> list[Record]:
    """At most `limit` records, oldest first, from behind the one numbered `after`."""
    return [Record(*row) for row in session.rows(_PAGE, after=after, most=limit)]


def find_last_secret_id(session: Session) -> str | None:
    """Under which secret the last record was sealed; None where there is none."""
    last = session.row(_LAST)
    return None if last is None else last.secret_id


def find_head(session: Session) -> Head | None:
    """Where the records end; None where there is none."""
    last = session.row(_LAST)
    return None if last is None else Head(last.seq, last.hash)


def chain_contains(session: Session, known: Head) -> bool:
    """Whether the chain goes through a head that is known; otherwise it lacks records, or has others."""
    row = session.row(_HASH, number=known.seq)
    return row is not None and row.hash == known.hash
