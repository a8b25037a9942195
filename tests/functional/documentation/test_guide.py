"""`/guide`: static files without a login, guarded as the dashboard's are; and what it says where none is built."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from content_security import DIRECTIVES
from service_world import serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guide") / "built"


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[httpx.Client]:
    """Somebody without a key, who takes the answers as they are."""
    home = tmp_path_factory.mktemp("service")
    with (
        serving(home, f"sqlite:///{home}/ledger.sqlite3", GUIDE_DIRECTORY=str(folder)) as service,
        httpx.Client(base_url=service.url) as client,
    ):
        yield client


@pytest.fixture
def built(folder: Path) -> Iterator[Path]:
    files = {"index.html": "<p>index", "page.html": "<p>page", "decisions/index.html": "<p>all", "_static/a.js": "1"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    yield folder
    (folder / "index.html").unlink()


@pytest.mark.parametrize("path", ["/guide", "/guide/", "/guide/index.html"])
def test_a_guide_that_is_not_built_says_how(visitor: httpx.Client, path: str) -> None:
    answer = visitor.get(path, follow_redirects=True)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "form-action 'self'" in answer.headers["content-security-policy"]
    for told in ("make docs", "SNAPLEDGER_GUIDE_DIRECTORY", "docs/index.md", 'href="/docs"'):
        assert told in answer.text
    head = visitor.head(path, follow_redirects=True)
    assert (head.status_code, head.content) == (200, b"")
    assert visitor.post("/guide/").status_code == 404


@pytest.mark.parametrize("path", ["/guide/page.html", "/guide/_static/a.js"])
def test_no_page_is_there_before_the_guide_is_built(visitor: httpx.Client, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["title"] == "The guide is not built"


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("path", "text", "media_type"),
    [
        ("/guide", "<p>index", "text/html"),
        ("/guide/", "<p>index", "text/html"),
        ("/guide/page.html", "<p>page", "text/html"),
        ("/guide/decisions/", "<p>all", "text/html"),
        ("/guide/_static/a.js", "1", "text/javascript"),
    ],
)
def test_every_page_is_public_and_guarded(visitor: httpx.Client, path: str, text: str, media_type: str) -> None:
    answer = visitor.get(path, follow_redirects=True)
    assert (answer.status_code, answer.text) == (200, text)
    assert answer.headers["content-type"].split(";")[0] == media_type
    for each in (*answer.history, answer):
        policy = dict(part.strip().split(" ", 1) for part in each.headers["content-security-policy"].split(";"))
        assert policy == {**DIRECTIVES, "form-action": "'self'", "style-src": "'self' 'unsafe-inline'"}
        assert each.headers["x-content-type-options"] == "nosniff"
        assert each.headers["referrer-policy"] == "no-referrer"
        assert each.headers["x-frame-options"] == "DENY"
        assert each.headers["cache-control"] == "no-cache"
        assert "set-cookie" not in each.headers


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path", ["/guide/none.html", "/guide/..%2fsecret", "/guide/%2e%2e/secret", "/guide/%00", "/guide/%2fetc%2fpasswd"]
)
def test_nothing_else_is_served(visitor: httpx.Client, folder: Path, path: str) -> None:
    (folder.parent / "secret").write_text("not for anybody")
    answer = visitor.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "not built" not in answer.text


@pytest.mark.usefixtures("built")
def test_it_is_read_only(visitor: httpx.Client) -> None:
    assert visitor.post("/guide").status_code == 405
    assert visitor.delete("/guide/page.html").status_code == 405
