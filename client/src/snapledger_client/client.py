"""The client: each method is one of `calls`, sent and read."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import IO, Any, Self, TypeVar, Unpack

import httpx

from snapledger_client import calls, connection
from snapledger_client.accounts import AuditRecord, Budget, DatasetFacts, Entry, IssuedKey, Me, Principal, Verification
from snapledger_client.asking import Asking
from snapledger_client.calls import Call, Pages, answer_of
from snapledger_client.numbers import Number
from snapledger_client.plans import FreePlan
from snapledger_client.questions import PlanAsked
from snapledger_client.releases import Release
from snapledger_client.retries import Patience, unreachable
from snapledger_client.statistics import Statistic

T = TypeVar("T")


class Client:
    """A service, as one principal calls it.

    `url` and `key` are taken from SNAPLEDGER_URL and SNAPLEDGER_KEY where they are not given. A call waits `timeout`
    seconds for its answer; it is sent again up to `retries` times, after `backoff` seconds and then twice as long each
    time, if that cannot have an effect twice. Threads may share it. As a context manager it closes its connections.

    Examples:
        >>> from snapledger_client import Client
        >>> with Client() as client:
        ...     print(client.dataset("penguins").describe().n)
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
        self._http = httpx.Client(**connection.settings(url, key, timeout))
        self._timeout, self._patience = timeout, Patience(retries, backoff)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections.

        Examples:
            >>> another = Client()
            >>> another.close()
        """
        self._http.close()

    def _send(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.RequestError
            try:
                outcome = self._http.request(**connection.sent(call, self._timeout))
            except httpx.RequestError as error:
                outcome = error
            pause = self._patience.pause(call, attempt, outcome)
            if pause is None:
                break
            time.sleep(pause)
            attempt += 1
        if isinstance(outcome, httpx.RequestError):
            raise unreachable(call, outcome) from outcome
        return answer_of(call, outcome)

    def _items(self, pages: Pages[T]) -> Iterator[T]:
        page = self._send(pages(None))
        yield from page.items
        while page.next is not None:
            page = self._send(pages(page.next))
            yield from page.items

    def dataset(self, name: str) -> "Dataset":
        """A dataset, to ask of it; nothing is sent yet.

        Examples:
            >>> client.dataset("penguins").name
            'penguins'
        """
        return Dataset(self, name)

    def plan(
        self,
        statistic: Statistic,
        n: int,
        rows_per_unit: int = 1,
        columns: Mapping[str, Any] | None = None,
        **asked: Unpack[PlanAsked],
    ) -> FreePlan:
        """What a release would promise on any dataset of `n` rows: no dataset is needed. See `PlanAsked`.

        Bounds imply the columns; what names columns without them (a filter, groups) needs `columns`, declared as at a
        registration.

        Examples:
            >>> plan = client.plan(mean("body_mass_g", bounds=(2000, 7000)), n=344, accuracy=50)
            >>> plan.privacy.epsilon
            Decimal('1.018956556')
        """
        return self._send(calls.free_plan(statistic, n, rows_per_unit, columns, **asked))

    def me(self) -> Me:
        """Who the caller is, and what it may spend on which dataset.

        Examples:
            >>> client.me().role
            'analyst'
        """
        return self._send(calls.me())

    def replace_own_key(self) -> IssuedKey:
        """A new key for the caller; the one that this client calls with stops working.

        Examples:
            >>> issued = admin.create_principal("grace", "analyst")
            >>> with Client(key=issued.key) as grace:
            ...     grace.replace_own_key().key == issued.key
            False
        """
        return self._send(calls.replace_own_key())

    def datasets(self) -> Iterator[DatasetFacts]:
        """The datasets that the caller may see, oldest first.

        Examples:
            >>> [facts.name for facts in client.datasets()]
            ['penguins']
        """
        return self._items(calls.datasets())

    def register(self, metadata: Mapping[str, Any], file: bytes | IO[bytes]) -> DatasetFacts:
        r"""Register a table, for owners: `metadata` says what it is, `file` is CSV or Parquet.

        Examples:
            >>> columns = {"age": {"kind": "integer", "bounds": [0, 120]}}
            >>> metadata = {"name": "register-survey", "epsilon_limit": "3", "columns": columns}
            >>> owner.register(metadata, b"age\n31\n64\n").n
            2
        """
        return self._send(calls.register(metadata, file))

    def releases(self) -> Iterator[Release]:
        """The caller's own releases, oldest first.

        Examples:
            >>> first = penguins.mean("body_mass_g", epsilon="0.5")
            >>> first.id in [release.id for release in client.releases()]
            True
        """
        return self._items(calls.own_releases())

    def release(self, release_id: str) -> Release:
        """An earlier release.

        Examples:
            >>> first = penguins.mean("body_mass_g", epsilon="0.5")
            >>> client.release(first.id).value == first.value
            True
        """
        return self._send(calls.one_release(release_id))

    def principals(self) -> Iterator[Principal]:
        """All principals, oldest first, for admins.

        Examples:
            >>> 'ada' in [principal.name for principal in admin.principals()]
            True
        """
        return self._items(calls.principals())

    def create_principal(self, name: str, role: str, key_expires_at: datetime | None = None) -> IssuedKey:
        """Make a principal, for admins: an `admin`, `owner`, `auditor` or `analyst`. Its key is shown this once.

        From `key_expires_at` on, a time with its zone, the key opens nothing; None: it never expires.

        Examples:
            >>> admin.create_principal("grace", "analyst").role
            'analyst'
        """
        return self._send(calls.create_principal(name, role, key_expires_at))

    def replace_key(self, name: str, key_expires_at: datetime | None = None) -> IssuedKey:
        """A new key for a principal, for admins; the old one stops working.

        It expires at `key_expires_at`, a time with its zone, or never.

        Examples:
            >>> old = admin.create_principal("grace", "analyst")
            >>> admin.replace_key("grace").key != old.key
            True
            >>> from datetime import datetime, timezone
            >>> (admin.replace_key("grace", datetime(2099, 1, 31, tzinfo=timezone.utc))).key_expires_at.year
            2099
        """
        return self._send(calls.replace_key(name, key_expires_at))

    def disable_principal(self, name: str) -> None:
        """Take a principal's access away for good, for admins.

        Examples:
            >>> _ = admin.create_principal("grace", "analyst")
            >>> admin.disable_principal("grace")
        """
        self._send(calls.disable_principal(name))

    def audit(self) -> Iterator[AuditRecord]:
        """Every administrative act, oldest first, for admins and auditors.

        Examples:
            >>> [record.seq for record in admin.audit()][:2]
            [1, 2]
        """
        return self._items(calls.audit())

    def verify_audit(self) -> Verification:
        """Have the service check the record of acts, and every principal against it, for admins and auditors.

        Examples:
            >>> admin.verify_audit().valid
            True
        """
        return self._send(calls.verify_audit())


class Dataset(Asking):
    """A dataset, as its analysts and its owner call it; `Client.dataset` makes one.

    Examples:
        >>> penguins = client.dataset("penguins")
        >>> penguins.name
        'penguins'
    """

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self._send, self._items = client._send, client._items  # noqa: SLF001 - the same thing, told in two classes

    def __repr__(self) -> str:
        return f"Dataset({self.name!r})"

    def describe(self) -> DatasetFacts:
        """Its public facts.

        Examples:
            >>> penguins.describe().state
            'open'
        """
        return self._send(calls.describe(self.name))

    def releases(self) -> Iterator[Release]:
        """Earlier releases of everybody, oldest first.

        Examples:
            >>> first = penguins.mean("body_mass_g", epsilon="0.5")
            >>> first.id in [release.id for release in penguins.releases()]
            True
        """
        return self._items(calls.releases(self.name))

    def budget(self) -> Budget:
        """What the dataset and the caller may spend.

        Examples:
            >>> penguins.budget().epsilon_limit
            Decimal('1000')
        """
        return self._send(calls.budget(self.name))

    def ledger(self) -> Iterator[Entry]:
        """Every entry of the ledger, oldest first, for owners and auditors.

        Examples:
            >>> [entry.seq for entry in owner.dataset("penguins").ledger()][:2]
            [1, 2]
        """
        return self._items(calls.ledger(self.name))

    def verify(self) -> Verification:
        """Have the service compute every hash and sum of the ledger again, for owners and auditors.

        Examples:
            >>> owner.dataset("penguins").verify().valid
            True
        """
        return self._send(calls.verify(self.name))

    def allow(self, principal: str, epsilon_limit: Number, window_days: int | None = None) -> Budget:
        """Let a principal see the dataset and spend on it, for owners; with `window_days`, renewed after as many days.

        Examples:
            >>> budget = owner.dataset("penguins").allow("ada", 500)
            >>> budget.allowances[0].epsilon_limit
            Decimal('500')
        """
        return self._send(calls.allow(self.name, principal, epsilon_limit, window_days))

    def revoke(self, principal: str) -> None:
        """Take a principal's access away, for owners; what it spent stays spent.

        Examples:
            >>> _ = admin.create_principal("grace", "analyst")
            >>> _ = owner.dataset("penguins").allow("grace", "0.5")
            >>> owner.dataset("penguins").revoke("grace")
        """
        self._send(calls.revoke(self.name, principal))

    def adjust(self, epsilon_limit: Number, reason: str) -> Budget:
        """Give the whole dataset another limit, for owners, and say why.

        Examples:
            >>> owner.dataset("penguins").adjust(1000, "nothing changes").epsilon_limit
            Decimal('1000')
        """
        return self._send(calls.adjust(self.name, epsilon_limit, reason))

    def delete(self) -> None:
        r"""Delete the data for good, for owners; the ledger and the releases stay readable.

        Examples:
            >>> metadata = {"name": "delete-survey", "epsilon_limit": "3", "columns": {"yes": {"kind": "boolean"}}}
            >>> _ = owner.register(metadata, b"yes\ntrue\nfalse\n")
            >>> owner.dataset("delete-survey").delete()
        """
        self._send(calls.close(self.name))
