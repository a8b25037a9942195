"""The synchronous half of the client is what its generator makes of the asynchronous one."""

from pathlib import Path

import pytest
from tool_modules import load_tool

generator = load_tool("generate_sync_client")


def test_the_synchronous_half_is_not_stale() -> None:
    assert list(generator.find_stale()) == [], "run `make client`"


def test_what_is_stale_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "_async", tmp_path / "_sync"
    source.mkdir()
    target.mkdir()
    (source / "new.py").write_text("async def ask() -> None:\n    await answer()\n")
    (target / "new.py").write_text("def ask() -> None:\n    another()\n")
    (target / "gone.py").write_text("")
    monkeypatch.setattr(generator, "SOURCE", source)
    monkeypatch.setattr(generator, "TARGET", target)
    stale = generator.find_stale()
    assert {path.name for path in stale} == {"new.py", "gone.py"}
    assert "def ask() -> None:\n    answer()\n" in stale[target / "new.py"]


@pytest.mark.parametrize(
    ("asynchronous", "synchronous"),
    [
        ("(await client.me()).role", "client.me().role"),
        ("len((await data.sums(a, (b, c))).value)", "len(data.sums(a, (b, c)).value)"),
        ("print(await client.me())", "print(client.me())"),
        ("[each async for each in data.ledger()]", "[each for each in data.ledger()]"),
        ("async with AsyncClient() as client:", "with Client() as client:"),
        ("import Awaitable, Mapping", "import Mapping"),
        ("import AsyncIterator, Awaitable\n", "import Iterator\n"),
        ("def me(self) -> Awaitable[Me]:", "def me(self) -> Me:"),
        ("def mean(self) -> Awaitable[Estimate | Derived]:", "def mean(self) -> Estimate | Derived:"),
        (
            "    async def __anext__(self) -> T:\n        raise StopAsyncIteration",
            "    def __next__(self) -> T:\n        raise StopIteration",
        ),
        ("await asyncio.sleep(pause)", "time.sleep(pause)"),
        ("async def __aexit__(self)", "def __exit__(self)"),
        (
            "from snapledger_client._async.client import AsyncClient",
            "from snapledger_client._sync.client import Client",
        ),
    ],
)
def test_a_substitution(asynchronous: str, synchronous: str) -> None:
    assert generator.to_sync(asynchronous) == synchronous
