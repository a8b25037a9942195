"""The audit log of administrative acts: who did what to what, when, and in which request.

Records are numbered from 1 without a gap. Each is appended in the transaction of the act itself and never changed. As
in a dataset's ledger, each record's hash includes the hash before it (docs/ledger.md).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import bindparam, func, insert, select

from app.db.page_queries import MAX_NUMBER, page_queries
from app.db.session import Session, WriteSession
from app.db.tables import audit
from app.ledger.chain.canonical_json import encode_array
from app.ledger.chain.keyring import Seal

VERSION = "snapledger-audit-v1"
_KEY_VERSION = b"snapledger-key-v1\n"
_APPENDING = 7_309_475_598_860_382_561  # the advisory lock's number: any number that nothing else uses

Via = Literal["principal", "command", "service"]
Detail: TypeAlias = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a principal by its name, the user of a command by the operating system's name, or the service."""

    via: Via
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One administrative act. The fields are the columns, in order.

    Attributes:
        via, actor: the fields of `Actor`.
        action: the name of the act, such as `principal.create`.
        target: the path below `/v1` of what the act changed; None if it concerns the whole database.
        details: a JSON object with public facts of the act, never a key, a token or a value of the data.
        request_id: the id of the request that did it; None if it was not a request.
        secret_id: the id of the operator's secret that sealed the record.
        previous_hash, hash: the hash of the record before (None for the first record), and the record's own hash.
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
    """The number and the hash of the last record at some time."""

    seq: int
    hash: bytes


_LAST = select(audit.c.seq, audit.c.hash, audit.c.secret_id).order_by(audit.c.seq.desc()).limit(1)
_HASH = select(audit.c.hash).where(audit.c.seq == bindparam("number"))
_LOCK = select(func.pg_advisory_xact_lock(_APPENDING))
_INSERT = insert(audit).inline()
_PAGE = page_queries(select(audit), audit.c.seq)

encode_details = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True).encode


def canonical_bytes(*sealed: str | int | bytes | None) -> bytes:
    """The bytes that a record's HMAC is computed over: a JSON array in the form of RFC 8785, with hashes as hex.

    `sealed` are all columns except the last, in their order.
    """
    return encode_array(VERSION, *sealed)


def key_seal(seal: Seal, key_hash: bytes) -> str:
    """Return a keyed hash of an API key for a record: it shows whether the key has changed and reveals nothing else."""
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
    """Append the next record. Call it last before the commit, because it blocks all other writers of records.

    The record's time is read from the database's clock after the lock is held, so times follow the records' order.
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


def page_of_records(session: Session, after: int | None, limit: int, *, newest: bool = False) -> list[Record]:
    """At most `limit` records, oldest or newest first, that follow the record with the number `after`."""
    start = after if after is not None else MAX_NUMBER if newest else 0
    return [Record(*row) for row in session.rows(_PAGE.choose(newest=newest), after=start, most=limit)]


def find_last_secret_id(session: Session) -> str | None:
    """The id of the secret that sealed the last record; None if there are no records."""
    last = session.row(_LAST)
    return None if last is None else last.secret_id


def find_head(session: Session) -> Head | None:
    """The head of the audit log; None if there are no records."""
    last = session.row(_LAST)
    return None if last is None else Head(last.seq, last.hash)


def find_ledger_id(session: Session) -> str:
    """An id that only copies of this ledger share: it follows from the hash of the first record, which never changes.

    A ledger without records has the id of nothing.
    """
    first = session.row(_HASH, number=1)
    return hashlib.sha256(b"" if first is None else first.hash).hexdigest()


def chain_contains(session: Session, known: Head) -> bool:
    """Whether the chain contains a known head. If not, records are missing or were replaced."""
    row = session.row(_HASH, number=known.seq)
    return row is not None and row.hash == known.hash
