"""Lists come page by page, whole and in order; files are uploaded from where they are."""

import asyncio
import io
from typing import Any

import pytest
from client_world import COLUMNS, PENGUINS
from service_world import X_COLUMNS, Service, Table, a_name, key_of, numbers_csv

from snapledger_client import AsyncClient, Client, calls


@pytest.fixture
def table(one_service: Service) -> Table:
    table = one_service.table(X_COLUMNS, numbers_csv(100))
    for _ in range(4):
        table.fresh({"kind": "mean", "column": "x"}, epsilon="0.1")
    return table


@pytest.mark.parametrize("page", [1, 2, 3, 5, 6, 7, 1000])
def test_every_page_is_fetched(table: Table, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(calls, "PAGE_SIZE", page)
    expected = [entry["seq"] for entry in table.entries()]
    assert len(expected) == 6

    async def ask() -> tuple[list[int], list[str]]:
        async with AsyncClient(table.service.url, key_of(table.owner)) as owner:
            dataset = owner.dataset(table.name)
            return [entry.seq async for entry in dataset.ledger()], [each.id async for each in dataset.releases()]

    with Client(table.service.url, key_of(table.owner)) as owner:
        dataset = owner.dataset(table.name)
        entries, ids = [entry.seq for entry in dataset.ledger()], [each.id for each in dataset.releases()]
    assert asyncio.run(ask()) == (entries, ids)
    assert entries == expected
    assert len(set(ids)) == 4


def test_pages_are_fetched_when_they_are_needed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "PAGE_SIZE", 1)
    with Client(table.service.url, key_of(table.owner), retries=0) as owner:
        entries = owner.dataset(table.name).ledger()
        assert next(entries).seq == 1
    with pytest.raises(RuntimeError, match="closed"):
        next(entries)


def test_a_file_is_uploaded(one_service: Service) -> None:
    _, owner = one_service.principal("owner")

    async def upload() -> int:
        async with AsyncClient(one_service.url, key_of(owner)) as client:
            facts = await client.register(metadata(), io.BytesIO(PENGUINS))
            return facts.n

    def metadata() -> dict[str, Any]:
        return {"name": a_name("file"), "epsilon_limit": 1, "columns": COLUMNS}

    with Client(one_service.url, key_of(owner)) as client:
        assert client.register(metadata(), io.BytesIO(PENGUINS)).n == 344
    assert asyncio.run(upload()) == 344
