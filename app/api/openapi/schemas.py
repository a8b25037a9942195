"""The schemas of the OpenAPI document, as readers and generators of clients take them."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

Schema = dict[str, Any]

_INSIDE = ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else")
_INSIDE_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_PREFIX = "#/components/schemas/"


def walk(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and all schemas inside it; references are not followed."""
    yield schema
    inside = [schema[key] for key in _INSIDE if isinstance(schema.get(key), dict)]
    inside += [each for key in _INSIDE_LISTS for each in schema.get(key, ())]
    for each in (*inside, *schema.get("properties", {}).values()):
        yield from walk(each)


def _bodies(document: Schema, part: str) -> Iterator[Schema]:
    for operations in document["paths"].values():
        for operation in operations.values():
            described = operation["responses"].values() if part == "responses" else [operation.get(part, {})]
            for each in described:
                yield from (content["schema"] for content in each.get("content", {}).values() if "schema" in content)


def _find_names(schemas: Schema, start: Iterable[Schema]) -> set[str]:
    """Return the names of the schemas that some schemas refer to, directly or through others."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        for each in walk(waiting.pop()):
            name = each.get("$ref", "").removeprefix(_PREFIX)
            if name and name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return found


def _own_description(schemas: Schema, member: Schema) -> str | None:
    """Return the words for a member that has none of its own: those of its type."""
    if "description" in member:
        return str(member["description"])
    if "const" in member:
        return f"Always `{member['const']}`."
    if "$ref" in member:
        text = schemas[member["$ref"].removeprefix(_PREFIX)].get("description", "")
        return " ".join(text.split("\n\n")[0].split()) or None
    choices = [each for each in member.get("anyOf", ()) if each != {"type": "null"}]
    return _own_description(schemas, choices[0]) if len(choices) == 1 else None


def _describe_members(schemas: Schema) -> None:
    """Describe each member, and say its default in words.

    `openapi-typescript` makes a member required that has a default.
    """
    for schema in schemas.values():
        for member in schema.get("properties", {}).values():
            words = [_own_description(schemas, member)]
            for choice in member.get("anyOf", ()):
                choice.pop("description", None)
            default = member.pop("default", None)
            if default is not None:
                words.append(f"Default: `{json.dumps(default, ensure_ascii=False)}`.")
            if any(words):
                member["description"] = " ".join(filter(None, words))


def tidy_schemas(document: Schema) -> None:
    """Make the schemas of a document readable, and those of answers open to members that a later version adds.

    A schema of requests alone stays closed, since the service refuses unknown members. A schema that answers have too,
    such as a statistic, is open: a client must accept what a later version answers.
    """
    schemas: Schema = document["components"]["schemas"]
    asked, answered = (_find_names(schemas, _bodies(document, part)) for part in ("requestBody", "responses"))
    for name in schemas.keys() - asked - answered:
        del schemas[name]
    for name, schema in schemas.items():
        for each in walk(schema):
            each.pop("title", None)
            if name in answered and "type" in each and isinstance(each.get("additionalProperties"), bool):
                del each["additionalProperties"]
    _describe_members(schemas)
    for operations in document["paths"].values():
        for parameter in (each for operation in operations.values() for each in operation.get("parameters", ())):
            if parameter["schema"].get("default") in {None, ""}:
                parameter["schema"].pop("default", None)
