"""A network that loses answers never makes anybody pay twice."""

import asyncio
from collections.abc import Callable
from decimal import Decimal

import pytest
from client_world import losing_every_third_answer
from service_world import X_COLUMNS, Service, Table, key_of, numbers_csv

from snapledger_client import (
    AsyncClient,
    BudgetExhausted,
    Client,
    InvalidRequest,
    NameTaken,
    SnapledgerError,
    Unauthenticated,
    Unavailable,
    Unreachable,
)

RELEASES, EPSILON = 100, Decimal("0.05")


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(100))


def by_turns(url: str, table: Table) -> list[str]:
    with Client(url, key_of(table.analyst), backoff=0.001) as client:
        dataset = client.dataset(table.name)
        return [dataset.mean("x", epsilon=EPSILON, reuse=False).id for _ in range(RELEASES)]


def at_once(url: str, table: Table) -> list[str]:
    async def release() -> list[str]:
        async with AsyncClient(url, key_of(table.analyst), backoff=0.001, retries=20) as client:
            few = asyncio.Semaphore(4)

            async def one() -> str:
                async with few:
                    return (await client.dataset(table.name).mean("x", epsilon=EPSILON, reuse=False)).id

            return await asyncio.gather(*(one() for _ in range(RELEASES)))

    return asyncio.run(release())


@pytest.mark.slow
@pytest.mark.parametrize("release", [by_turns, at_once])
def test_a_hundred_releases_cost_a_hundred_debits(table: Table, release: Callable[[str, Table], list[str]]) -> None:
    with losing_every_third_answer(table.service.url) as loss:
        ids = release(loss.url, table)
    assert loss.dropped >= RELEASES // 3
    assert loss.seen == RELEASES + loss.dropped
    debits = [entry for entry in table.entries() if entry["kind"] == "debit"]
    assert sorted(entry["release_id"] for entry in debits) == sorted(ids)
    assert len(set(ids)) == RELEASES
    assert Decimal(table.budget()["epsilon_spent"]) == RELEASES * EPSILON


def test_what_cannot_be_repeated_is_not(table: Table) -> None:
    """The principal is made and its answer lost: sent again, that would be a refusal that nobody can make sense of."""
    with (
        losing_every_third_answer(table.service.url) as loss,
        Client(loss.url, table.service.admin_key, backoff=0.001) as admin,
    ):
        admin.me()
        admin.me()
        with pytest.raises(Unreachable):
            admin.create_principal(f"{table.name}-twin", "analyst")
        assert loss.seen == 3
        with pytest.raises(NameTaken):
            admin.create_principal(f"{table.name}-twin", "analyst")
        assert loss.seen == 4


def test_refusals_are_asked_once(table: Table) -> None:
    with losing_every_third_answer(table.service.url) as loss:
        with Client(loss.url, key_of(table.analyst)) as client, pytest.raises(InvalidRequest) as invalid:
            client.dataset(table.name).mean("y", epsilon=1)
        with Client(loss.url, key_of(table.analyst)) as client, pytest.raises(BudgetExhausted) as exhausted:
            client.dataset(table.name).mean("x", epsilon=11)
        assert loss.seen == 2
    assert invalid.value.errors[0][0] == "statistic.column"
    assert exhausted.value.idempotency_key is not None
    told = exhausted.value
    assert (told.scope, told.requested, told.remaining, told.limit) == ("dataset", 11, 10, 10)


def test_a_key_that_is_no_longer_in_force(table: Table) -> None:
    with Client(table.service.url, "other") as client, pytest.raises(Unauthenticated):
        client.me()


def test_a_service_that_is_away(table: Table) -> None:
    with Client("http://127.0.0.1:9", "any", retries=2, backoff=0.001) as client:
        with pytest.raises(Unreachable) as lost:
            client.dataset("any").mean("x", epsilon=1, key="mine")
        assert lost.value.idempotency_key == "mine"
        assert isinstance(lost.value, SnapledgerError)
        assert not isinstance(lost.value, Unavailable)
