"""The module that turns a question into a request, by itself: each request is one that the service plans."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from asking import ask_for
from dashboard import Dashboard, Penguins
from playwright.sync_api import Page
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
COLUMNS: dict[str, Any] = {
    "income": {"kind": "integer", "bounds": [0, 150000], "unit": "€"},
    "age": {"kind": "integer", "bounds": [0, 110], "nullable": False},
    "score": {"kind": "decimal", "scale": 1, "bounds": ["-5.5", "5.5"]},
    "since": {"kind": "date", "bounds": ["2020-01-01", "2026-12-31"]},
    "employed": {"kind": "boolean", "nullable": False},
    "region": {"kind": "category", "categories": ["n", "s", "w"], "nullable": False},
}
ROW = "30000,40,1.5,2021-02-03,true,n\n50000,50,2.5,2022-02-03,false,s\n"
REQUESTS = """async ([questions, facts, options]) => {
  const { guessesOf, requestOf, statisticOf } = await import('/web/forms/question/questions.js');
  const { publicRange, supposed } = await import('/web/forms/question/suppositions.js');
  return questions.map((question) => {
    const found = statisticOf(question, facts.columns);
    const { needed } = guessesOf(found, facts.columns);
    const suggest = supposed(found, facts);
    const guessed = Object.fromEntries(needed.map((name) => [name, suggest(name)]));
    const precision = { by: 'epsilon', value: '1' };
    const { to, body } = requestOf(question, facts.columns, { guessed, options, precision });
    return { to, body, range: publicRange(found, facts) };
  });
}"""
OPTIONS = {"alpha": "0.05", "gamma": "0.05", "grid_refinement": "auto", "reuse": True}


@pytest.fixture
def people(service: Service) -> Penguins:
    content = ",".join(COLUMNS) + "\n" + ROW * 200
    return Penguins.of(service.table(COLUMNS, content, limit="100", allowance="100"), service)


def question(want: str, columns: list[str], **more: Any) -> dict[str, Any]:
    bounds = [
        [str(each) for each in COLUMNS[name]["bounds"]] if "bounds" in COLUMNS[name] else None for name in columns
    ]
    bins = [{} if pair is None else {"bins": "10", "bounds": pair} for pair in bounds]
    usual = {"group": None, "weight": None, "where": {}, "exclude": True, "category": None, "margin": 0}
    shape = {"want": want, "columns": columns, "bounds": bounds, "bins": bins, "probabilities": ["0.5"], "method": ""}
    return shape | usual | more


FILTERS: list[dict[str, Any]] = [{}, {"region": {"in": ["n", "s"]}}]
GROUPS: list[Any] = [None, "region", {"column": "since", "bins": "year"}]


def computed() -> Iterator[dict[str, Any]]:
    """What is computed of numbers: with a filter and without, by group, and missing values both ways."""
    for where, exclude in product(FILTERS, (True, False)):
        shared = {"where": where, "exclude": exclude}
        for column, group, weight in product(("income", "age", "score", "employed", "since"), GROUPS, (None, "age")):
            if weight != column:
                yield question("mean", [column], group=group, weight=weight, **shared)
        for column, want in product(("income", "age", "score", "employed"), ("variance", "standard_deviation")):
            yield question(want, [column], **shared)
        for column, group in product(("income", "age", "employed"), GROUPS):
            yield question("sum", [column], group=group, **shared)
        for pair, want in product(
            (["income", "age"], ["age", "employed"]), ("covariance", "correlation", "regression", "table", "margin")
        ):
            yield question(want, pair, **shared)


def counted() -> Iterator[dict[str, Any]]:
    """What is counted: with a filter and without, and by group."""
    for where in FILTERS:
        yield from (
            question("histogram", [column], where=where) for column in ("income", "score", "region", "employed")
        )
        yield from (
            question("quantile", ["income"], where=where, method=each)
            for each in ("", "adaptive", "search", "histogram")
        )
        yield from (question(want, ["income"], where=where) for want in ("cumulative", "missing"))
        yield from (question("proportion", ["employed"], where=where, group=group) for group in GROUPS)
    older = {"age": {"at_least": "30"}}  # a filter may not be about the column of the share
    yield question("proportion", ["region"], category="n")
    yield question("proportion", ["region"], category="n", where=older, group=GROUPS[2])
    yield question("proportion", [], where=older)
    yield question("count", [], where=older)
    yield from (question("count", [], where=where, group=group) for where, group in product(FILTERS, GROUPS[1:]))


def requests(page: Page, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(REQUESTS, [questions, {"columns": COLUMNS, "n": 400}, OPTIONS])
    return found


def test_each_request_is_planned_with_its_width(opened: Opened, people: Penguins) -> None:
    """The service takes each, plans its width from the guesses that were supposed, and refuses no member."""
    page = ask_for(opened(), people)
    questions = [*computed(), *counted()]
    assert len(questions) > 150
    refused = []
    for asked, request in zip(questions, requests(page, questions), strict=True):
        at = f"{people.table.path}/{'plan' if request['to'] == 'releases' else 'derived/plan'}"
        answer = people.table.analyst.post(at, json=request["body"])
        if answer.status_code != 200 or (request["to"] == "derived" and answer.json()["expected"] is None):
            refused.append((asked["want"], request["body"], answer.text))
    assert refused == []


def test_a_public_range_is_that_of_the_mechanism(opened: Opened, people: Penguins) -> None:
    """Of what is released, the range is the centre of the mechanism and its bound on both sides."""
    page = ask_for(opened(), people)
    questions = [
        *(question("mean", [name], exclude=False) for name in ("income", "age", "score", "employed", "since")),
        *(question(want, ["income"], exclude=False) for want in ("sum", "variance")),
        question("count", [], where={"region": {"in": ["n"]}}),
        question("histogram", ["region"]),
        question("covariance", ["income", "age"], exclude=False),
    ]
    for asked, request in zip(questions, requests(page, questions), strict=True):
        assert request["to"] == "releases"
        plan = people.table.analyst.post(f"{people.table.path}/plan", json=request["body"]).json()
        mechanism = plan["mechanism"]
        ends = [mechanism["centre"] - mechanism["b_prime"], mechanism["centre"] + mechanism["b_prime"]]
        assert request["range"] == pytest.approx(ends), asked["want"]


FROM_PERCENT = {"5": "0.05", "12.5": "0.125", "150": "1.5", "100": "1", "0.1": "0.001", "97.5": "0.975", "x": "x"}
ALPHAS = {"95": "0.05", "90": "0.1", "99.9": "0.001", "99.99": "0.0001", "99.9999999": "0.000000001", "5": "0.95"}
ERRORS = {
    87.11363: "88",
    5: "5.0",
    0.1 + 0.2: "0.30",
    899012.65: "899,013",
    0.0123: "0.013",
    99.5: "100",
    0: "0",
}


@pytest.mark.parametrize(
    ("module", "function", "expected"),
    [
        ("forms/question/questions.js", "fromPercent", FROM_PERCENT),
        ("forms/question/questions.js", "alphaOf", ALPHAS),
        ("ui/rounding.js", "errorText", ERRORS),
    ],
    ids=["a percentage is an exact decimal", "a confidence is an exact alpha", "an error is rounded up"],
)
def test_numbers_of_the_page_are_exact(opened: Opened, module: str, function: str, expected: dict[Any, str]) -> None:
    """Errors are rounded as in the sentences of the service."""
    page = opened().open()
    script = f"(values) => import('/web/{module}').then(({{ {function} }}) => values.map((value) => {function}(value)))"
    assert page.evaluate(script, list(expected)) == list(expected.values())
