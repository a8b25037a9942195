"""Examples for the OpenAPI document: one sequence of requests. A test sends them to a service and compares."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class Example(NamedTuple):
    """A request and its response. `parameters` are those of the path; `caller` is the name of the caller."""

    name: str
    caller: str
    method: str
    path: str
    parameters: dict[str, str]
    request: Any
    status: int
    response: Any


@cache
def load_examples() -> list[Example]:
    """Return the examples in the order in which the requests are sent."""
    return [Example(**call) for call in json.loads((files("app.api.openapi") / "examples.json").read_text("utf-8"))]


def add_examples(document: dict[str, Any]) -> None:
    """Add the examples to the operations of an OpenAPI document."""
    for example in load_examples():
        operation = document["paths"][example.path][example.method.lower()]
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                parameter["example"] = example.parameters[parameter["name"]]
        if example.request is not None:
            _add(operation["requestBody"], example.name, example.request)
        if example.response is not None:
            _add(operation["responses"][str(example.status)], example.name, example.response)


def _add(described: dict[str, Any], name: str, value: Any) -> None:  # noqa: ANN401 - JSON is any value
    media = described["content"]
    content = next(media[form] for form in media if "json" in form or form == "multipart/form-data")
    content.setdefault("examples", {})[name] = {"value": value}
