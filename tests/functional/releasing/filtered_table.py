"""A table with a column of each kind of filter and group, and with values that are missing or undeclared."""

from typing import Any

ROWS = [
    ("a", 10, "true", 0.5),
    ("a", 20, "false", -0.5),
    ("b", 30, "", 1.5),
    ("", 40, "true", 2.5),
    ("?", 50, "", 0.25),
]
COLUMNS: dict[str, Any] = {
    "k": {"kind": "category", "categories": ["a", "b"]},
    "accuracy": {"kind": "integer", "bounds": [0, 100]},  # a name that answers have, too
    "b": {"kind": "boolean"},
    "x": {"kind": "real", "bounds": [-1, 3]},
}


def content(times: int = 40) -> str:
    lines = [",".join(map(str, row)) for row in ROWS * times]
    return "\n".join(["k,accuracy,b,x", *lines, ""])
