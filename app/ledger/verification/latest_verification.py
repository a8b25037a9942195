"""The latest verification of each ledger: when, by whom, and what it found.

It is stored so that everybody sees the same, whichever process verified, and so that an incremental verification
can start from it. A row that does not match its seal is not
shown: only somebody with the secret can say that a ledger was found valid.
"""

from dataclasses import dataclass

from sqlalchemy import bindparam, select

from app.db.dialects.upsert import upsert
from app.db.session import Session, WriteSession
from app.db.tables import verifications
from app.ledger.chain.audit_log import Actor
from app.ledger.chain.keyring import Keyring, Seal
from app.ledger.verification.results import Verification, VerifiedState, decode_state

VERSION = "snapledger-verification-v2"


@dataclass(frozen=True, slots=True)
class LatestVerification:
    """The latest verification of a ledger. The fields are the columns, in order.

    Attributes:
        ledger: the path of the ledger below `/v1`, or `audit`.
        via, actor: who verified it, as in the audit log.
        entries, problems: how many entries there were, and how many problems were found.
        seal: the seal of all other fields.
        state: what an incremental verification may start from.
    """

    ledger: str
    at: str
    via: str
    actor: str | None
    entries: int
    problems: int
    seal: bytes
    state: VerifiedState | None


_FIND = select(verifications).where(verifications.c.ledger == bindparam("of_ledger"))
_STORE = upsert(
    verifications,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["ledger"],
        set_={name: insert.excluded[name] for name in ("at", "via", "actor", "entries", "problems", "seal", "state")},
        where=verifications.c.at <= insert.excluded["at"],
    ),
)


def store_latest(transaction: WriteSession, seal: Seal, ledger: str, by: Actor, found: Verification) -> None:
    """Store the result of a verification, unless a later one is stored."""
    state = None if found.state is None else found.state.encode()
    members = ledger, transaction.time(), by.via, by.name, found.entries, len(found.problems)
    values = *members, seal.seal_row(VERSION, *members, state), state
    transaction.change(_STORE[transaction.dialect], **dict(zip(LatestVerification.__slots__, values, strict=True)))


def find_latest(session: Session, keyring: Keyring, ledger: str) -> LatestVerification | None:
    """Return the latest verification of a ledger; None if there is none, or if it does not match its seal."""
    row = session.row(_FIND, of_ledger=ledger)
    if row is None or not keyring.is_sealed(row.seal, VERSION, *row[:-2], row.state):
        return None
    state = None if row.state is None else decode_state(row.state)
    told = row.ledger, row.at, row.via, row.actor, row.entries, row.problems
    return LatestVerification(*told, row.seal, state)
