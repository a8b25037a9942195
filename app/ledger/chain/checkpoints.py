"""Checkpoints: the signed heads of all chains at some time, for storage outside the ledger's machine.

A chain proves the order of its entries. It cannot prove that the whole ledger was not rolled back to an earlier state,
for example from a backup. A later checkpoint can, and checking its signature needs no secret. docs/ledger.md describes
the format.
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
    """The heads at a time by the database's clock, sorted by the datasets' names.

    Attributes:
        at: the time.
        heads: the heads of the datasets' chains.
        audit: the head of the audit log; None if it was empty.
        public_key: the Ed25519 key that checks the signature, 32 bytes.
        signature: the signature of `signed`, 64 bytes.
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
        """The signed bytes: all members except the signature as JSON in the form of RFC 8785."""
        return _encode(self._members()).encode()

    def encode(self) -> bytes:
        """The content of a checkpoint file: all members in the same form, followed by a line feed."""
        return _encode(self._members() | {"signature": self.signature.hex()}).encode() + b"\n"

    def require_signature(self, public_keys: Collection[bytes]) -> None:
        """Check that one of these keys signed the checkpoint.

        Raises:
            ValueError: another key signed it, or the signature is not valid.
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
    """Return what does not contain the checkpoint's heads: the names of datasets, and `ACTS` for the audit log."""
    found = chain_heads.find_behind(session, known.heads)
    acts_behind = known.audit is not None and not audit_log.chain_contains(session, known.audit)
    return [*found, ACTS] if acts_behind else found


def decode_checkpoint(content: bytes) -> Checkpoint:
    """Parse the content of a checkpoint file.

    Raises:
        ValueError: it is not a checkpoint, or not in the canonical form.
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
    """Validate the bytes of an Ed25519 public key and return them.

    Raises:
        ValueError: they are not a public key.
    """
    return Ed25519PublicKey.from_public_bytes(raw).public_bytes_raw()
