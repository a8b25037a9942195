"""Writes the reference of the HTTP interface from the document that the service itself answers at `/openapi.json`."""

import json
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

from app.config import Settings
from app.main import create_app

PAGE = "http"
PLACE = "<!-- the reference -->"
METHODS = ("get", "post", "put", "delete")


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _limits(schema: dict[str, Any]) -> str:
    ends = [
        ("minimum", "≥"),
        ("exclusiveMinimum", ">"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "<"),
        ("minLength", "length ≥"),
        ("maxLength", "length ≤"),
        ("minItems", "items ≥"),
        ("maxItems", "items ≤"),
    ]
    told = [f"{sign} {schema[name]:,}" for name, sign in ends if name in schema]
    return f" ({', '.join(told)})" if told else ""


def _choice(schema: dict[str, Any]) -> str | None:
    """A schema that is one of several, or one of some values, in words; None where it is neither."""
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[union]))
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    return " or ".join(f"`{json.dumps(each)}`" for each in values) or None


def _array(schema: dict[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(map(_type, schema['prefixItems']))}]"
    return f"[{_type(schema.get('items', {}))}, …]{_limits(schema)}"


def _type(schema: dict[str, Any]) -> str:
    """A schema's type in words, with links to the models that it names."""
    if "$ref" in schema:
        return _link(schema["$ref"].rsplit("/", 1)[-1])
    if choice := _choice(schema):
        return choice
    kind = schema.get("type", "any JSON")
    if kind == "array":
        return _array(schema)
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    if kind == "string" and "[0-9]" in schema.get("pattern", ""):
        return "number as string"
    return f"{kind}{_limits(schema)}"


def _meaning(schema: dict[str, Any]) -> str:
    texts = [schema.get("description", "")]
    texts += [each.get("description", "") for union in ("anyOf", "oneOf") for each in schema.get(union, ())]
    return " ".join(dict.fromkeys(text for text in texts if text))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        yield f"| {' | '.join(head)} |"
        yield "|" + " --- |" * len(head)
        yield from (f"| {' | '.join(map(_cell, row))} |" for row in rows)
        yield ""


def _folded(title: str, value: object) -> Iterator[str]:
    text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
    language = "text" if isinstance(value, str) else "json"
    yield from (f"<details><summary>{title}</summary>", "", f"```{language}", text, "```", "", "</details>", "")


def _examples(title: str, content: dict[str, Any]) -> Iterator[str]:
    for media in content.values():
        for name, example in media.get("examples", {}).items():
            yield from _folded(f"{title}: {name}", example["value"])


def _operation(path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    yield from (f"### `{method.upper()} {path}`", "", operation.get("description", ""), "")
    parameters = [
        (f"`{each['name']}`", each["in"], _type(each["schema"]), each.get("description", ""))
        for each in operation.get("parameters", ())
    ]
    yield from _table(("parameter", "in", "type", "meaning"), parameters)
    if body := operation.get("requestBody"):
        for media, content in body["content"].items():
            yield from (f"**Body** (`{media}`): {_type(content['schema'])}", "")
        yield from _examples("A body", body["content"])
    rows = []
    for status, answer in operation["responses"].items():
        models = {_type(content["schema"]) for content in answer.get("content", {}).values() if "schema" in content}
        rows.append((status, " or ".join(sorted(models)), answer["description"]))
    yield from _table(("status", "answer", "meaning"), rows)
    for status, answer in operation["responses"].items():
        yield from _examples(f"An answer {status}", answer.get("content", {}))


def _model(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield from (f"### {name}", "", schema.get("description", ""), "")
    rows = []
    for field, of_field in schema.get("properties", {}).items():
        needed = "always" if field in schema.get("required", ()) else ""
        rows.append((f"`{field}`", _type(of_field), needed, _meaning(of_field)))
    yield from _table(("member", "type", "given", "meaning"), rows)
    if not rows:
        yield from (f"{_type(schema)}", "")


def reference(document: dict[str, Any]) -> str:
    """An OpenAPI document as Markdown: every operation by its tag, then every model."""
    lines: list[str] = []
    operations = [
        (operation["tags"][0], path, method, operation)
        for path, of_path in document["paths"].items()
        for method, operation in of_path.items()
        if method in METHODS
    ]
    for tag in dict.fromkeys(tag for tag, *_ in operations):
        lines += [f"## {tag.capitalize()}", ""]
        for of_tag, path, method, operation in operations:
            if of_tag == tag:
                lines += _operation(path, method, operation)
    lines += ["## Models", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += _model(name, schema)
    return "\n".join(lines)


def _write(_: Sphinx, name: str, source: list[str]) -> None:
    if name == PAGE:
        document = create_app(Settings()).openapi()
        assert PLACE in source[0]
        source[0] = source[0].replace(PLACE, f"{document['info']['description']}\n{reference(document)}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill the page when it is read."""
    app.connect("source-read", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
