"""The dashboard without a browser: headers, that every file is there, and that none names another host."""

import asyncio
import gzip
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import httpx
import pytest
from content_security import DIRECTIVES
from service_world import Service
from tool_modules import load_tool

from app.api.pages.static_content import CompressedFiles

ROOT = Path(__file__).parents[3]
WEB = ROOT / "app" / "web"
VENDOR = WEB / "vendor"
FILES = sorted(f"/web/{path.relative_to(WEB)}" for path in WEB.rglob("*") if path.is_file())
REFERENCE = re.compile(r"""(?:\bfrom\s+|\bimport\s+|\bimport\(|url\(|(?:src|href)(?:=|:\s*))["'`]([^"'`#$\s]+)["'`]""")
# For people and for tools.
BESIDE = {f"/web/vendor/{name}" for name in ("manifest.json", "LICENSES.txt", "d3.d.ts")} | {"/web/styles/figure.css"}
"""What no file names: the last one is for the pages of figures."""
VERSION = re.compile(r"^/web/v-[0-9a-f]{16}/")
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.fixture
def visitor(one_service: Service) -> Iterator[httpx.Client]:
    """Somebody without a key, who takes the answers as they are."""
    with httpx.Client(base_url=one_service.url) as client:
        yield client


def references(path: str, text: str) -> Iterator[str]:
    """The addresses of the files that a file names."""
    for name in REFERENCE.findall(text):
        if name.startswith("/"):
            yield name
        else:
            parts: list[str] = []
            for part in (PurePosixPath(path).parent / name).parts:
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            yield str(PurePosixPath(*parts))


def test_every_file_is_public_and_guarded(visitor: httpx.Client) -> None:
    guards = {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cache-control": "no-cache",
        "set-cookie": None,
    }
    for path in ("/", *FILES):
        answer = visitor.get(path)
        assert answer.status_code == 200, path
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy == DIRECTIVES, path
        assert {name: answer.headers.get(name) for name in guards} == guards, path


@pytest.mark.parametrize(
    ("suffix", "media_type"),
    [(".js", "text/javascript"), (".css", "text/css"), (".html", "text/html"), (".svg", "image/svg+xml")],
)
def test_browsers_take_each_file_for_what_it_is(visitor: httpx.Client, suffix: str, media_type: str) -> None:
    of_kind = [path for path in FILES if path.endswith(suffix)]
    assert of_kind
    for path in of_kind:
        assert visitor.get(path).headers["content-type"].split(";")[0] == media_type
    assert visitor.get("/").headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/openapi.json", "/docs/assets/swagger-ui-bundle.js", "/web/vendor/d3-scale.min.js"]
)
def test_what_is_static_is_compressed_for_those_who_ask_and_sent_once(visitor: httpx.Client, path: str) -> None:
    """RFC 9110: other bytes are another representation, so at most one of both has a strong tag."""
    accepted = ("gzip", "br, gzip;q=0.5", "GZIP", "*", "gzip")
    plain, *all_packed = (visitor.get(path, headers={"Accept-Encoding": each}) for each in ("identity", *accepted))
    for packed in all_packed:
        assert packed.content == plain.content
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < int(plain.headers["content-length"])
        assert packed.headers["etag"] == f"W/{plain.headers['etag']}"
        assert packed.headers["content-type"] == plain.headers["content-type"]
    for refused in ("gzip;q=0", "*;q=0.0", "br", "gzipped", "gzip;q=0, *"):
        assert "content-encoding" not in visitor.get(path, headers={"Accept-Encoding": refused}).headers
    for answer in (plain, *all_packed):
        assert (answer.headers["vary"], answer.headers["cache-control"]) == ("Accept-Encoding", "no-cache")
        for known in (answer.headers["etag"], f'"other", {answer.headers["etag"]}', "*"):
            again = visitor.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"].removeprefix("W/") == plain.headers["etag"]
            assert again.headers["vary"] == "Accept-Encoding"
    assert visitor.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_what_is_compressed_already_is_not_compressed_again(visitor: httpx.Client) -> None:
    answer = visitor.get("/docs/assets/favicon.png", headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert "content-encoding" not in answer.headers


def test_a_file_that_changes_is_compressed_anew(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    files = CompressedFiles(directory=tmp_path)
    scope = {"type": "http", "method": "GET", "headers": [(b"accept-encoding", b"gzip")]}
    for text in ("a" * 2000, "b" * 3000):
        path.write_text(text)
        response = asyncio.run(files.get_response("page.html", scope))
        assert gzip.decompress(response.body).decode() == text


def test_browsers_keep_the_files_of_a_version(visitor: httpx.Client) -> None:
    """What the page names never changes; other versions' addresses show the same files, but are not kept."""
    named = [name for name in references("/", visitor.get("/").text) if name.startswith("/web/")]
    assert [name for name in named if not VERSION.match(name)] == []
    version = named[0].split("/")[2]
    for folder, cached in ((version, "public, max-age=31536000, immutable"), ("v-0123456789abcdef", "no-cache")):
        answer = visitor.get(f"/web/{folder}/ui/dom.js")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, cached)
        assert answer.content == visitor.get("/web/ui/dom.js").content
        assert answer.headers["content-security-policy"]
    for path in (f"/web/{version}", f"/web/{version}/", f"/web/{version}/none.js", "/web/../main.py", "/web/ui/"):
        assert visitor.get(path).status_code == 404
    assert visitor.post("/web/main.js").headers["allow"] == "GET, HEAD"


def test_a_file_is_sent_again_only_if_it_changed(visitor: httpx.Client) -> None:
    tag = visitor.get("/web/main.js").headers["etag"]
    for sent, status in (
        (tag, 304),
        (f'"other", {tag}', 304),
        (tag.replace("W/", ""), 304),
        ('"other"', 200),
        ("*", 304),
    ):
        assert visitor.get("/web/main.js", headers={"If-None-Match": sent}).status_code == status


def test_the_page_names_the_modules_that_every_page_needs(visitor: httpx.Client) -> None:
    linked = re.findall(r'<link rel="modulepreload" href="/web/v-[^/]+/([^"]+)">', visitor.get("/").text)
    assert linked[0] == "main.js"
    assert {"routes.js", "ui/dom.js", "ui/glossary.js", "pages/sign_in.js"} <= set(linked)
    assert "pages/planner.js" not in linked
    script = visitor.get("/web/preload.js").text
    assert '"pages/planner.js"' in script
    assert '"ui/dom.js"' not in script  # in the page already
    assert "MODULES = {}" not in script


def test_whatever_a_file_names_is_there(visitor: httpx.Client) -> None:
    named = {("/", VERSION.sub("/web/", name)) for name in references("/", visitor.get("/").text)}
    for path in FILES:
        named |= {(path, name) for name in references(path, visitor.get(path).text)}
    found = {name for _, name in named}
    assert {
        "/web/main.js",
        "/web/styles/tokens.css",
        "/web/icon.svg",
        "/web/pages/planner.js",
        "/web/vendor/d3-scale.min.js",
    } <= found
    for path, name in named:
        assert visitor.get(name).status_code == 200, f"{path} names {name}"
    used = found | BESIDE | {"/web/index.html"}  # served at /
    assert set(FILES) <= used


def test_no_file_names_another_host() -> None:
    for path in WEB.rglob("*"):
        if path.is_file():
            text = re.sub(r"^// https://d3js\.org/.*", "", path.read_text().replace(NAMESPACE, ""))
            assert not re.search(r"""https?:|\bwss?:|["'(=]//""", text), path


def test_no_file_makes_markup_or_code_of_a_text() -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|localStorage|setHTML"
    for path in WEB.rglob("*.js"):
        assert not re.search(ways, path.read_text()), path


def test_nothing_is_inline() -> None:
    text = (WEB / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*src=)", text)


def test_the_wheel_has_every_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    (wheel,) = tmp_path.glob("*.whl")
    assert {f"app{path}" for path in FILES} <= set(zipfile.ZipFile(wheel).namelist())


def test_vendored_files_are_those_of_the_manifest() -> None:
    entries = json.loads((VENDOR / "manifest.json").read_text())
    licences = (VENDOR / "LICENSES.txt").read_text()
    for entry in entries:
        content = (VENDOR / entry["file"]).read_bytes()
        assert load_tool("renew_vendored").hash_of(content) == entry["file_hash"], entry["package"]
        assert f"v{entry['version']} ".encode() in content[:200]
        assert entry["license"] == "ISC"
        assert f"{entry['package']} {entry['version']}\n" in licences
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", entry["integrity"])
    assert {path.name for path in VENDOR.glob("*.min.js")} == {entry["file"] for entry in entries}


@pytest.mark.parametrize(
    "path", ["/web/", "/web/none.js", "/web/..%2fmain.py", "/web/../main.py", "/web/%00", "/web/pages"]
)
def test_nothing_else_is_served(visitor: httpx.Client, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_it_is_read_only(visitor: httpx.Client) -> None:
    assert visitor.post("/").status_code == 405
    assert visitor.delete("/web/main.js").status_code == 405
