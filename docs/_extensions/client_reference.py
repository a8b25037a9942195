"""The reference of the client as its users read it: models with their members and plain types, sentences whole."""

import inspect
import re
import sys
from typing import Any, get_type_hints, is_typeddict

from pydantic import BaseModel
from sphinx.application import Sphinx

import snapledger_client

PAGE = "python"
MODULES = [module for name, module in sys.modules.items() if name.startswith(f"{snapledger_client.__name__}.")]


def _model(named: object) -> bool:
    return isinstance(named, type) and issubclass(named, BaseModel)


def _home(name: str) -> str:
    """The module that gives a type its name, since its docstring stands there."""
    (module,) = {m.__name__ for m in MODULES if re.search(rf"^{name}(?:: .*)? = ", inspect.getsource(m), re.MULTILINE)}
    return module


def _entry(name: str) -> tuple[str, str]:
    """In which part of the page a public name belongs, and the directive that tells of it."""
    named = getattr(snapledger_client, name)
    path = f"{snapledger_client.__name__}.{name}"
    if isinstance(named, type) and issubclass(named, Exception):
        return "exceptions", f".. autoexception:: {path}"
    if inspect.isfunction(named):
        return "questions", f".. autofunction:: {path}"
    if _model(named):
        return "answers", f".. autoclass:: {path}"
    if is_typeddict(named):
        return "questions", f".. autoclass:: {path}"
    if inspect.isclass(named):
        return "services", f".. autoclass:: {path}\n   :inherited-members:"
    return "types", f".. autodata:: {_home(name)}.{name}"


def _write(_: Sphinx, page: str, source: list[str]) -> None:
    if page != PAGE:
        return
    entries = [_entry(name) for name in snapledger_client.__all__]
    for part in dict.fromkeys(part for part, _ in entries):
        place = f"<!-- {part} -->"
        assert place in source[0]
        directives = "\n\n".join(directive for of_part, directive in entries if of_part == part)
        source[0] = source[0].replace(place, f"```{{eval-rst}}\n{directives}\n```")


def _whole_sentences(_: Sphinx, kind: str, *rest: Any) -> None:  # noqa: ANN401 - as Sphinx calls it
    """Napoleon takes what stands before a colon in an attribute's first line for its type, even twice; put it back."""
    if kind not in {"attribute", "data", "property"}:
        return
    lines: list[str] = rest[-1]
    for taken in reversed([line for line in lines if line.startswith(":type: ")]):
        lines.remove(taken)
        lines[0] = f"{taken.removeprefix(':type: ')}: {lines[0]}"


def _without_arguments(_: Sphinx, kind: str, name: str, described: object, *_rest: object) -> tuple[str, str] | None:
    """Nobody makes an answer by hand, which its members describe, or a dataset or a list."""
    del kind, name
    returned = {
        snapledger_client.Dataset,
        snapledger_client.AsyncDataset,
        snapledger_client.Listing,
        snapledger_client.AsyncListing,
    }
    made_for_users = _model(described) or described in returned
    return ("", "") if made_for_users else None


def _plain_types() -> None:
    """Annotations without what tells pydantic how to write a value."""
    for name in snapledger_client.__all__:
        model = getattr(snapledger_client, name)
        if _model(model):
            hints = get_type_hints(model)
            model.__annotations__ = {member: hints[member] for member in model.__annotations__}


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill the page when it is read; come after napoleon, which has the default priority of 500."""
    _plain_types()
    app.connect("source-read", _write)
    app.connect("autodoc-process-docstring", _whole_sentences, priority=600)
    app.connect("autodoc-process-signature", _without_arguments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
