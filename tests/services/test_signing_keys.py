"""When the provider's keys are fetched, and when not."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from app.errors import ProviderAwayError, UnauthenticatedError
from app.services.identity import provider_requests, signing_keys
from app.services.identity.signing_keys import SigningKeys, select_usable_keys

# RFC 7517, appendix A.1
CURVE = {
    "kty": "EC",
    "crv": "P-256",
    "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
}
LASTS, BETWEEN = 600, 30


class World:
    """A provider that answers as it is told, and a clock that is set by hand."""

    def __init__(self) -> None:
        self.now, self.asked, self.away = 1000.0, 0, False
        self.kids: list[str | None] = ["a"]
        self.gate: asyncio.Event | None = None
        self.keys = SigningKeys(self.fetch, ("ES256",), LASTS, BETWEEN, lambda: self.now)

    async def fetch(self) -> Mapping[str, Any]:
        self.asked += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.away:
            raise OSError
        return {"keys": [CURVE | ({} if kid is None else {"kid": kid}) for kid in self.kids]}

    async def found(self, kid: str | None, after: float = 0) -> str:
        self.now += after
        try:
            await self.keys.find(kid, "ES256")
        except ProviderAwayError:
            return "away"
        except UnauthenticatedError:
            return "unknown"
        await asyncio.sleep(0)  # a fetch that nobody waits for goes on
        return "found"


def test_keys_are_fetched_once_and_again_after_a_while() -> None:
    async def story() -> None:
        world = World()
        assert [await world.found("a") for _ in range(5)] == ["found"] * 5
        assert world.asked == 1
        assert await world.found("a", LASTS) == "found"
        assert world.asked == 1
        world.kids = ["b"]
        assert await world.found("a", 1) == "found"  # nobody waits for the fetch
        await asyncio.sleep(0)
        assert (world.asked, await world.found("a")) == (2, "unknown")
        assert (world.asked, await world.found("b")) == (2, "found")

    asyncio.run(story())


def test_an_unknown_kid_is_asked_for_now_and_then() -> None:
    async def story() -> None:
        world = World()
        assert [await world.found(f"x{number}") for number in range(50)] == ["unknown"] * 50
        assert world.asked == 1
        world.kids = ["a", "b"]
        assert await world.found("b", BETWEEN - 1) == "unknown"
        assert (await world.found("b", 1), world.asked) == ("found", 2)

    asyncio.run(story())


def test_a_provider_that_is_away() -> None:
    async def story() -> None:
        world = World()
        world.away = True
        assert [await world.found("a") for _ in range(5)] == ["away"] * 5
        assert world.asked == 1
        assert (await world.found("a", BETWEEN), world.asked) == ("away", 2)
        world.away = False
        assert (await world.found("a"), world.asked) == ("away", 2)
        assert await world.found("a", BETWEEN) == "found"
        world.away = True
        assert await world.found("a", LASTS + 1) == "found"
        await asyncio.sleep(0)
        assert (await world.found("b"), await world.found("a")) == ("away", "found")
        assert await world.found("a", signing_keys._USABLE_SECONDS) == "away"  # what may have been withdrawn since

    asyncio.run(story())


def test_who_waits_waits_for_one_fetch_and_not_in_any_number() -> None:
    async def story() -> None:
        world = World()
        world.gate = asyncio.Event()
        waiting = [asyncio.create_task(world.found("a")) for _ in range(signing_keys._MAX_WAITING + 10)]
        await asyncio.sleep(0.01)
        waiting[0].cancel()  # who hangs up ends it for nobody else
        world.gate.set()
        told = await asyncio.gather(*waiting[1:])
        assert (told.count("found"), told.count("away")) == (signing_keys._MAX_WAITING - 1, 10)
        assert world.asked == 1

    asyncio.run(story())


def test_a_provider_that_does_not_end_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_requests, "TIMEOUT_SECONDS", 0.01)

    async def story() -> None:
        world = World()
        world.gate = asyncio.Event()
        assert await world.found("a") == "away"

    asyncio.run(story())


def test_a_token_without_a_kid_needs_a_set_with_one_key() -> None:
    async def story(kids: list[str | None]) -> str:
        world = World()
        world.kids = kids
        return await world.found(None)

    assert asyncio.run(story(["a"])) == asyncio.run(story([None])) == "found"
    assert asyncio.run(story(["a", "b"])) == asyncio.run(story([])) == "unknown"


@pytest.mark.parametrize(
    "document",
    [{}, {"keys": None}, {"keys": {}}, {"keys": [None, 1, "a", []]}, {"keys": [{**CURVE, "use": "enc"}]}]
    + [{"keys": [{**CURVE, **change}]} for change in ({"alg": "RS256"}, {"kty": "oct"}, {"x": "AA"}, {"crv": "P-384"})],
    ids=str,
)
def test_what_holds_no_key_for_signatures(document: dict[str, Any]) -> None:
    assert select_usable_keys(document, ("RS256", "ES256")) == {}
    assert list(select_usable_keys({"keys": [CURVE | {"kid": "a"}]}, ("RS256", "ES256"))) == [("a", "ES256")]
