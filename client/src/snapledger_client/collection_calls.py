"""The calls of the API about collections of figures and their viewers."""

from collections.abc import Sequence
from typing import Any

from snapledger_client.calls import Call, Match, Pages, _list_pages, _make_path, _read_nothing
from snapledger_client.models.figures import Collection, Viewer


def list_collections(search: str | None) -> Pages[Collection]:
    """List the collections that the caller may see."""
    query = {} if search is None else {"search": search}
    return _list_pages(_make_path("collections"), "collections", Collection.model_validate, query)


def get_collection(name: str) -> Call[Collection]:
    """Get a collection with its figures."""
    return Call("GET", _make_path("collections", name), Collection.parse)


def put_collection(  # noqa: PLR0913 - the members of the request
    name: str,
    title: str,
    figures: Sequence[str],
    note: str | None,
    if_match: Match | None,
    *,
    public: bool,
    only_new: bool,
) -> Call[Collection]:
    """Make or change a collection; the same again changes nothing.

    Raises:
        ValueError: a figure is not the names of a dataset and a figure with a slash between them.
    """
    body: dict[str, Any] = {"title": title, "note": note, "figures": list(map(_name_figure, figures))}
    if public:
        body |= {"audience": "public", "confirm_public": True}
    call = Call("PUT", _make_path("collections", name), Collection.parse)
    return call.with_json(body).only_if(if_match).only_if_new(only_new)


def _name_figure(text: str) -> dict[str, str]:
    dataset, slash, figure = text.partition("/")
    if not (dataset and slash and figure):
        raise ValueError(f"a figure is named by its dataset and its name, such as penguins/body-mass, not {text!r}")
    return {"dataset": dataset, "figure": figure}


def delete_collection(name: str, if_match: Match | None) -> Call[None]:
    """Delete a collection."""
    return Call("DELETE", _make_path("collections", name), _read_nothing, repeatable=False).only_if(if_match)


def list_viewers(name: str) -> Pages[Viewer]:
    """List who may see a collection."""
    return _list_pages(_make_path("collections", name, "viewers"), "viewers", Viewer.model_validate)


def get_viewer(name: str, principal: str) -> Call[Viewer]:
    """Get a viewer of a collection."""
    return Call("GET", _make_path("collections", name, "viewers", principal), Viewer.parse)


def grant_viewer(name: str, principal: str) -> Call[None]:
    """Let a principal see a collection."""
    return Call("PUT", _make_path("collections", name, "viewers", principal), _read_nothing)


def revoke_viewer(name: str, principal: str) -> Call[None]:
    """Revoke a principal's access to a collection."""
    return Call("DELETE", _make_path("collections", name, "viewers", principal), _read_nothing, repeatable=False)
