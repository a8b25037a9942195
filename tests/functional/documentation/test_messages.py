"""The list of messages is complete: it is what its tool finds now."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_list_of_messages_is_not_stale() -> None:
    done = subprocess.run(  # noqa: S603 - a script of our own
        [sys.executable, ROOT / "tools" / "list_messages.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_has_messages_of_every_surface() -> None:
    page = (ROOT / "docs" / "messages.md").read_text("utf-8")
    for text in ("Service unavailable", "snapledger plan --epsilon: ", "Sign in", "no key: give key=…"):
        assert text in page
