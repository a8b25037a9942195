"""The calls of the API about figures and their viewers."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from snapledger_client.calls import Call, Match, Pages, _list_pages, _make_body, _make_path, _read_nothing
from snapledger_client.derived_statistics import DerivedStatistic
from snapledger_client.models.batches import Batch
from snapledger_client.models.figures import Figure, FigureReader, Viewer
from snapledger_client.models.releases import Release
from snapledger_client.statistics import Statistic

Releases: TypeAlias = str | Release | Batch | Sequence[str | Release]
"""One release, all of a batch, or several; each as the answer or by its id."""


def list_figures(dataset: str | None, search: str | None) -> Pages[Figure]:
    """List the figures that the caller may see, of one dataset or of all."""
    path = _make_path("figures") if dataset is None else _make_path("datasets", dataset, "figures")
    return _list_pages(path, "figures", Figure.model_validate, {} if search is None else {"search": search})


def get_feed() -> Call[str]:
    """Get the Atom feed of the latest figures."""
    return Call("GET", _make_path("figures.atom"), bytes.decode, headers={"Accept": "application/atom+xml"})


def get_reader() -> Call[FigureReader]:
    """Get who the caller is."""
    return Call("GET", _make_path("figures", "reader"), FigureReader.parse)


def get_figure(dataset: str, figure: str, version: int | None) -> Call[Figure]:
    """Get a figure with its rows: its latest version, or one by its number."""
    path = _make_path("datasets", dataset, "figures", figure)
    return Call("GET", path if version is None else f"{path}/versions/{version}", Figure.parse)


def list_figure_versions(dataset: str, figure: str) -> Pages[Figure]:
    """List the versions of a figure."""
    path = _make_path("datasets", dataset, "figures", figure, "versions")
    return _list_pages(path, "versions", Figure.model_validate)


def publish_figure(  # noqa: PLR0913, PLR0917 - the members of the request
    dataset: str,
    figure: str,
    title: str,
    note: str | None,
    releases: Releases,
    statistic: Statistic | None,
    derived: DerivedStatistic | None,
    options: Mapping[str, Any],
    if_match: Match | None,
    *,
    public: bool,
    only_new: bool,
) -> Call[Figure]:
    """Publish an answer as a figure; the same again changes nothing."""
    body: dict[str, Any] = {"title": title, "note": note}
    answers = _list_answers(releases, as_released=statistic is not None)
    ids = [each["release"] for each in answers]
    if any(len(each) > 1 for each in answers):
        body["answers"] = answers
    elif len(ids) == 1:
        body["release"] = ids[0]
    elif ids:
        body["releases"] = ids
    if statistic is not None:
        body["statistic"] = dict(statistic)
    if derived is not None:
        body["derived"] = _make_body(options, derived=derived)
    if public:
        body |= {"audience": "public", "confirm_public": True}
    path = _make_path("datasets", dataset, "figures", figure)
    return Call("PUT", path, Figure.parse).with_json(body).only_if(if_match).only_if_new(only_new)


def _list_answers(releases: Releases, *, as_released: bool) -> list[dict[str, Any]]:
    """Return the release of each answer, and what was asked if an earlier release answered."""
    if isinstance(releases, Batch):
        releases = releases.items
    answers: list[dict[str, Any]] = []
    for each in [releases] if isinstance(releases, str | Release) else releases:
        if isinstance(each, str):
            answers.append({"release": each})
        elif each.reused and not as_released:
            answers.append({"release": each.id, "statistic": dict(each.statistic), "alpha": each.accuracy.alpha})
        else:
            answers.append({"release": each.id})
    return answers


def withdraw_figure(dataset: str, figure: str, if_match: Match | None) -> Call[None]:
    """Withdraw a figure in all its versions."""
    path = _make_path("datasets", dataset, "figures", figure)
    return Call("DELETE", path, _read_nothing, repeatable=False).only_if(if_match)


def list_viewers(dataset: str) -> Pages[Viewer]:
    """List who may see a dataset's figures."""
    return _list_pages(_make_path("datasets", dataset, "viewers"), "viewers", Viewer.model_validate)


def get_viewer(dataset: str, principal: str) -> Call[Viewer]:
    """Get a viewer of a dataset's figures."""
    return Call("GET", _make_path("datasets", dataset, "viewers", principal), Viewer.parse)


def grant_viewer(dataset: str, principal: str) -> Call[None]:
    """Let a principal see a dataset's figures."""
    return Call("PUT", _make_path("datasets", dataset, "viewers", principal), _read_nothing)


def revoke_viewer(dataset: str, principal: str) -> Call[None]:
    """Revoke a principal's access to a dataset's figures."""
    return Call("DELETE", _make_path("datasets", dataset, "viewers", principal), _read_nothing, repeatable=False)
