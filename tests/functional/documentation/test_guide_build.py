"""What `make docs` builds: whole, by the page's own host alone, with nothing inline; and what it refuses to build."""

import re
import shutil
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from guide_site import ROOT, build, check_out

import snapledger_client
from app.config import Settings
from app.main import create_app

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PAGES = sorted(str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in ROOT.glob("docs/**/*.md"))


class Fetched(HTMLParser):
    """What a browser would fetch or run for a page, and what is inline in it."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.ids: set[str] = set()
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        if tag == "script" and "src" not in given:
            self.inline.append(self.get_starttag_text() or "")
        self.inline += [name for name in given if name.startswith("on")]
        if tag in {"script", "img", "iframe", "source", "object", "embed"}:
            self.addresses.append(given.get("src") or given.get("data") or "")
        if tag == "link" and given.get("rel") not in {"canonical", "author", "search", "next", "prev", "index"}:
            self.addresses.append(given["href"] or "")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return check_out(tmp_path_factory.mktemp("guide") / "checkout")


@pytest.fixture(scope="module")
def site(checkout: Path) -> Path:
    folder = checkout.parent / "site"
    done = build(folder, checkout)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_page_is_there_and_asks_no_other_host(site: Path) -> None:
    for page in [*PAGES, "search.html"]:
        found = Fetched()
        found.feed((site / page).read_text())
        assert found.inline == [], page
        assert len(found.addresses) > 5
        for address in found.addresses:
            assert not re.match(r"\w+:|//", address), f"{page} fetches {address}"
            assert ((site / page).parent / address.split("?")[0]).is_file(), f"{page} fetches {address}"


def test_no_style_or_script_names_another_host(site: Path) -> None:
    for path in [*site.rglob("*.css"), *site.rglob("*.js")]:
        text = path.read_text()
        assert not re.search(r"""url\(["']?(?:https?:)?//|@import|fetch\(["']http|\bimport\(""", text), path


def test_formulas_are_mathml(site: Path) -> None:
    text = (site / "mathematics.html").read_text()
    source = (ROOT / "docs" / "mathematics.md").read_text()
    assert text.count('display="block"') == source.count("\n$$\n") / 2 > 10
    assert text.count("<math ") > 200
    assert not re.search(r"\\(?:frac|lambda|varepsilon|ln)\b|\$\$", text)


def test_the_interface_is_told_whole(site: Path) -> None:
    document = create_app(Settings()).openapi()
    page = Fetched()
    page.feed((site / "http.html").read_text())
    told = page.text.split("\n")
    for path, operations in document["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}¶" in told
    for name, model in document["components"]["schemas"].items():
        assert name.lower() in page.ids
        for member in model.get("properties", ()):
            assert member in told


CLIENTS = (snapledger_client.Client, snapledger_client.Dataset, snapledger_client.AsyncDataset)


def test_the_client_is_told_whole(site: Path) -> None:
    page = Fetched()
    page.feed((site / "python.html").read_text())
    told = {name.rsplit(".", 1)[-1] for name in page.ids if name.startswith("snapledger_client.")}
    assert set(snapledger_client.__all__) <= told
    methods = {f"snapledger_client.{kind.__name__}.{name}" for kind in CLIENTS for name in dir(kind) if name[0] != "_"}
    assert methods <= set(page.ids)


def test_what_leads_nowhere_stops_the_build(checkout: Path, site: Path, tmp_path: Path) -> None:
    for built in (site, site.parent / "doctrees"):  # only the changed pages are built again
        shutil.copytree(built, tmp_path / built.name)
    wrong = {
        "client.md": "[a page](no-such-page.md)",
        "planning.md": "[an anchor](ledger.md#no-such-anchor)",
        "operations.md": "[an anchor of this page](#no-such-anchor)",
        "engines.md": "![a picture](screenshots/no-such-picture.png)",
        "ledger.md": "```{eval-rst}\n:py:class:`snapledger_client.NoSuchName`\n```",
        "statistics.md": r"$\nosuchcommand$",
    }
    pages = {checkout / "docs" / name: text for name, text in wrong.items()}
    before = {page: page.read_bytes() for page in pages}
    for page, text in pages.items():
        page.write_bytes(before[page] + f"\n\n{text}\n".encode())
    done = build(tmp_path / "site", checkout)
    for page, content in before.items():
        page.write_bytes(content)
    assert done.returncode != 0
    for name, text in wrong.items():
        (what,) = re.findall(r"no-such-[\w-]+|NoSuchName|nosuchcommand", text)
        assert re.search(rf"{name}.*{what}", done.stderr), done.stderr


def test_the_wheel_has_the_guide(site: Path, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("app", "migrations", "client/src"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "guide"))
    shutil.copytree(site, tmp_path / "app" / "guide")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)  # noqa: S603
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"app/guide/{page}" for page in PAGES} <= names
