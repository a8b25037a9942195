"""Forms of uploads that are meant to hurt: a 4xx, no file, no row, no echo."""

import json
from collections.abc import Callable

import httpx
import pytest
from service_world import Service, a_name
from spoiling import MARK

METADATA = json.dumps({"name": "the-name", "epsilon_limit": 1, "columns": {"x": {"kind": "integer", "bounds": [0, 9]}}})
FORM = "multipart/form-data; boundary=b"


@pytest.fixture
def owner(one_service: Service) -> httpx.Client:
    return one_service.principal("owner")[1]


def part(name: str, content: bytes, *more: str) -> bytes:
    disposition = "; ".join(["Content-Disposition: form-data", f'name="{name}"', *more])
    return b"--b\r\n" + disposition.encode() + b"\r\n\r\n" + content + b"\r\n"


GOOD = part("metadata", METADATA.encode()) + part("file", b"x\n1\n2\n", 'filename="t.csv"')
END = b"--b--\r\n"
BODIES = {
    "empty": (FORM, b""),
    "no boundary": ("multipart/form-data", GOOD + END),
    "another boundary": ("multipart/form-data; boundary=c", GOOD + END),
    "a boundary of megabytes": (f"multipart/form-data; boundary={'b' * 60_000}", GOOD + END),
    "an empty boundary": ("multipart/form-data; boundary=", GOOD + END),
    "no end": (FORM, GOOD),
    "no name": (FORM, b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n" + END),
    "no disposition": (FORM, b"--b\r\nX: y\r\n\r\nx\r\n" + END),
    "an endless part header": (FORM, b"--b\r\nX: " + b"y" * 3_000_000),
    "many part headers": (FORM, b"--b\r\n" + b"X: y\r\n" * 300_000),
    "line feeds": (FORM, (GOOD + END).replace(b"\r\n", b"\n")),
    "text before": (FORM, MARK.encode() * 10 + GOOD),
    "text after a boundary": (FORM, b"--b" + MARK.encode() + GOOD),
    "a third part": (FORM, GOOD + part("more", b"x") + END),
    "a third file": (FORM, GOOD + part("more", b"x", 'filename="x"') + part("more", b"x", 'filename="x"') + END),
    "metadata twice": (FORM, part("metadata", METADATA.encode()) + GOOD + END),
    "no metadata": (FORM, part("file", b"x\n1\n2\n", 'filename="t.csv"') + END),
    "the file as a text": (FORM, part("metadata", METADATA.encode()) + part("file", b"x\n1\n2\n") + END),
    "nameless file": (FORM, part("metadata", METADATA.encode()) + part(MARK, b"x\n1\n2\n", 'filename="f"') + END),
    "metadata in UTF-16": (FORM, GOOD.replace(METADATA.encode(), METADATA.encode("utf-16")) + END),
    "metadata in Windows-1252": (
        FORM,
        GOOD.replace(b'"the-name"', '"the-name", "description": "\u00e9"'.encode("cp1252")) + END,
    ),
    "metadata twice nested": (FORM, GOOD.replace(METADATA.encode(), b"[" * 100_000) + END),
}


@pytest.mark.parametrize(("form", "body"), BODIES.values(), ids=BODIES.keys())
def test_a_form_that_is_none(one_service: Service, owner: httpx.Client, form: str, body: bytes) -> None:
    with one_service.unchanged():
        named = body.replace(b"the-name", a_name("never").encode())
        answer = owner.post("/v1/datasets", content=named, headers={"Content-Type": form})
        assert answer.status_code in {400, 413, 422}, answer.text
    assert MARK not in answer.text
    log = one_service.log.read_text()
    assert MARK not in log
    assert "multipart" not in log  # what the parser has to say quotes what it was given


@pytest.mark.parametrize(
    "charset", ["undefined", "idna", "punycode", "utf-16", "utf-7", "hex", "unicode_escape", "x" * 500]
)
def test_a_charset_of_the_form_changes_nothing(one_service: Service, owner: httpx.Client, charset: str) -> None:
    name = a_name("charset")
    body = GOOD.replace(b'"the-name"', f'"{name}", "description": "\u00e9"'.encode()) + END
    answer = owner.post("/v1/datasets", content=body, headers={"Content-Type": f"{FORM}; charset={charset}"})
    assert (answer.status_code, answer.json()["description"]) == (201, "\u00e9")


@pytest.fixture
def sent(one_service: Service, owner: httpx.Client) -> Callable[..., httpx.Response]:
    def send(metadata: str, file_name: str) -> httpx.Response:
        return one_service.upload(owner, metadata, b"x\n1\nx\n", file_name)

    return send


@pytest.mark.parametrize("file_name", ["../../x", "\x00", "x" * 5000, f"{MARK}.csv", "a\r\nb", "/etc/passwd", "CON"])
def test_a_file_s_name_is_nothing_to_us(one_service: Service, sent, file_name: str) -> None:
    with one_service.unchanged():
        answer = sent(METADATA, file_name)
    assert answer.status_code == 422
    assert MARK not in answer.text + one_service.log.read_text()
