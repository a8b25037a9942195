"""Bodies that are meant to hurt, made of bodies that would do."""

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

MARK = "nobody-may-see-this"
NESTED = "[" * 10_000 + "]" * 10_000
TEXTS = [
    *(
        "",
        "\x00",
        "\ud800",
        f"{MARK}\ud800",
        f"\u202e{MARK}",
        f"{MARK}\x00",
        f"{MARK}\x7f",
        "\ufffe\uffff",
        "\U0010ffff",
    ),
    *(
        f"'{MARK}",
        f'"{MARK}',
        f"`{MARK}",
        f"{MARK}'; DROP TABLE releases; --",
        f"{{{MARK}}}",
        f"%s%n{MARK}",
        f"{MARK}\r\nX: y",
    ),
    *(MARK * 600, "x" * 10_000, "\u0301" * 1000, f"../../{MARK}", f"${{{MARK}}}", "null", "true", "NaN", "Infinity"),
    *(
        "1e999999999",
        "1e-999999999",
        "9" * 10_000,
        "0x10",
        "1_0",
        "\u0663",
        "\uff11",
        " 1",
        "1 ",
        "1\n",
        "+-1",
        "1e+",
        ".",
    ),
]
# As they are written, since no encoder writes them.
NUMBERS = [
    *(
        "0",
        "-0",
        "-1",
        "2",
        "1e999",
        "-1e999",
        "1e-999",
        "1e-400",
        "1e99999999999999999999",
        "1" * 5000,
        f"0.{'0' * 5000}1",
    ),
    *(
        str(2**31),
        str(2**63),
        str(-(2**63) - 1),
        str(2**64),
        "0.1",
        "1e0",
        "1.0",
        "1E+2",
        "1000001",
        "1000000.000000001",
    ),
]
OTHERS = [
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    '{"kind": "mean"}',
    '{"": ""}',
    NESTED,
    '{"a":' * 500 + "1" + "}" * 500,
]


class Raw(NamedTuple):
    """JSON text."""

    text: str


def written(value: Any) -> str:
    """JSON, in which a value of `Raw` stands as it is."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{written(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a JSON value has values."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in items:
        yield from places(member, (*path, step))


def spoilt(body: dict[str, Any]) -> Iterator[str]:
    """The body with each of its values replaced, renamed, or joined by what nobody asked for."""
    hostile = [Raw(json.dumps(text)) for text in TEXTS] + [Raw(text) for text in (*NUMBERS, *OTHERS)]
    for path in places(body):
        for replacement in hostile if path else map(Raw, OTHERS):
            root: Any = {"body": copy.deepcopy(body)}
            *steps, last = ("body", *path)
            parent = root
            for step in steps:
                parent = parent[step]
            parent[last] = replacement
            yield written(root["body"])
    for name in (MARK, "", "\x00", "\ud800", f"{MARK}\ud800", "__class__", "x" * 10_000, "mean", "body"):
        yield written({**body, name: 1})
        yield written({name: Raw(NESTED), **body})
    for path in places(body):
        target: Any = copy.deepcopy(body)
        for step in path:
            target = target[step]
        if isinstance(target, dict):
            pairs = [*target.items(), *target.items()]
            yield "{" + ",".join(f"{json.dumps(name)}:{written(member)}" for name, member in pairs) + "}"
