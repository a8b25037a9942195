"""JSON arrays in the form of RFC 8785. Hashes and seals are computed over them (docs/ledger.md)."""

from json.encoder import encode_basestring

Member = str | int | bytes | None


def encode_array(*members: Member) -> bytes:
    """A JSON array of texts, whole numbers and nulls, with bytes in hexadecimal."""
    return f"[{','.join(map(_encode, members))}]".encode()


def _encode(member: Member) -> str:
    match member:
        case None:
            return "null"
        case bytes():
            return f'"{member.hex()}"'
        case str():
            return encode_basestring(member)
    return str(member)
