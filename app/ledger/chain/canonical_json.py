"""JSON arrays in the form of RFC 8785. Hashes and seals are computed over them (docs/ledger.md)."""

from json.encoder import encode_basestring

Member = str | int | bytes | None


def encode_array(*members: Member) -> bytes:
    """A JSON array of texts, whole numbers and nulls, with bytes in hexadecimal."""
    return f"[{','.join(map(_encode, members))}]".encode()


def _encode(member: Member) -> str:
    if isinstance(member, str):
        return encode_basestring(member)
    if isinstance(member, bytes):
        return f'"{member.hex()}"'
    return "null" if member is None else str(member)
