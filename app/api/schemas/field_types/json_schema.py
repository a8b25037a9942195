"""What JSON Schema says of a model beyond the types of its members."""

from typing import Any

from pydantic import GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


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


def _replace_references(schema: Any, plain: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON schema is any value
    if isinstance(schema, list):
        return [_replace_references(each, plain) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return plain
    return {name: _replace_references(each, plain) for name, each in schema.items() if name != "examples"}


class PlainFirst:
    """Describes lists of a named union as lists of one plain type each, and then as lists of the union.

    A client of openapi-generator reads each kind of a union in turn, and fails on lists inside a kind that it should
    only reject. It rejects a union of lists.
    """

    def __init__(self, *types: str) -> None:
        self._types = types

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema."""
        described = handler(schema)
        words = {"description": described.pop("description")}
        choices: list[dict[str, Any]] = []
        for choice in described.get("anyOf", [described]):
            if "$ref" not in choice:
                choices += [_replace_references(choice, {"type": each}) for each in self._types]
            choices.append(choice)
        return {"anyOf": choices} | words
