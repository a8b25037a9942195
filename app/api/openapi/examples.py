"""Examples for the OpenAPI document: one story, told call by call. A test tells it to a service and compares."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class Example(NamedTuple):
    """A call and its answer. `parameters` fill the path; `caller` is who calls, in the story's words."""

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
    """The calls, in their order."""
    return [Example(**call) for call in json.loads((files("app.api.openapi") / "examples.json").read_text("utf-8"))]


def add_examples(document: dict[str, Any]) -> None:
    """Give each operation of an OpenAPI document its examples."""
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
    # The one body that comes in two forms is told apart as the service does.
    is_upload = isinstance(value, dict) and "file" in value
    content = media["multipart/form-data"] if is_upload else next(media[form] for form in media if "json" in form)
    content.setdefault("examples", {})[name] = {"value": value}
