"""The reference of the client as its users read it: models with their members and plain types, sentences whole."""

from typing import Any, get_type_hints

from pydantic import BaseModel
from sphinx.application import Sphinx

import snapledger_client


def _whole_sentences(_: Sphinx, kind: str, *rest: Any) -> None:  # noqa: ANN401 - as Sphinx calls it
    """Napoleon takes what stands before a colon in an attribute's first line for its type; put it back."""
    lines: list[str] = rest[-1]
    taken = [line for line in lines if line.startswith(":type: ")]
    if kind in {"attribute", "data", "property"} and taken:
        lines.remove(taken[0])
        lines[0] = f"{taken[0].removeprefix(':type: ')}: {lines[0]}"


def _without_arguments(_: Sphinx, kind: str, name: str, described: object, *_rest: object) -> tuple[str, str] | None:
    """Nobody makes an answer by hand: its members say what it has."""
    del kind, name
    return ("", "") if isinstance(described, type) and issubclass(described, BaseModel) else None


def _plain_types() -> None:
    """Annotations without what tells pydantic how to write a value."""
    for name in snapledger_client.__all__:
        model = getattr(snapledger_client, name)
        if isinstance(model, type) and issubclass(model, BaseModel):
            hints = get_type_hints(model)
            model.__annotations__ = {member: hints[member] for member in model.__annotations__}


def setup(app: Sphinx) -> dict[str, Any]:
    """Come after napoleon, which has the default priority of 500."""
    _plain_types()
    app.connect("autodoc-process-docstring", _whole_sentences, priority=600)
    app.connect("autodoc-process-signature", _without_arguments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
