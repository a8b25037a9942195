"""The list of messages is complete: it is what its tool finds now."""

from importlib import util
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_list_of_messages_is_not_stale() -> None:
    described = util.spec_from_file_location("list_messages", ROOT / "tools" / "list_messages.py")
    assert described is not None
    assert described.loader is not None
    tool = util.module_from_spec(described)
    described.loader.exec_module(tool)
    assert tool.render_page() == (ROOT / "docs" / "messages.md").read_text("utf-8"), "run make messages"


def test_it_has_messages_of_every_surface() -> None:
    page = (ROOT / "docs" / "messages.md").read_text("utf-8")
    for text in ("Service unavailable", "snapledger plan --epsilon: ", "Sign in", "no key: give key=…"):
        assert text in page
