"""Each problem of the service's is a class of the client's."""

import pickle

import httpx
import pytest

import snapledger_client
from app.api import problems as service_problems
from snapledger_client import BudgetExhausted, InvalidRequest, Problem, UnexpectedAnswer, calls
from snapledger_client.problems import PROBLEM_TYPES, parse_problem


def test_every_type_of_the_service_s_has_a_class() -> None:
    slugs = {problem.slug for problem in service_problems.PROBLEMS.values()} | {service_problems._INTERNAL.slug}
    slugs |= {slug for slug, *_ in service_problems._HTTP_PROBLEMS.values()} | {service_problems.BAD_REQUEST.slug}
    assert slugs <= PROBLEM_TYPES.keys()
    assert len({kind.slug for kind in PROBLEM_TYPES.values()}) == len(PROBLEM_TYPES)
    assert {kind.__name__ for kind in PROBLEM_TYPES.values()} <= set(snapledger_client.__all__)


def test_an_unknown_type_is_a_problem_with_its_members() -> None:
    problem = parse_problem(
        409, {"type": "/problems/new", "title": "New", "status": 409, "detail": "Do.", "extra": [1]}
    )
    assert type(problem) is Problem
    assert (problem.type, problem.status, str(problem)) == ("/problems/new", 409, "New. Do.")
    assert problem.members["extra"] == [1]


@pytest.mark.parametrize("document", [None, [], "text", 3, {}, {"type": 7, "title": None}])
def test_whatever_a_refusal_s_body_is_there_is_a_problem(document: object) -> None:
    problem = parse_problem(502, document)
    assert type(problem) is Problem
    assert problem.status == 502
    assert str(problem)


def test_a_class_without_its_members_is_told_by_the_base() -> None:
    assert type(parse_problem(409, {"type": "/problems/budget-exhausted"})) is Problem
    assert type(parse_problem(422, {"type": "/problems/invalid-request", "errors": 3})) is Problem


def test_problems_cross_processes() -> None:
    members = {"scope": "dataset", "requested": "1", "remaining": "0.5", "limit": "2"}
    problem = parse_problem(409, {"type": "/problems/budget-exhausted", "title": "No"} | members)
    problem.idempotency_key = "mine"
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301 - our own
    assert isinstance(again, BudgetExhausted)
    assert (str(again), again.remaining, again.idempotency_key) == (str(problem), problem.remaining, "mine")


def test_the_errors_of_a_request() -> None:
    problem = parse_problem(422, {"type": "/problems/invalid-request", "errors": [{"where": "a", "what": "is not"}]})
    assert isinstance(problem, InvalidRequest)
    assert str(problem) == "Refused: a is not"


@pytest.mark.parametrize(
    ("detail", "told"),
    [
        ("Send the header Authorization: Bearer <key>.", "No. The service does not know this key"),
        ("The token gives no role.", "No. The token gives no role. Give another with Client(key=…)"),
    ],
)
def test_a_refused_key_is_told_to_a_user_of_the_client(detail: str, told: str) -> None:
    problem = parse_problem(401, {"type": "/problems/unauthenticated", "title": "No", "detail": detail})
    assert str(problem).startswith(told)
    assert "Client(key=…) or SNAPLEDGER_KEY" in str(problem)
    assert problem.detail == detail


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b"{}", b"null", b'{"name": 3}', b"\xff"])
def test_what_is_no_answer_is_told(content: bytes) -> None:
    for call in (calls.get_me(), calls.list_own_releases()(None), calls.get_release("a"), calls.get_budget("a")):
        with pytest.raises(UnexpectedAnswer):
            calls.read_response(call, httpx.Response(200, content=content))
