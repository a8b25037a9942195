"""Write docs/file-formats.md: how each file of the corpus is read, or why it is refused.

`python tools/list_file_formats.py` writes the page from tests/corpus/outcomes.json, which a test compares with what
`snapledger dataset suggest` says of each file.
"""

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "file-formats.md"
OUTCOMES = ROOT / "tests" / "corpus" / "outcomes.json"

HEAD = """# Files as tools write them

This page is generated from `tests/corpus`: small files, written for the tests of Snapledger in
the way of each tool. Most follow a report of users of another program that could not read such a
file, which is linked. "Read" means that `snapledger dataset suggest` drafts the metadata, and
that `snapledger dataset add` accepts the file as it is once you have confirmed the draft. What
the draft declares of the format is in brackets. The members are explained in [text
files](engines.md#text-files) and [workbooks](engines.md#workbooks).

"""
_SHOWN = ("delimiter", "null_values", "format")
_USUAL_NULLS = 4


def render_page() -> str:
    """Return the page as the outcomes say."""
    parts = [HEAD]
    for case in json.loads(OUTCOMES.read_text("utf-8")):
        repository, _, number = case["source"].partition("#")
        link = f"[{case['source']}](https://github.com/{repository}/issues/{number})"
        text = f"* **{case['writer']}**: {case['unusual']}. {_describe(case['outcome'])} ({link})"
        parts.append(textwrap.fill(text, 98, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
        parts.append("\n")
    return "".join(parts)


def _describe(outcome: Mapping[str, Any]) -> str:
    """Return what becomes of a file."""
    if "refused" in outcome:
        return f"Refused: {outcome['refused']}."
    members = {name: outcome[name] for name in _SHOWN if name in outcome}
    if "null_values" in members:
        members["null_values"] = members["null_values"][_USUAL_NULLS:]
    told = ", ".join(f"`{name}` {_spell(value)}" for name, value in members.items())
    left = "; ".join(f"{name} {reason}" for name, reason in outcome["left_out"].items())
    return "".join(["Read", f" ({told})" if told else "", f"; left out: {left}" if left else "", "."])


def _spell(value: Any) -> str:  # noqa: ANN401 - JSON is any value
    return f"`{json.dumps(value, ensure_ascii=False)}`"


if __name__ == "__main__":
    PAGE.write_text(render_page(), "utf-8")
