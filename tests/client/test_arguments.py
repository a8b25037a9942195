"""What a method does not take is refused before anything is sent, with the nearest that is right."""

import contextlib
import inspect
import io
import json
import textwrap
from typing import Any

import httpx
import pytest

from snapledger_client import (
    AsyncClient,
    AsyncDataset,
    Client,
    Dataset,
    InvalidRequest,
    covariance,
    histogram,
    item,
    mean,
    median,
    table,
    variance,
)

WHERE = {"region": "north"}
SCREEN = 40
METHODS = [
    (kind, name)
    for kind in (Client, Dataset, AsyncClient, AsyncDataset)
    for name in dir(kind)
    if not name.startswith("_")
]
QUERIES = {"mean", "variance", "count", "histogram", "table", "median", "std", "proportion", "batch", "plan_derived"}


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda d: d.mean("x", epsilom=1), "`mean` takes no `epsilom`: did you mean `epsilon`\\?"),
        (
            lambda d: d.missing("x", where=WHERE, epsilon=1),
            "`missing` takes no `where`: it goes with .*`count`.*`mean`",
        ),
        (lambda d: d.plan(mean("x"), where=WHERE, epsilon=1), "`plan` takes no `where`: it goes with .*`mean`"),
        (lambda d: d.mean("x", nothing_like_it=1), "`mean` takes no `nothing_like_it`: it takes `column`, `bounds`"),
        (lambda d: d.budget(of="ada"), "`budget` takes no `of`: it takes no arguments"),
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_unknown_argument_names_the_nearest(kind: type, ask: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        ask(kind("http://host", "key").dataset("d"))


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: mean("cost", 1), "`bounds` must be a lower and an upper bound, .*ε is given by name"),  # type: ignore[arg-type]
        (lambda: mean("cost", bounds=5000), "`bounds` must be a lower and an upper bound"),  # type: ignore[arg-type]
        (lambda: mean("cost", bounds="0,5000"), "`bounds` must be a lower and an upper bound"),  # type: ignore[arg-type]
        (lambda: histogram("cost", edges=5), "`edges` must be a list of edges"),  # type: ignore[arg-type]
        (lambda: covariance("a", "b", (0, 5)), "`bounds` must have one for each of both columns"),  # type: ignore[arg-type]
        (lambda: table("a", "b", bins=5), "`bins` must have one for each of both columns, .*\\(None, 5\\)"),  # type: ignore[arg-type]
    ],
)
def test_a_value_that_should_be_a_list_is_explained(ask: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        ask()


@pytest.mark.parametrize("curve", [("0.1", 10), 5, ("0.1", 10, 5, 6)])
def test_a_curve_has_its_shape(curve: Any) -> None:
    with pytest.raises(ValueError, match="`curve` must be the first ε, the last ε and the number of points"):
        Client("http://host", "key").dataset("d").plan(mean("x"), epsilon=1, curve=curve)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda d: d.plan(median("x"), epsilon=1), "`plan` takes no quantile, which is derived .* `plan_derived"),
        (lambda d: d.release(mean("x", where=WHERE), epsilon=1), "no mean with `where`, .* use `derive"),
        (lambda d: d.batch([item(histogram("x")), item(median("x"))]), "`batch` takes no quantile"),
        (lambda d: d.variance("x", where=WHERE, epsilon=1), 'missing="exclude"'),
        (lambda d: d.std("x", where=WHERE, epsilon=1), 'missing="exclude"'),
        (lambda d: d.mean("x", guesses={"mean": 1}, epsilon=1), "give one number as `guess`"),
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_what_does_not_go_together_is_explained(kind: type, ask: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ask(kind("http://host", "key").dataset("d"))


@pytest.mark.parametrize(("name", "near"), [("avg", "mean"), ("medain", "median"), ("hist", "histogram")])
def test_an_unknown_method_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=f"has no `{name}`: did you mean `{near}`"):
        getattr(Client("http://host", "key").dataset("d"), name)


@pytest.mark.parametrize(
    ("options", "document"),
    [
        ({"where": WHERE}, {"where": WHERE}),
        ({"group_by": "region"}, {"group_by": "region"}),
        ({"weight": "hours"}, {"weight": "hours"}),
        ({"missing": "exclude"}, {"missing": "exclude"}),
    ],
)
def test_a_mean_of_some_rows_is_derived(options: Any, document: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, json.loads(request.content)))
        problem = {"type": "/problems/invalid-request", "title": "No", "status": 422, "errors": []}
        return httpx.Response(422, json=problem)

    with Client("http://host", "key") as client:
        client._http.close()
        monkeypatch.setattr(
            client, "_http", httpx.Client(base_url="http://host", transport=httpx.MockTransport(refuse))
        )
        with pytest.raises(InvalidRequest):
            client.dataset("d").mean("x", epsilon=1, guess=5, **options)
    derived = {"kind": "mean", "column": "x"} | document
    assert asked == [("/v1/datasets/d/derived", {"derived": derived, "epsilon": "1", "guesses": {"mean": "5"}})]


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_the_help_of_a_method_fits_a_screen_and_names_its_arguments(kind: type, name: str) -> None:
    method = getattr(kind, name)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        help(method)
    lines = [part for line in out.getvalue().splitlines() for part in textwrap.wrap(line, 100) or [""]]
    assert len(lines) <= SCREEN
    parameters = [each for each in inspect.signature(method).parameters.values() if each.name != "self"]
    assert all(each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY} for each in parameters)
    if "epsilon" in {each.name for each in parameters} and name not in {"grant_request", "request_budget"}:
        for each in parameters:
            assert f"\n        {each.name}: " in out.getvalue(), each.name
            assert each.annotation is not each.empty


def test_every_query_names_its_epsilon() -> None:
    for name in QUERIES:
        assert {"epsilon", "alpha"} <= inspect.signature(getattr(Dataset, name)).parameters.keys()


def test_the_functions_of_statistics_know_the_derived_ones() -> None:
    assert mean("x", where=WHERE) == {"kind": "mean", "column": "x", "where": WHERE}
    assert "where" not in variance("x")
