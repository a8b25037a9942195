"""JSON arrays in the form of RFC 8785. Hashes and seals are computed over them (docs/ledger.md)."""

from pydantic_core import to_json

Member = str | int | bytes | None


def encode_array(*members: Member) -> bytes:
    """A JSON array of texts, whole numbers and nulls, with bytes in hexadecimal."""
    return to_json(members, bytes_mode="hex")
