"""The client of a service, with the calls that do not belong to one dataset."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

from snapledger_client import calls, connection, figure_calls, token_files
from snapledger_client._async.account import AsyncAccount
from snapledger_client._async.dataset import AsyncDataset
from snapledger_client._async.figure_collections import AsyncCollections
from snapledger_client._async.listing import AsyncListing
from snapledger_client.arguments import require_released
from snapledger_client.device_codes import DeviceCode, print_code
from snapledger_client.models.accounts import (
    AuditRecord,
    Connection,
    DatasetFacts,
    Draft,
    Health,
    IssuedKey,
    Me,
    Principal,
    Verification,
    VerificationSummary,
)
from snapledger_client.models.figures import Figure, FigureReader
from snapledger_client.models.plans import FreePlan
from snapledger_client.models.releases import Release
from snapledger_client.numbers import Number
from snapledger_client.options import PlanOptions
from snapledger_client.statistics import Statistic
from snapledger_client.uploads import Progress, Table, open_table


class AsyncClient(AsyncCollections):
    """A service, as one principal calls it: calls are awaited, lists are asynchronous iterators.

    The defaults of `url` and `key` are SNAPLEDGER_URL and SNAPLEDGER_KEY. A call waits `timeout` seconds for its
    answer. If repeating it is safe, a failed call is sent again up to `retries` times: first after `backoff` seconds,
    then after twice as long each time. Tasks may share a client. As a context manager it closes its connections.

    With `rehearse`, every release, batch and derived statistic is a rehearsal with made-up data, which costs nothing:
    write a program with it, then leave it out.

    An `anonymous` client sends no key. It reads the figures and collections that are public, and nothing else.

    Examples:
        >>> from snapledger_client import AsyncClient
        >>> async with AsyncClient() as client:
        ...     print((await client.dataset("penguins").describe()).n)
        344
        >>> async with AsyncClient(anonymous=True) as anybody:
        ...     print([each.figure async for each in anybody.figures("no such")])
        []
    """

    @classmethod
    async def sign_in(
        cls,
        url: str | None = None,
        *,
        store: bool | str | Path = False,
        show: Callable[[DeviceCode], object] | None = print_code,
        timeout: float = 60,
        retries: int = 6,
        backoff: float = 0.2,
        rehearse: bool = False,
    ) -> Self:
        """Sign in with your organisation's account, and return a client that stays signed in.

        `show` is called with the address and the code to enter there; the call then waits until somebody has done so.
        The client renews its tokens. They are in memory, or with `store=True` in a file that only you can read, or in
        the file that `store` names. A stored session goes on without a code; with `show=None`, only that is tried.

        Examples:
            >>> from snapledger_client import SignInError
            >>> try:
            ...     client = await AsyncClient.sign_in()
            ... except SignInError as error:
            ...     print(error)
            The service at ... does not let programs sign people in: use a key.
        """
        address = connection.find_url(url).rstrip("/")
        account = await AsyncAccount.sign_in(address, token_files.find_path(store), show)
        token = await account.find_token()
        client = cls(address, token, timeout=timeout, retries=retries, backoff=backoff, rehearse=rehearse)
        client._account = account
        return client

    async def sign_out(self) -> None:
        """Forget the tokens of `sign_in`, in the file too, and revoke them; a key stays valid.

        Examples:
            >>> another = AsyncClient()
            >>> await another.sign_out()
        """
        if self._account is not None:
            await self._account.sign_out()

    def __repr__(self) -> str:
        return f"AsyncClient({str(self._http.base_url)!r})"

    def dataset(self, name: str) -> AsyncDataset:
        """Return a dataset by its name, without sending anything.

        Examples:
            >>> client.dataset("penguins").name
            'penguins'
        """
        return AsyncDataset(self, name, rehearse=self._rehearses)

    def plan(
        self,
        statistic: Statistic,
        n: int,
        rows_per_unit: int = 1,
        columns: Mapping[str, Any] | None = None,
        *,
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guess: Number | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        curve: tuple[Number, Number, int] | None = None,
    ) -> Awaitable[FreePlan]:
        """What a release would promise on any dataset of `n` rows: no dataset is needed.

        Args:
            statistic: from `mean`, `count`, `histogram` … of this package, with bounds.
            n: the number of rows.
            rows_per_unit: how many rows a protected unit has at most.
            columns: declared as in a registration; needed for filters and groups.
            epsilon: what it may cost; or give accuracy, or relative_accuracy.
            accuracy: the largest error that you accept, in the unit of the value.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guess: what the value may be, without the data; shows the bias there.
            alpha: the probability that the error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            curve: (first ε, last ε, points): what each of these would buy.

        Examples:
            >>> plan = await client.plan(mean("body_mass_g", bounds=(2000, 7000)), n=344, accuracy=50)
            >>> plan.privacy.epsilon
            Decimal('0.871099697')
        """
        require_released(statistic, "plan", "`plan_derived(…)` of a dataset")
        options = PlanOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guess=guess,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            curve=curve,
        )
        return self._send(calls.plan_without_dataset(statistic, n, rows_per_unit, columns, **options))

    def me(self) -> Awaitable[Me]:
        """Who the caller is, and what it may spend on which dataset.

        Examples:
            >>> (await client.me()).role
            'analyst'
        """
        return self._send(calls.get_me())

    def replace_own_key(self) -> Awaitable[IssuedKey]:
        """Replace the caller's key and return the new one; the key of this client stops working.

        Examples:
            >>> issued = await admin.create_principal("grace", "analyst")
            >>> async with AsyncClient(key=issued.key) as grace:
            ...     print((await grace.replace_own_key()).key == issued.key)
            False
        """
        return self._send(calls.replace_own_key())

    def datasets(self) -> AsyncListing[DatasetFacts]:
        """The datasets that the caller may see, oldest first.

        Examples:
            >>> [facts.name async for facts in client.datasets()]
            ['penguins']
        """
        return self._list(calls.list_datasets(), "datasets")

    async def register(
        self, metadata: Mapping[str, Any], file: Table | None = None, progress: Progress | None = None
    ) -> DatasetFacts:
        r"""Register a table, for owners: `metadata` describes it.

        `file` is the content of a CSV, Parquet or Excel file, an open file or stream (`gzip.open(…)`, a pipe), or a
        data frame of pandas, polars or Arrow. No more than a piece of it is held in memory; a frame is written to a
        temporary file. `progress` is called with the number of bytes of each piece that is sent, such as
        `tqdm(…).update`. Without a `file`, the metadata has a `source`, which names a table of a connection.

        Examples:
            >>> columns = {"age": {"kind": "integer", "bounds": [0, 120]}}
            >>> metadata = {"name": "register-survey", "epsilon_limit": "3", "columns": columns}
            >>> (await owner.register(metadata, b"age\n31\n64\n")).n
            2
        """
        if file is None:
            return await self._send(calls.register_source(metadata))
        with open_table(file, progress) as stream:
            return await self._send(calls.register_dataset(metadata, stream))

    async def draft(
        self,
        file: Table | None = None,
        *,
        source: Mapping[str, Any] | None = None,
        file_format: Mapping[str, Any] | None = None,
        has_header: bool = True,
    ) -> Draft:
        r"""Draft the metadata of a table from its values, for owners; the service keeps neither.

        `file` is as in `register`. `file_format` has what the file may not show: `encoding`, `date_order`, `header_row`
        or `sheet`. Without a `file`, `source` names a table of a connection.

        Examples:
            >>> (await owner.draft(b"age\n31\n64\n")).metadata["columns"]
            {'age': {'kind': 'integer', 'bounds': ['31', '64'], 'unconfirmed': ['bounds']}}
        """
        if (file is None) == (source is None):
            raise TypeError("draft takes either a file or a source")
        if file is None:
            return await self._send(calls.draft_source(source or {}))
        known = {"has_header": has_header} | ({} if file_format is None else {"format": file_format})
        with open_table(file) as stream:
            return await self._send(calls.draft_file(known, stream))

    async def connections(self) -> tuple[Connection, ...]:
        """The connections that the operator configured, for owners: tables behind them can be registered.

        Examples:
            >>> await owner.connections()  # none
            ()
        """
        return (await self._send(calls.list_connections())).connections

    def releases(self, *, newest: bool = False) -> AsyncListing[Release]:
        """The caller's own releases, oldest first, or with `newest` the newest first.

        Examples:
            >>> first = await penguins.mean("body_mass_g", epsilon="0.5")
            >>> first.id in [release.id async for release in client.releases()]
            True
            >>> latest = await penguins.mean("body_mass_g", epsilon="0.51", reuse=False)
            >>> [release.id async for release in client.releases(newest=True)][0] == latest.id
            True
        """
        return self._list(calls.list_own_releases(newest=newest), "releases")

    def release(self, release_id: str) -> Awaitable[Release]:
        """An earlier release.

        Examples:
            >>> first = await penguins.mean("body_mass_g", epsilon="0.5")
            >>> (await client.release(first.id)).id == first.id
            True
        """
        return self._send(calls.get_release(release_id))

    def principal(self, name: str) -> Awaitable[Principal]:
        """A principal by its name, for admins.

        Examples:
            >>> (await admin.principal("ada")).role
            'analyst'
        """
        return self._send(calls.get_principal(name))

    def principals(self) -> AsyncListing[Principal]:
        """All principals, oldest first, for admins.

        Examples:
            >>> 'ada' in [principal.name async for principal in admin.principals()]
            True
        """
        return self._list(calls.list_principals(), "principals")

    def create_principal(
        self, name: str, role: str, key_expires_at: datetime | None = None, display_name: str | None = None
    ) -> Awaitable[IssuedKey]:
        """Create a principal, for admins: an `admin`, `owner`, `auditor` or `analyst`. Its key is shown only once.

        The key expires at `key_expires_at`, a time with a time zone, or never if that is None. People see
        `display_name` beside the name.

        Examples:
            >>> issued = await admin.create_principal("grace", "analyst", display_name="Grace Hopper")
            >>> issued.role, issued.display_name
            ('analyst', 'Grace Hopper')
        """
        return self._send(calls.create_principal(name, role, key_expires_at, display_name))

    def set_display_name(self, name: str, display_name: str | None) -> Awaitable[Principal]:
        """Change how people call a principal, for admins; None removes the display name.

        Examples:
            >>> (await admin.set_display_name("ada", "Ada Lovelace")).display_name
            'Ada Lovelace'
        """
        return self._send(calls.set_display_name(name, display_name))

    def replace_key(self, name: str, key_expires_at: datetime | None = None) -> Awaitable[IssuedKey]:
        """Replace a principal's key and return the new one, for admins; the old one stops working.

        The new key expires at `key_expires_at`, a time with a time zone, or never if that is None.

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
        """Disable a principal for good, for admins.

        Examples:
            >>> _ = await admin.create_principal("grace", "analyst")
            >>> await admin.disable_principal("grace")
        """
        return self._send(calls.disable_principal(name))

    def audit(self) -> AsyncListing[AuditRecord]:
        """Every administrative act, oldest first, for admins and auditors.

        Examples:
            >>> [record.seq async for record in admin.audit()][:2]
            [1, 2]
        """
        return self._list(calls.list_audit(), "audit log")

    def figures(self, search: str | None = None) -> AsyncListing[Figure]:
        """The figures that the caller may see, over all datasets.

        Args:
            search: only those with this text in their name or title.

        Examples:
            >>> [each.figure async for each in client.figures("no such")]
            []
        """
        return self._list(figure_calls.list_figures(None, search), "figures")

    def figure_reader(self) -> Awaitable[FigureReader]:
        """Who the caller is. Unlike `me()`, a viewer may ask this too.

        Examples:
            >>> (await client.figure_reader()).role
            'analyst'
        """
        return self._send(figure_calls.get_reader())

    def figure_feed(self) -> Awaitable[str]:
        """An Atom feed of the figures that the caller may see, the latest first.

        Examples:
            >>> "<feed" in await client.figure_feed()
            True
        """
        return self._send(figure_calls.get_feed())

    def health(self, *, database: bool = True) -> Awaitable[Health]:
        """Ask whether the service is ready; an `Unavailable` says that it is not.

        Without `database`, ask only whether its process answers.

        Examples:
            >>> (await client.health()).status
            'ok'
        """
        return self._send(calls.get_health(database=database))

    def metrics(self) -> Awaitable[str]:
        """Counts, times and budgets in Prometheus' text format, for admins and auditors.

        Examples:
            >>> "# TYPE snapledger" in await admin.metrics()
            True
        """
        return self._send(calls.get_metrics())

    def verify_audit(self) -> Awaitable[Verification]:
        """Let the service verify the audit log and compare every principal with it, for admins and auditors.

        Examples:
            >>> (await admin.verify_audit()).valid
            True
        """
        return self._send(calls.verify_audit())

    async def latest_audit_verification(self) -> VerificationSummary | None:
        """When the audit log was verified last, by whom, and what was found, for admins and auditors.

        Examples:
            >>> _ = await admin.verify_audit()
            >>> (await admin.latest_audit_verification()).valid
            True
        """
        return (await self._send(calls.get_latest_audit_verification())).latest
