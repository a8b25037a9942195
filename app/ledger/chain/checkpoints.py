"""Checkpoints: the heads of all chains at some time, signed, to be kept where nobody can turn them back.

A chain seals the order of what it holds; that all of it was put back to an earlier state, as from a backup, it cannot
show. Who has a later checkpoint can, and needs no secret to check its signature (docs/ledger.md has the format).
"""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from app.db.session import Session
from app.ledger.chain import audit_log, chain_heads
from app.ledger.chain.chain_heads import Head
from app.ledger.chain.keyring import Keyring

VERSION = "snapledger-checkpoint-v1"
ACTS = "administrative acts"

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True).encode


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The heads at a time by the database's clock, in the order of the datasets' names.

    Attributes:
        audit: of the record of administrative acts; None where there was none.
        public_key: the Ed25519 key that checks the signature, 32 bytes.
        signature: of `signed`, 64 bytes.
    """

    at: str
    heads: tuple[Head, ...]
    audit: audit_log.Head | None
    public_key: bytes
    signature: bytes = b""

    def _members(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "at": self.at,
            "heads": [asdict(head) | {"hash": head.hash.hex()} for head in self.heads],
            "audit": None if self.audit is None else {"seq": self.audit.seq, "hash": self.audit.hash.hex()},
            "public_key": self.public_key.hex(),
        }

    @property
    def signed(self) -> bytes:
        """What the signature is of: all other members as JSON in the form of RFC 8785."""
        return _encode(self._members()).encode()

    def encode(self) -> bytes:
        """The file: all members in the same form, and a line feed."""
        return _encode(self._members() | {"signature": self.signature.hex()}).encode() + b"\n"

    def require_signature(self, public_keys: Collection[bytes]) -> None:
        """Refuse what none of the holders of these keys' secrets has signed.

        Raises:
            ValueError: the signature is another's, or of something else.
        """
        if self.public_key not in public_keys:
            raise ValueError("the checkpoint was signed with another key than the given one")
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(self.signature, self.signed)
        except InvalidSignature:
            raise ValueError("the checkpoint's signature is not valid") from None


def make_checkpoint(session: Session, keyring: Keyring) -> Checkpoint:
    """A checkpoint of the session's snapshot."""
    public_key = keyring.public_keys[0]
    unsigned = Checkpoint(
        session.time(), tuple(chain_heads.list_heads(session)), audit_log.find_head(session), public_key
    )
    return replace(unsigned, signature=keyring.sign(unsigned.signed))


def find_behind(session: Session, known: Checkpoint) -> list[str]:
    """What is behind a checkpoint: datasets by their names, and the record of administrative acts."""
    found = chain_heads.find_behind(session, known.heads)
    acts_behind = known.audit is not None and not audit_log.chain_contains(session, known.audit)
    return [*found, ACTS] if acts_behind else found


def decode_checkpoint(content: bytes) -> Checkpoint:
    """A checkpoint's file.

    Raises:
        ValueError: it is none, or not in the one form that a checkpoint has.
    """
    try:
        members = json.loads(content)
        decoded = Checkpoint(
            members["at"],
            tuple(Head(**head | {"hash": bytes.fromhex(head["hash"])}) for head in members["heads"]),
            members["audit"] and audit_log.Head(members["audit"]["seq"], bytes.fromhex(members["audit"]["hash"])),
            bytes.fromhex(members["public_key"]),
            bytes.fromhex(members["signature"]),
        )
        if decoded.encode() == content:
            return decoded
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise ValueError("the checkpoint cannot be read: it is malformed")


def parse_public_key(raw: bytes) -> bytes:
    """The bytes of a public key, if they are that.

    Raises:
        ValueError: they are not.
    """
    return Ed25519PublicKey.from_public_bytes(raw).public_bytes_raw()
