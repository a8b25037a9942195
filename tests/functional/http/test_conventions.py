"""What all calls of the interface have in common, tried on every operation of the OpenAPI document."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openapi_contract import service_contract
from service_world import Service, serving

OPERATIONS = [
    (method.upper(), path, [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"])
    for path, operations in service_contract().document["paths"].items()
    for method, operation in operations.items()
]
OF_KEYS = [
    (method.upper(), path)
    for path, operations in service_contract().document["paths"].items()
    for method, operation in operations.items()
    if operation["security"] == [{"key": []}]
]
UNREADABLE: dict[str, Any] = {"content": b"{", "headers": {"Content-Type": "application/json"}}
LIMIT = 100_000


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that counts requests, and allows more of them than there are here."""
    folder = tmp_path_factory.mktemp("limited")
    url = f"sqlite:///{folder}/ledger.sqlite3"
    with serving(folder, url, RATE_LIMIT=f"{LIMIT}/hour", CORS_ORIGINS="https://a.example") as service:
        yield service


def filled(path: str) -> str:
    """A path of nothing that there is."""
    return re.sub(r"\{\w+\}", "none-such", path)


@pytest.mark.parametrize(("method", "path", "known"), OPERATIONS)
def test_an_unknown_query_parameter_is_refused(limited: Service, method: str, path: str, known: list[str]) -> None:
    answer = limited.admin.request(method, filled(path), params={"hidden": "hidden"}, **UNREADABLE)
    (problem,) = answer.json()["errors"]
    assert (answer.status_code, problem["where"]) == (422, "query")
    assert "hidden" not in answer.text
    assert all(name in problem["what"] for name in known)
    for name in known:
        answer = limited.admin.request(method, filled(path), params={f"{name}s": 1}, **UNREADABLE)
        assert f"'{name}s'" in answer.text
        assert f"did you mean '{name}'?" in answer.text
        answer = limited.admin.request(method, filled(path), params=[(name, 1), (name, 2)], **UNREADABLE)
        assert answer.json()["errors"] == [{"where": name, "what": "must be sent once"}]


@pytest.mark.parametrize(("method", "path"), OF_KEYS)
def test_a_caller_without_a_valid_key_is_told_what_is_missing(limited: Service, method: str, path: str) -> None:
    """RFC 6750, 3: an error code only if a credential was sent; the id of the request is in the problem too."""
    for sent, challenge in (
        ({}, 'Bearer realm="snapledger"'),
        ({"Authorization": "Basic eDp5"}, 'Bearer realm="snapledger"'),
        ({"Authorization": "Bearer nobodys"}, 'Bearer realm="snapledger", error="invalid_token"'),
    ):
        answer = limited.stranger.request(method, filled(path), headers={"X-Request-Id": "mine", **sent})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, challenge)
        assert (answer.json()["request_id"], answer.headers["x-request-id"]) == ("mine", "mine")
        assert "ratelimit" not in answer.headers


def test_every_answer_to_a_key_says_what_the_limit_leaves(limited: Service) -> None:
    """draft-ietf-httpapi-ratelimit-headers: names are strings of structured fields."""
    _, client = limited.principal("owner")
    for number, (method, path) in enumerate(OF_KEYS):
        answer = client.request(method, filled(path), **UNREADABLE)
        assert answer.headers["ratelimit-policy"] == f'"{LIMIT}-per-hour";q={LIMIT};w=3600'
        remaining, seconds = re.fullmatch(rf'"{LIMIT}-per-hour";r=(\d+);t=(\d+)', answer.headers["ratelimit"]).groups()
        assert int(remaining) == LIMIT - 1 - number, f"{method} {path}"
        assert 1 <= int(seconds) <= 7200


def test_a_refusal_for_the_limit_says_the_same_as_its_headers(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("few")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", RATE_LIMIT="5/hour;1000/day") as few:
        answers = [few.admin.get("/v1/me") for _ in range(7)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert all(answer.headers["ratelimit-policy"].count(";q=") == 2 for answer in answers)
    assert '"1000-per-day";r=995;' in answers[4].headers["ratelimit"]
    for refused in answers[5:]:
        wait = refused.headers["retry-after"]
        assert refused.headers["ratelimit"] == f'"5-per-hour";r=0;t={wait}'
        assert f"Wait {int(wait):,} second" in refused.json()["detail"]


def test_pages_of_other_origins_may_send_and_read_these_headers(limited: Service) -> None:
    origin = {"Origin": "https://a.example"}
    asked = {
        **origin,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "if-match,if-none-match",
    }
    with httpx.Client(base_url=limited.url) as page:
        assert page.options("/v1/me", headers=asked).status_code == 200
        exposed = page.get("/v1/me", headers=origin).headers["access-control-expose-headers"].split(", ")
    declared = set(service_contract().document["components"]["headers"])
    assert declared <= set(exposed)
