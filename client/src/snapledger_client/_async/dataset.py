"""A dataset: its facts, releases, budget and ledger, and the calls for its owner."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Literal, NoReturn

from snapledger_client import calls
from snapledger_client._async.derived_queries import AsyncDerivedQueries
from snapledger_client._async.figures import AsyncFigures
from snapledger_client._async.listing import AsyncListing
from snapledger_client._async.release_queries import AsyncReleaseQueries
from snapledger_client._async.reports import AsyncReports
from snapledger_client.arguments import describe_missing_method, explain_arguments
from snapledger_client.calls import Match
from snapledger_client.models.accounts import (
    Budget,
    BudgetRequest,
    DatasetFacts,
    Entry,
    GrantedAllowance,
    Grantee,
    Limit,
    Verification,
    VerificationSummary,
)
from snapledger_client.models.releases import Release
from snapledger_client.numbers import Number


@explain_arguments
class AsyncDataset(AsyncReleaseQueries, AsyncDerivedQueries, AsyncFigures, AsyncReports):
    """A dataset, with the calls for analysts and for its owner; `AsyncClient.dataset` returns one.

    Examples:
        >>> penguins = client.dataset("penguins")
        >>> penguins.name
        'penguins'
    """

    def __repr__(self) -> str:
        return f"AsyncDataset({self.name!r}{', rehearse=True' if self._rehearses else ''})"

    if not TYPE_CHECKING:  # a type checker names unknown members itself

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(describe_missing_method(type(self), name), name=name, obj=self)

    def rehearse(self) -> AsyncDataset:
        """Return the same dataset, of which every release, batch and derived statistic is a rehearsal.

        A rehearsal has the shape of the answer, is drawn from made-up data, costs nothing and is never stored.

        Examples:
            >>> rehearsed = await penguins.rehearse().mean("body_mass_g", epsilon="0.5")
            >>> rehearsed.rehearsed, rehearsed.budget.charged
            (True, Decimal('0'))
        """
        return type(self)(self._client, self.name, rehearse=True)

    def describe(self) -> Awaitable[DatasetFacts]:
        """The public facts of the dataset.

        Examples:
            >>> (await penguins.describe()).state
            'open'
        """
        return self._send(calls.describe_dataset(self.name))

    def releases(self, *, newest: bool = False) -> AsyncListing[Release]:
        """Earlier releases of everybody, oldest first, or with `newest` the newest first.

        Examples:
            >>> first = await penguins.mean("body_mass_g", epsilon="0.5")
            >>> first.id in [release.id async for release in penguins.releases()]
            True
        """
        return self._list(calls.list_releases(self.name, newest=newest), "releases")

    def budget(self) -> Awaitable[Budget]:
        """What the dataset and the caller may spend.

        Examples:
            >>> (await penguins.budget()).epsilon_limit
            Decimal('1000')
        """
        return self._send(calls.get_budget(self.name))

    def ledger(self, *, newest: bool = False) -> AsyncListing[Entry]:
        """Every entry of the ledger, for owners and auditors: oldest first, or with `newest` the newest first.

        Examples:
            >>> [entry.seq async for entry in owner.dataset("penguins").ledger()][:2]
            [1, 2]
            >>> [entry.seq async for entry in owner.dataset("penguins").ledger(newest=True)][-1]
            1
        """
        return self._list(calls.list_ledger(self.name, newest=newest), "ledger")

    def verify(self, *, incremental: bool = False) -> Awaitable[Verification]:
        """Let the service compute every hash and sum of the ledger again, for owners and auditors.

        With `incremental`, it checks only what follows the latest verified entry.

        Examples:
            >>> (await owner.dataset("penguins").verify()).valid
            True
        """
        return self._send(calls.verify_ledger(self.name, incremental=incremental))

    async def latest_verification(self) -> VerificationSummary | None:
        """When the ledger was verified last, by whom, and what was found, for owners and auditors.

        Examples:
            >>> _ = await owner.dataset("penguins").verify()
            >>> (await owner.dataset("penguins").latest_verification()).valid
            True
        """
        return (await self._send(calls.get_latest_verification(self.name))).latest

    def allow(
        self,
        principal: str,
        epsilon_limit: Number,
        window_days: int | None = None,
        *,
        if_match: Match | None = None,
        only_new: bool = False,
    ) -> Awaitable[Budget]:
        """Let a principal see the dataset and spend ε on it, for owners; `window_days` renews the limit periodically.

        With `if_match`, an answer of `allowance` or its `etag`, the allowance is changed only if nobody has changed it
        since it was read; otherwise the call raises `PreconditionFailed`. With `only_new`, it is granted only if the
        principal has none; otherwise the call raises `AlreadyExists`.

        Examples:
            >>> budget = await owner.dataset("penguins").allow("ada", 500)
            >>> budget.allowances[0].epsilon_limit
            Decimal('500')
            >>> granted = await owner.dataset("penguins").allowance("ada")
            >>> budget = await owner.dataset("penguins").allow("ada", granted.epsilon_limit, if_match=granted)
        """
        return self._send(
            calls.set_allowance(self.name, principal, epsilon_limit, window_days, if_match, only_new=only_new)
        )

    def revoke(self, principal: str, *, if_match: Match | None = None) -> Awaitable[None]:
        """Revoke a principal's access to the dataset, for owners; what it has spent stays spent.

        `if_match` is as in `allow`.

        Examples:
            >>> _ = await admin.create_principal("grace", "analyst")
            >>> _ = await owner.dataset("penguins").allow("grace", "0.5")
            >>> await owner.dataset("penguins").revoke("grace")
        """
        return self._send(calls.revoke_allowance(self.name, principal, if_match))

    def allowance(self, principal: str) -> Awaitable[GrantedAllowance]:
        """A principal's allowance as it was granted, for owners and auditors, and for itself.

        Examples:
            >>> (await owner.dataset("penguins").allowance("ada")).principal
            'ada'
        """
        return self._send(calls.get_allowance(self.name, principal))

    def limit(self) -> Awaitable[Limit]:
        """The ε that may be spent on the dataset in its whole life.

        Examples:
            >>> (await penguins.limit()).epsilon_limit
            Decimal('1000')
        """
        return self._send(calls.get_limit(self.name))

    def entry(self, seq: int) -> Awaitable[Entry]:
        """One entry of the ledger by its number, for owners and auditors.

        Examples:
            >>> (await owner.dataset("penguins").entry(1)).kind
            'open'
        """
        return self._send(calls.get_entry(self.name, seq))

    def budget_request(self, request_id: str) -> Awaitable[BudgetRequest]:
        """One request for budget, for owners, and for who asked.

        Examples:
            >>> asked = await penguins.request_budget("0.5", "The report needs the means by year too.")
            >>> (await penguins.budget_request(asked.id)).state
            'open'
            >>> (await owner.dataset("penguins").decline_request(asked.id)).state
            'declined'
        """
        return self._send(calls.get_budget_request(self.name, request_id))

    def grantees(self, *, to: Literal["spend", "view"] = "spend") -> AsyncListing[Grantee]:
        """The principals that may get an allowance, or with `to="view"` be made viewers, oldest first, for owners.

        Examples:
            >>> "ada" in [grantee.name async for grantee in owner.dataset("penguins").grantees()]
            True
        """
        return self._list(calls.list_grantees(self.name, to), "grantees")

    def request_budget(self, epsilon: Number, reason: str) -> Awaitable[BudgetRequest]:
        """Ask the owner to raise the caller's allowance by ε, with a reason; one request at a time.

        Examples:
            >>> request = await penguins.request_budget("0.5", "The report needs the means by island too.")
            >>> (await owner.dataset("penguins").decline_request(request.id, "Not this year.")).answer
            'Not this year.'
        """
        return self._send(calls.request_budget(self.name, epsilon, reason))

    def budget_requests(self) -> AsyncListing[BudgetRequest]:
        """Requests for budget, oldest first: all for owners and auditors, otherwise the caller's own.

        Examples:
            >>> [request.reason async for request in penguins.budget_requests() if request.state == "open"]
            []
        """
        return self._list(calls.list_budget_requests(self.name), "budget requests")

    def grant_request(
        self, request_id: str, epsilon: Number | None = None, answer: str | None = None
    ) -> Awaitable[BudgetRequest]:
        """Raise an allowance by what was asked, or by another ε, for owners; nothing is debited.

        Examples:
            >>> request = await penguins.request_budget("0.5", "The report needs the means by island too.")
            >>> (await owner.dataset("penguins").grant_request(request.id, "0.25")).granted
            Decimal('0.25')
        """
        return self._send(calls.grant_request(self.name, request_id, epsilon, answer))

    def decline_request(self, request_id: str, answer: str | None = None) -> Awaitable[BudgetRequest]:
        """Decline a request for budget, for owners.

        Examples:
            >>> request = await penguins.request_budget(5, "A map of every colony.")
            >>> (await owner.dataset("penguins").decline_request(request.id)).state
            'declined'
        """
        return self._send(calls.decline_request(self.name, request_id, answer))

    def adjust(self, epsilon_limit: Number, reason: str, *, if_match: Match | None = None) -> Awaitable[Budget]:
        """Change the limit of the whole dataset, with a reason; for owners.

        With `if_match`, an answer of `limit` or its `etag`, only if nobody has changed it since it was read.

        Examples:
            >>> (await owner.dataset("penguins").adjust(1000, "nothing changes")).epsilon_limit
            Decimal('1000')
        """
        return self._send(calls.adjust_budget(self.name, epsilon_limit, reason, if_match))

    def revalidate(self) -> Awaitable[DatasetFacts]:
        """Repeat the checks of registration on a live table, for owners: a stale dataset opens if it is as it was.

        Examples:
            >>> (await owner.dataset("penguins").revalidate()).state
            'open'
        """
        return self._send(calls.revalidate_dataset(self.name))

    def delete(self) -> Awaitable[None]:
        r"""Delete the data for good, for owners; the ledger and the releases stay readable.

        Examples:
            >>> metadata = {"name": "delete-survey", "epsilon_limit": "3", "columns": {"yes": {"kind": "boolean"}}}
            >>> _ = await owner.register(metadata, b"yes\ntrue\nfalse\n")
            >>> await owner.dataset("delete-survey").delete()
        """
        return self._send(calls.delete_dataset(self.name))
