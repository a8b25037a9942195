"""The client for asynchronous programs: the same calls, awaited."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from datetime import datetime
from typing import IO, Any, Self, TypeVar, Unpack

import httpx

from snapledger_client import calls, connection
from snapledger_client.accounts import AuditRecord, Budget, DatasetFacts, Entry, IssuedKey, Me, Principal, Verification
from snapledger_client.async_asking import AsyncAsking
from snapledger_client.calls import Call, Pages, answer_of
from snapledger_client.numbers import Number
from snapledger_client.plans import FreePlan
from snapledger_client.questions import PlanAsked
from snapledger_client.releases import Release
from snapledger_client.retries import Patience, unreachable
from snapledger_client.statistics import Statistic

T = TypeVar("T")


class AsyncClient:
    """`Client` for asynchronous programs and notebooks: its calls are awaited, its lists are asynchronous iterators.

    Examples:
        >>> from snapledger_client import AsyncClient
        >>> async with AsyncClient() as somebody:
        ...     print((await somebody.dataset("penguins").describe()).n)
        344
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 60,
        retries: int = 6,
        backoff: float = 0.2,
    ) -> None:
        self._http = httpx.AsyncClient(**connection.settings(url, key, timeout))
        self._timeout, self._patience = timeout, Patience(retries, backoff)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections.

        Examples:
            >>> another = AsyncClient()
            >>> await another.close()
        """
        await self._http.aclose()

    async def _send(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.RequestError
            try:
                outcome = await self._http.request(**connection.sent(call, self._timeout))
            except httpx.RequestError as error:
                outcome = error
            pause = self._patience.pause(call, attempt, outcome)
            if pause is None:
                break
            await asyncio.sleep(pause)
            attempt += 1
        if isinstance(outcome, httpx.RequestError):
            raise unreachable(call, outcome) from outcome
        return answer_of(call, outcome)

    async def _items(self, pages: Pages[T]) -> AsyncIterator[T]:
        page = await self._send(pages(None))
        for item in page.items:
            yield item
        while page.next is not None:
            page = await self._send(pages(page.next))
            for item in page.items:
                yield item

    def dataset(self, name: str) -> "AsyncDataset":
        """A dataset, to ask of it; nothing is sent yet.

        Examples:
            >>> client.dataset("penguins").name
            'penguins'
        """
        return AsyncDataset(self, name)

    def plan(
        self,
        statistic: Statistic,
        n: int,
        rows_per_unit: int = 1,
        columns: Mapping[str, Any] | None = None,
        **asked: Unpack[PlanAsked],
    ) -> Awaitable[FreePlan]:
        """What a release would promise on any dataset of `n` rows: no dataset is needed. See `PlanAsked`.

        Bounds imply the columns; what names columns without them (a filter, groups) needs `columns`, declared as at a
        registration.

        Examples:
            >>> plan = await client.plan(mean("body_mass_g", bounds=(2000, 7000)), n=344, accuracy=50)
            >>> plan.privacy.epsilon
            Decimal('1.018956556')
        """
        return self._send(calls.free_plan(statistic, n, rows_per_unit, columns, **asked))

    def me(self) -> Awaitable[Me]:
        """Who the caller is, and what it may spend on which dataset.

        Examples:
            >>> (await client.me()).role
            'analyst'
        """
        return self._send(calls.me())

    def replace_own_key(self) -> Awaitable[IssuedKey]:
        """A new key for the caller; the one that this client calls with stops working.

        Examples:
            >>> issued = await admin.create_principal("grace", "analyst")
            >>> async with AsyncClient(key=issued.key) as grace:
            ...     print((await grace.replace_own_key()).key == issued.key)
            False
        """
        return self._send(calls.replace_own_key())

    def datasets(self) -> AsyncIterator[DatasetFacts]:
        """The datasets that the caller may see, oldest first.

        Examples:
            >>> [facts.name async for facts in client.datasets()]
            ['penguins']
        """
        return self._items(calls.datasets())

    def register(self, metadata: Mapping[str, Any], file: bytes | IO[bytes]) -> Awaitable[DatasetFacts]:
        r"""Register a table, for owners: `metadata` says what it is, `file` is CSV or Parquet.

        Examples:
            >>> columns = {"age": {"kind": "integer", "bounds": [0, 120]}}
            >>> metadata = {"name": "register-survey", "epsilon_limit": "3", "columns": columns}
            >>> (await owner.register(metadata, b"age\n31\n64\n")).n
            2
        """
        return self._send(calls.register(metadata, file))

    def releases(self) -> AsyncIterator[Release]:
        """The caller's own releases, oldest first.

        Examples:
            >>> first = await penguins.mean("body_mass_g", epsilon="0.5")
            >>> first.id in [release.id async for release in client.releases()]
            True
        """
        return self._items(calls.own_releases())

    def release(self, release_id: str) -> Awaitable[Release]:
        """An earlier release.

        Examples:
            >>> first = await penguins.mean("body_mass_g", epsilon="0.5")
            >>> (await client.release(first.id)).value == first.value
            True
        """
        return self._send(calls.one_release(release_id))

    def principals(self) -> AsyncIterator[Principal]:
        """All principals, oldest first, for admins.

        Examples:
            >>> 'ada' in [principal.name async for principal in admin.principals()]
            True
        """
        return self._items(calls.principals())

    def create_principal(self, name: str, role: str, key_expires_at: datetime | None = None) -> Awaitable[IssuedKey]:
        """Make a principal, for admins: an `admin`, `owner`, `auditor` or `analyst`. Its key is shown this once.

        From `key_expires_at` on, a time with its zone, the key opens nothing; None: it never expires.

        Examples:
            >>> (await admin.create_principal("grace", "analyst")).role
            'analyst'
        """
        return self._send(calls.create_principal(name, role, key_expires_at))

    def replace_key(self, name: str, key_expires_at: datetime | None = None) -> Awaitable[IssuedKey]:
        """A new key for a principal, for admins; the old one stops working.

        It expires at `key_expires_at`, a time with its zone, or never.

        Examples:
            >>> old = await admin.create_principal("grace", "analyst")
            >>> (await admin.replace_key("grace")).key != old.key
            True
            >>> from datetime import datetime, timezone
            >>> (await admin.replace_key("grace", datetime(2099, 1, 31, tzinfo=timezone.utc))).key_expires_at.year
            2099
        """
        return self._send(calls.replace_key(name, key_expires_at))

    def disable_principal(self, name: str) -> Awaitable[None]:
        """Take a principal's access away for good, for admins.

        Examples:
            >>> _ = await admin.create_principal("grace", "analyst")
            >>> await admin.disable_principal("grace")
        """
        return self._send(calls.disable_principal(name))

    def audit(self) -> AsyncIterator[AuditRecord]:
        """Every administrative act, oldest first, for admins and auditors.

        Examples:
            >>> [record.seq async for record in admin.audit()][:2]
            [1, 2]
        """
        return self._items(calls.audit())

    def verify_audit(self) -> Awaitable[Verification]:
        """Have the service check the record of acts, and every principal against it, for admins and auditors.

        Examples:
            >>> (await admin.verify_audit()).valid
            True
        """
        return self._send(calls.verify_audit())


class AsyncDataset(AsyncAsking):
    """A dataset, as its analysts and its owner call it; `AsyncClient.dataset` makes one.

    Examples:
        >>> penguins = client.dataset("penguins")
        >>> penguins.name
        'penguins'
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.name = name
        self._send, self._items = client._send, client._items  # noqa: SLF001 - the same thing, told in two classes

    def __repr__(self) -> str:
        return f"AsyncDataset({self.name!r})"

    def describe(self) -> Awaitable[DatasetFacts]:
        """Its public facts.

        Examples:
            >>> (await penguins.describe()).state
            'open'
        """
        return self._send(calls.describe(self.name))

    def releases(self) -> AsyncIterator[Release]:
        """Earlier releases of everybody, oldest first.

        Examples:
            >>> first = await penguins.mean("body_mass_g", epsilon="0.5")
            >>> first.id in [release.id async for release in penguins.releases()]
            True
        """
        return self._items(calls.releases(self.name))

    def budget(self) -> Awaitable[Budget]:
        """What the dataset and the caller may spend.

        Examples:
            >>> (await penguins.budget()).epsilon_limit
            Decimal('1000')
        """
        return self._send(calls.budget(self.name))

    def ledger(self) -> AsyncIterator[Entry]:
        """Every entry of the ledger, oldest first, for owners and auditors.

        Examples:
            >>> [entry.seq async for entry in owner.dataset("penguins").ledger()][:2]
            [1, 2]
        """
        return self._items(calls.ledger(self.name))

    def verify(self) -> Awaitable[Verification]:
        """Have the service compute every hash and sum of the ledger again, for owners and auditors.

        Examples:
            >>> (await owner.dataset("penguins").verify()).valid
            True
        """
        return self._send(calls.verify(self.name))

    def allow(self, principal: str, epsilon_limit: Number, window_days: int | None = None) -> Awaitable[Budget]:
        """Let a principal see the dataset and spend on it, for owners; with `window_days`, renewed after as many days.

        Examples:
            >>> budget = await owner.dataset("penguins").allow("ada", 500)
            >>> budget.allowances[0].epsilon_limit
            Decimal('500')
        """
        return self._send(calls.allow(self.name, principal, epsilon_limit, window_days))

    def revoke(self, principal: str) -> Awaitable[None]:
        """Take a principal's access away, for owners; what it spent stays spent.

        Examples:
            >>> _ = await admin.create_principal("grace", "analyst")
            >>> _ = await owner.dataset("penguins").allow("grace", "0.5")
            >>> await owner.dataset("penguins").revoke("grace")
        """
        return self._send(calls.revoke(self.name, principal))

    def adjust(self, epsilon_limit: Number, reason: str) -> Awaitable[Budget]:
        """Give the whole dataset another limit, for owners, and say why.

        Examples:
            >>> (await owner.dataset("penguins").adjust(1000, "nothing changes")).epsilon_limit
            Decimal('1000')
        """
        return self._send(calls.adjust(self.name, epsilon_limit, reason))

    def delete(self) -> Awaitable[None]:
        r"""Delete the data for good, for owners; the ledger and the releases stay readable.

        Examples:
            >>> metadata = {"name": "delete-survey", "epsilon_limit": "3", "columns": {"yes": {"kind": "boolean"}}}
            >>> _ = await owner.register(metadata, b"yes\ntrue\nfalse\n")
            >>> await owner.dataset("delete-survey").delete()
        """
        return self._send(calls.close(self.name))
