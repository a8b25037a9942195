"""When the client asks again: after what was lost or busy, with the same bytes; never after a refusal."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from snapledger_client import Client, Unavailable, calls
from snapledger_client.problems import parse_problem
from snapledger_client.retries import MAX_BACKOFF, MAX_RETRY_AFTER, RetryPolicy, make_unreachable

POLICY = RetryPolicy(retries=5, backoff=0.2)
KEYED = calls.release_estimate("d", {"kind": "mean", "column": "x"}, epsilon=1)
ONCE = calls.create_principal("a", "analyst")
REQUEST = httpx.Request("GET", "http://host")


def answer(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_what_is_lost_or_busy_is_asked_again() -> None:
    for outcome in (answer(502), answer(503), answer(504), answer(429), httpx.ReadError(""), httpx.DecodingError("")):
        assert POLICY.find_pause(KEYED, 0, outcome) is not None


def test_an_answer_stands() -> None:
    for status in (200, 201, 204, 302, 400, 401, 403, 404, 405, 409, 413, 415, 422, 500):
        assert POLICY.find_pause(KEYED, 0, answer(status)) is None


def test_what_is_not_repeatable_only_if_it_had_no_effect() -> None:
    for outcome in (answer(429), httpx.ConnectError(""), httpx.ConnectTimeout(""), httpx.PoolTimeout("")):
        assert POLICY.find_pause(ONCE, 0, outcome) is not None
    for outcome in (answer(502), answer(503), httpx.ReadError(""), httpx.WriteError(""), httpx.RemoteProtocolError("")):
        assert POLICY.find_pause(ONCE, 0, outcome) is None


def test_patience_ends() -> None:
    assert POLICY.find_pause(KEYED, 4, answer(503)) is not None
    assert POLICY.find_pause(KEYED, 5, answer(503)) is None


def test_pauses_double_up_to_a_limit() -> None:
    endless = RetryPolicy(retries=100, backoff=1)
    for attempt in range(100):
        expected = min(2.0**attempt, MAX_BACKOFF)
        assert expected / 2 <= (endless.find_pause(KEYED, attempt, httpx.ReadError("")) or 0) <= expected


def test_retry_after_is_kept() -> None:
    assert POLICY.find_pause(KEYED, 0, answer(503, Retry_After="7")) == 7
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 50 < (POLICY.find_pause(KEYED, 0, answer(429, Retry_After=soon)) or 0) <= 60
    past = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    for odd in (past, "soon", "-3", "", "1e9"):
        assert (POLICY.find_pause(KEYED, 0, answer(503, Retry_After=odd)) or 9) < 1
    assert POLICY.find_pause(KEYED, 0, answer(503, Retry_After=str(int(MAX_RETRY_AFTER) + 1))) is None


def test_the_same_bytes_and_key_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[httpx.Request] = []

    def busy(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(503, json={"type": "/problems/unavailable", "title": "Busy", "status": 503})

    with Client("http://host", "key", backoff=0, retries=3) as client:
        monkeypatch.setattr(client, "_http", httpx.Client(base_url="http://host", transport=httpx.MockTransport(busy)))
        with pytest.raises(Unavailable) as told:
            client.dataset("d").mean("x", epsilon="0.5")
        first = client.dataset("d")
        with pytest.raises(Unavailable):
            first.mean("x", epsilon="0.5")
        client.close()
    keys = [request.headers["Idempotency-Key"] for request in asked]
    assert keys[:4] == [told.value.idempotency_key] * 4
    assert len(asked) == 8
    assert len(set(keys)) == 2
    assert len({request.content for request in asked}) == 1


@pytest.mark.parametrize("error", [httpx.ReadTimeout(""), httpx.ReadError("")])
def test_a_release_without_an_answer_says_how_to_ask_again(error: httpx.RequestError) -> None:
    told = str(make_unreachable(KEYED, error))
    assert f"ask again with key='{KEYED.key}', and you pay once" in told
    assert ("`timeout`" in told) == isinstance(error, httpx.TimeoutException)
    assert "key=" not in str(make_unreachable(ONCE, error))


def test_only_a_fault_of_the_service_says_how_to_ask_again() -> None:
    for status, says in ((503, True), (500, True), (409, False)):
        problem = parse_problem(status, {"type": "/problems/new", "title": "New", "status": status, "detail": "Wait."})
        problem.idempotency_key = "mine"
        assert ("ask again with key='mine'" in str(problem)) == says


def test_an_unreachable_service_is_named_with_what_to_check() -> None:
    request = httpx.Request("GET", "http://user:secret@127.0.0.1:9/v1/me")
    told = str(make_unreachable(calls.get_me(), httpx.ConnectError("Connection refused", request=request)))
    assert "since http://127.0.0.1:9 was not reached (Connection refused): check the address (SNAPLEDGER_URL)" in told
    assert "secret" not in told
    told = str(make_unreachable(ONCE, httpx.ReadError("", request=request)))
    assert "the connection to http://127.0.0.1:9 failed (ReadError)" in told
