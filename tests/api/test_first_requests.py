"""What is made at the first request is made once, also if many ask for it together."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.api.pages import dashboard


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[str]:
    """Replace a slow function by one that counts its calls, and that a second call would meet."""
    calls: list[str] = []

    def make(*_: object, **__: object) -> Any:
        calls.append(name)
        threading.Event().wait(0.1)
        return {}

    monkeypatch.setattr(module, name, make)
    return calls


def test_the_charts_are_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dashboard._compress_plotly.cache.clear()
    calls = counted(monkeypatch, dashboard.gzip, "compress")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: dashboard._compress_plotly(), range(8)))
    dashboard._compress_plotly.cache.clear()
    assert len(calls) == 1
