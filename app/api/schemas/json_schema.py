"""What JSON Schema says of a model beyond the types of its members."""

from typing import Any

from pydantic import WithJsonSchema


def _given(member: str, *, nullable: bool) -> dict[str, Any]:
    """Return the schema of objects that have a member, and not as null, which stands for an absent one."""
    present: dict[str, Any] = {"required": [member]}
    return present | {"properties": {member: {"not": {"type": "null"}}}} if nullable else present


def exactly_one_of(*members: str, nullable: bool = True) -> dict[str, Any]:
    """Return the schema of objects that have exactly one of these members.

    It is a chain of conditions, since generators of clients lose the properties of a model that has `oneOf` too.

    Args:
        members: two or more names.
        nullable: whether null stands for an absent member.
    """
    first, *others = members
    given = _given(first, nullable=nullable)
    if not others:
        return given
    another = {"anyOf": [_given(each, nullable=nullable) for each in others]}
    return {"if": given, "then": {"not": another}, "else": exactly_one_of(*others, nullable=nullable)}


def one_of_characters(pattern: str) -> WithJsonSchema:
    """Return the schema of one character as a pattern: generators of clients cannot name punctuation in an `enum`."""
    return WithJsonSchema({"type": "string", "pattern": f"^[{pattern}]$"})
