"""The hash chain: the canonical bytes of an entry, which any program can reproduce (docs/ledger.md)."""

from json.encoder import encode_basestring

VERSION = "snapledger-entry-v1"
VERSION_WITH_FACTS = "snapledger-entry-v2"


def canonical_bytes(  # noqa: PLR0913, PLR0917 - an entry's fields, in the order in which they are sealed
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
    facts_hash: bytes | None = None,
) -> bytes:
    """The bytes that an entry's HMAC is computed over: a JSON array in the form of RFC 8785, with hashes as hex.

    An entry with a hash of the dataset's facts has this hash as an additional last member, and another version. The
    form of other entries is unchanged.

    The array is written out by hand because a general encoder takes three times as long, and verification spends most
    of its time here.
    """
    release = "null" if release_id is None else encode_basestring(release_id)
    answer = "null" if answer_hash is None else f'"{answer_hash.hex()}"'
    window = "null" if window_days is None else window_days
    why = "null" if reason is None else encode_basestring(reason)
    previous = "null" if previous_hash is None else f'"{previous_hash.hex()}"'
    version, facts = (VERSION, "") if facts_hash is None else (VERSION_WITH_FACTS, f',"{facts_hash.hex()}"')
    return (
        f'["{version}",{encode_basestring(dataset)},{seq},{encode_basestring(kind)},{encode_basestring(principal)},'
        f"{epsilon_nano},{spent_nano},{release},{answer},{window},{why},{encode_basestring(at)},"
        f"{encode_basestring(secret_id)},{previous}{facts}]"
    ).encode()
