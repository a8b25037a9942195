"""What JSON Schema says of a model beyond the types of its members."""

from typing import Any

from pydantic import WithJsonSchema


def _given(member: str) -> dict[str, Any]:
    """Return the schema of objects that have a member, and not as null, which stands for an absent one.

    It allows other members in words, because Redocly does not allow them in examples otherwise.
    """
    not_null = {"not": {"type": "null"}}
    return {"required": [member], "properties": {member: not_null}, "additionalProperties": True}


def exactly_one_of(first: str, *others: str) -> dict[str, Any]:
    """Return the schema of objects that have exactly one of these members.

    It is a chain of conditions, since generators of clients lose the properties of a model that has `oneOf` too.
    """
    if not others:
        return _given(first)
    another = [_given(each) for each in others]
    no_other = {"not": another[0] if len(another) == 1 else {"anyOf": another}}
    return {"if": _given(first), "then": no_other, "else": exactly_one_of(*others)}


def one_of_characters(pattern: str) -> WithJsonSchema:
    """Return the schema of one character as a pattern: generators of clients cannot name punctuation in an `enum`."""
    return WithJsonSchema({"type": "string", "pattern": f"^[{pattern}]$"})
