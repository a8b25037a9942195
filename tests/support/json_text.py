"""JSON as pages show it: `…` for what is left out, other numbers, ids and times where noise and the clock decide."""

import json
from typing import Any

from session_text import masked

LEFT_OUT = "…"
NOISY = {"id", "release_id", "value", "value_exact", "value_in_range", "interval", "created_at", "summary"}


def alike(told: Any, got: Any, path: str, *, noisy: bool = False) -> None:
    """Compare what a page tells with what was answered.

    Raises:
        AssertionError: a member is missing, or more than a page tells, or another than noise and the clock explain.
    """
    if isinstance(told, dict):
        assert isinstance(got, dict), path
        shown = {name: value for name, value in told.items() if name != LEFT_OUT}
        assert shown.keys() <= got.keys(), path
        assert LEFT_OUT in told or shown.keys() == got.keys(), path
        for name, value in shown.items():
            alike(value, got[name], f"{path}.{name}", noisy=noisy or name in NOISY)
    elif isinstance(told, list):
        items = [each for each in told if each != {LEFT_OUT: LEFT_OUT}]
        assert len(items) <= len(got) if len(items) < len(told) else len(items) == len(got), path
        for i, each in enumerate(items):
            alike(each, got[i], f"{path}[{i}]", noisy=noisy)
    elif noisy:
        assert masked(json.dumps(told)) == masked(json.dumps(got)), path
    else:
        assert told == got, path


def compare(told: str, got: str) -> None:
    """Compare two texts of JSON."""
    alike(json.loads(told), json.loads(got), "$")
