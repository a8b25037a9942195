"""The dashboard explains its terms in the words of the glossary."""

import re

from tool_modules import ROOT, load_tool

WEB = ROOT / "app" / "web"
USE = re.compile(r"\b(?:help|term)\(\"([^\"]+)\"")


def test_the_dashboards_terms_are_those_of_the_glossary() -> None:
    tool = load_tool("list_terms")
    assert tool.render_module() == (WEB / "ui" / "glossary.js").read_text("utf-8"), "run make messages"


def test_every_row_of_the_glossary_is_a_term() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|") and not line.startswith(("|---", "| term |"))]
    terms = dict(load_tool("list_terms").read_terms(page))
    assert len(terms) == len(rows) > 50
    assert terms["cost"]["meaning"].startswith("What a release debits")
    assert terms["display name"]["more"] == "operations.html#identity"
    assert all((ROOT / "docs" / f"{each['more'].partition('.')[0]}.md").exists() for each in terms.values())


def test_the_terms_of_each_table_are_in_alphabetical_order() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    tool = load_tool("list_terms")
    for section in page.split("\n## ")[1:]:
        names = [name.casefold() for name, _ in tool.read_terms(section)]
        assert len(names) > 10
        assert names == sorted(names)


def test_the_dashboard_explains_only_what_the_glossary_has() -> None:
    terms = dict(load_tool("list_terms").read_terms((ROOT / "docs" / "glossary.md").read_text("utf-8")))
    used = {name for path in WEB.rglob("*.js") for name in USE.findall(path.read_text("utf-8"))}
    assert used
    assert used <= terms.keys()
