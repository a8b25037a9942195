"""The hash chain: what of an entry is sealed, as bytes that every program can make again (docs/ledger.md)."""

import json

VERSION = "snapledger-entry-v1"

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def canonical(  # noqa: PLR0913, PLR0917 - an entry's fields, in the order in which they are sealed
    dataset: str,
    seq: int,
    kind: str,
    principal: str,
    epsilon_nano: int,
    spent_nano: int,
    release_id: str | None,
    answer_hash: bytes | None,
    window_days: int | None,
    reason: str | None,
    at: str,
    secret_id: str,
    previous_hash: bytes | None,
) -> bytes:
    """The bytes of which an entry's hash is the HMAC: a JSON array in the form of RFC 8785, hashes in hexadecimal."""
    return _encode(
        (
            VERSION,
            dataset,
            seq,
            kind,
            principal,
            epsilon_nano,
            spent_nano,
            release_id,
            None if answer_hash is None else answer_hash.hex(),
            window_days,
            reason,
            at,
            secret_id,
            None if previous_hash is None else previous_hash.hex(),
        )
    ).encode()
