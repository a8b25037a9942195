"""The limits of a principal: what their headers say, and storages that cannot be used."""

import asyncio
import sys

import pytest

from app.api.middleware import rate_limit
from app.api.middleware.rate_limit import RateLimit


def test_redis_without_its_client_is_told_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "find_spec", lambda name: None if name == "redis" else sys.modules.get(name))
    with pytest.raises(ValueError, match=r"pip install 'snapledger\[redis\]'") as told:
        RateLimit("1/minute", "redis://:secret@cache:6379")
    assert "secret" not in str(told.value)
    RateLimit("1/minute", "memory://")


def test_a_request_that_one_limit_refuses_does_not_count_in_the_next() -> None:
    rate = RateLimit("2/minute;3/hour", "memory://")
    verdicts = [asyncio.run(rate.count("ana")) for _ in range(9)]
    assert [verdict.wait_seconds is None for verdict in verdicts] == [True] * 2 + [False] * 7
    assert verdicts[0].headers[0] == (b"ratelimit-policy", b'"2-per-minute";q=2;w=60, "3-per-hour";q=3;w=3600')
    assert verdicts[1].headers[1][1].partition(b", ")[2].startswith(b'"3-per-hour";r=1;')
    assert b"hour" not in verdicts[-1].headers[1][1]


def test_without_a_limit_there_is_no_header() -> None:
    assert asyncio.run(RateLimit("off", "memory://").count("ana")) == ((), None)


def test_limits_of_several_units_have_names_of_their_own() -> None:
    rate = RateLimit("5 per 2 hour;6/hour", "memory://")
    (name, policy), _ = asyncio.run(rate.count("ana")).headers
    assert (name, policy) == (b"ratelimit-policy", b'"5-per-2-hour";q=5;w=7200, "6-per-hour";q=6;w=3600')
