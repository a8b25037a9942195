"""Both clients have the same calls."""

import inspect

import pytest

from snapledger_client import AsyncClient, AsyncDataset, Client, Dataset


def parameters(kind: type, name: str) -> dict[str, object]:
    found = inspect.signature(getattr(kind, name)).parameters
    return {each.name: (each.annotation, each.default, each.kind) for each in found.values()}


@pytest.mark.parametrize(("one", "other"), [(Client, AsyncClient), (Dataset, AsyncDataset)])
def test_both_have_the_same_calls(one: type, other: type) -> None:
    calls = {name for name in dir(one) if not name.startswith("_")}
    assert calls == {name for name in dir(other) if not name.startswith("_")}
    assert one is Client or {"mean", "batch", "correlation"} < calls
    for name in calls | ({"__init__"} if one is Client else set()):
        assert parameters(one, name) == parameters(other, name), name


@pytest.mark.parametrize(
    ("url", "key", "told"),
    [
        (None, "key", "SNAPLEDGER_URL"),
        ("", "key", "SNAPLEDGER_URL"),
        ("http://host", None, "SNAPLEDGER_KEY"),
        ("host:80", "key", "such as http://host:80$"),
        ("127.0.0.1:8000", "key", "such as http://127.0.0.1:8000$"),
        ("host/below", "key", "such as http://host/below$"),
        ("me:word@host", "key", "name a host$"),
        ("host:99999", "key", "name a host$"),
        ("ftp://host", "key", "https://"),
        ("http://", "key", "https://"),
        ("http://ho st:x", "key", "https://"),
        ("http://host:99999", "key", "https://"),
        ("http://host", "sésame", "not a key"),
        ("http://host", "a\nb", "not a key"),
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_what_is_no_place_or_no_key(kind: type, url, key, told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SNAPLEDGER_URL", raising=False)
    monkeypatch.delenv("SNAPLEDGER_KEY", raising=False)
    with pytest.raises(ValueError, match=told) as refused:
        kind(url, key)
    assert key is None or key == "key" or key not in str(refused.value)


def test_a_client_does_not_show_its_key() -> None:
    with Client("http://host/below", "hush") as client:
        assert "hush" not in repr(client) + str(vars(client))


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_anonymous_client_has_no_key(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNAPLEDGER_KEY", "hush")
    assert "hush" not in str(kind("http://host", anonymous=True)._http.headers.raw)
    with pytest.raises(ValueError, match="anonymous client has no key"):
        kind("http://host", "hush", anonymous=True)
