"""The keys of the ledger, all derived from its operator's secrets (HKDF, RFC 5869, with SHA-256 and no salt).

Four values are derived from each secret: a public id, which is stored with everything that the secret seals; the key
of the hash chain; the seed of the Ed25519 key that signs checkpoints; and the key that encrypts what browsers keep.
Secrets and keys are never shown, logged or stored in a table.
"""

import hmac
from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.ledger.chain.canonical_json import Member, encode_array

MIN_SECRET_LENGTH = 32
"""In characters. HKDF adds no entropy, so a short secret would stay weak."""

ID_BYTES = 8


def _derive_key(secret: bytes, purpose: str, length: int) -> bytes:
    return HKDF(SHA256(), length, salt=None, info=f"snapledger/v1/{purpose}".encode()).derive(secret)


class Seal:
    """Computes hashes and seals under one secret."""

    __slots__ = ("_id", "_keyed", "secret_id")

    def __init__(self, secret: str) -> None:
        raw = secret.encode()
        self._keyed = HMAC(_derive_key(raw, "chain", 32), SHA256())
        self._id = _derive_key(raw, "secret-id", ID_BYTES)
        self.secret_id = self._id.hex()

    def hash(self, canonical: bytes) -> bytes:
        """HMAC-SHA-256 of an entry's canonical bytes."""
        started = self._keyed.copy()
        started.update(canonical)
        return started.finalize()

    def seal_row(self, version: str, *members: Member) -> bytes:
        """The seal that is stored with a row and reveals changes to it: the secret's id and an HMAC of the members."""
        return self._id + self.hash(encode_array(version, *members))


class Keyring:
    """The current secret's keys, and those of the secrets before it.

    Args:
        secrets: the current secret first.

    Raises:
        ValueError: there is no secret, or one is too short.
    """

    __slots__ = ("_by_id", "_seals", "_signers", "cookie_keys", "seal")

    def __init__(self, secrets: Sequence[str]) -> None:
        if not secrets or min(map(len, secrets)) < MIN_SECRET_LENGTH:
            raise ValueError(f"the ledger's secret must have at least {MIN_SECRET_LENGTH} characters")
        self._seals = {seal.secret_id: seal for seal in map(Seal, reversed(secrets))}
        self._by_id = {bytes.fromhex(secret_id): seal for secret_id, seal in self._seals.items()}
        self._signers = [
            Ed25519PrivateKey.from_private_bytes(_derive_key(secret.encode(), "checkpoint", 32)) for secret in secrets
        ]
        self.cookie_keys = [_derive_key(secret.encode(), "cookies", 32) for secret in secrets]
        self.seal = Seal(secrets[0])

    def find(self, secret_id: str | None) -> Seal | None:
        """The seal of the secret with this id; None if the secret is not configured."""
        return None if secret_id is None else self._seals.get(secret_id)

    def is_sealed(self, stored: bytes | None, version: str, *members: Member) -> bool:
        """Whether a row's seal matches these members under any of the secrets."""
        if not isinstance(stored, bytes):  # SQLite takes any value in any column
            return False
        seal = self._by_id.get(stored[:ID_BYTES])
        return seal is not None and hmac.compare_digest(seal.seal_row(version, *members), stored)

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of a message, by the current secret's key."""
        return self._signers[0].sign(message)

    @property
    def public_keys(self) -> list[bytes]:
        """The keys that check signatures, 32 bytes each: the current secret's key, then the earlier secrets' keys."""
        return [signer.public_key().public_bytes_raw() for signer in self._signers]
