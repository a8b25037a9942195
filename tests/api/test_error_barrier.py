"""An internal error is told without its text, to the caller and in the log."""

import asyncio
import json
import logging
from typing import Any

import pytest

from app.api.middleware.error_barrier import ErrorBarrier

HIDDEN = "nobody-may-see-this"


async def call(started: bool) -> list[dict[str, Any]]:  # noqa: FBT001
    sent: list[dict[str, Any]] = []

    async def broken(_: Any, __: Any, send: Any) -> None:
        if started:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError(HIDDEN)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await ErrorBarrier(broken)({"type": "http", "method": "GET"}, None, send)  # type: ignore[arg-type]
    return sent


def test_an_internal_error_is_a_problem_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        start, body = asyncio.run(call(started=False))
    assert start["status"] == 500
    assert json.loads(body["body"])["type"] == "/problems/internal"
    assert HIDDEN not in str([start, body]) + caplog.text
    assert "internal error: ValueError at " in caplog.text
    assert "test_error_barrier.py" in caplog.text


def test_an_answer_that_has_begun_gets_no_second_head() -> None:
    assert [message["type"] for message in asyncio.run(call(started=True))] == ["http.response.start"]
