"""The list of messages is complete: it is what its tool finds now."""

from tool_modules import ROOT, load_tool


def test_the_list_of_messages_is_not_stale() -> None:
    tool = load_tool("list_messages")
    assert tool.render_page() == (ROOT / "docs" / "messages.md").read_text("utf-8"), "run make messages"


def test_it_has_messages_of_every_surface() -> None:
    page = (ROOT / "docs" / "messages.md").read_text("utf-8")
    for text in ("Service unavailable", "snapledger plan --epsilon: ", "Sign in", "no key: give key=…"):
        assert text in page
