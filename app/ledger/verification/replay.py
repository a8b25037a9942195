"""Replays a dataset's entries from the first to the last to recompute its account and its allowances."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import bindparam, select

from app.db.session import Session
from app.db.tables import allowances, principals
from app.ledger.windows import Window

_STORED = (
    select(
        allowances.c.principal_id,
        principals.c.name,
        allowances.c.limit_nano,
        allowances.c.spent_nano,
        allowances.c.revoked,
        allowances.c.window_days,
        allowances.c.window_started_at,
    )
    .join_from(allowances, principals, principals.c.id == allowances.c.principal_id)
    .where(allowances.c.dataset_id == bindparam("dataset"))
)


@dataclass(slots=True)
class _ReplayedAllowance:
    """An allowance as recomputed from the entries so far; the window is the one of its last entry."""

    limit_nano: int
    spent_nano: int = 0
    revoked: bool = False
    window: Window | None = None
    ends_at: str = ""  # the end of the window, stored because it takes longer to compute than everything else here

    def look(self, at: str) -> None:
        """Renew the allowance if its window has ended."""
        if self.window is not None and at >= self.ends_at:
            self._enter(self.window.at(at))
            self.spent_nano = 0

    def allow(self, limit_nano: int, days: int | None, at: str) -> None:
        self.look(at)
        self.limit_nano, self.revoked = limit_nano, False
        if days is None:
            self.window = None
        elif self.window is None or self.window.days != days:
            self._enter(Window(days, at))

    def _enter(self, window: Window) -> None:
        self.window, self.ends_at = window, window.ends_at

    @classmethod
    def of_row(cls, limit_nano: int, spent_nano: int, revoked: bool, days: int | None, started_at: str | None) -> Self:  # noqa: FBT001 - as `row`
        """The allowance whose `row` had these values."""
        window = None if days is None or started_at is None else Window(days, started_at)
        return cls(limit_nano, spent_nano, revoked, window, "" if window is None else window.ends_at)

    def row(self) -> tuple[object, ...]:
        """The values of the allowance's columns."""
        window = (None, None) if self.window is None else (self.window.days, self.window.started_at)
        return self.limit_nano, self.spent_nano, self.revoked, *window


class LedgerReplay:
    """The state after all entries that `step` has processed.

    Args:
        state: the state to start from, as `state` returned it; None: the one before the first entry.
    """

    def __init__(self, session: Session, dataset_id: int, state: Mapping[str, Any] | None = None) -> None:
        rows = session.rows(_STORED, dataset=dataset_id)
        self._names = {row.principal_id: row.name for row in rows}
        self._stored = {row.name: tuple(row[2:]) for row in rows}
        self._allowances: dict[str, _ReplayedAllowance] = {}
        self.limit_nano = self.spent_nano = 0
        self.owner: str | None = None
        self.facts_hash: bytes | None = None
        self._is_open = False
        if state is not None:
            self.limit_nano, self.spent_nano, self.owner, self._is_open = state["account"]
            self.facts_hash = bytes.fromhex(state["facts"])
            self._allowances = {name: _ReplayedAllowance.of_row(*row) for name, row in state["allowances"].items()}

    def state(self) -> dict[str, Any]:
        """The state as JSON, for a replay of the entries after these."""
        return {
            "account": [self.limit_nano, self.spent_nano, self.owner, self._is_open],
            "facts": (self.facts_hash or b"").hex(),
            "allowances": {name: list(allowance.row()) for name, allowance in self._allowances.items()},
        }

    def name_of(self, principal_id: int) -> str | None:
        """The name of a principal that has or had an allowance on the dataset; every debited principal has one."""
        return self._names.get(principal_id)

    def step(self, entry: Any) -> str | None:  # noqa: ANN401 - a row with an entry's columns
        """Process the next entry and return what is wrong with it, or None."""
        self.facts_hash = entry.facts_hash or self.facts_hash
        wrong = self._take_in(entry)
        if entry.spent_nano != self.spent_nano:
            self.spent_nano = entry.spent_nano
            return "does not add up: the spending after it is not the sum of the entries"
        return wrong

    def _take_in(self, entry: Any) -> str | None:  # noqa: ANN401 - as above
        match entry.kind:
            case "debit" | "write_off":
                if (wrong := self._spend(entry)) is not None:
                    return wrong
            case "open":
                self.limit_nano, self.owner, self._is_open = entry.epsilon_nano, entry.principal, True
            case "adjust":
                self.limit_nano = entry.epsilon_nano
            case "allow":
                allowance = self._allowances.setdefault(entry.principal, _ReplayedAllowance(entry.epsilon_nano))
                allowance.allow(entry.epsilon_nano, entry.window_days, entry.at)
            case "revoke" if entry.principal in self._allowances:
                self._allowances[entry.principal].revoked = True
            case "stale" | "close":
                self._is_open = False
            case "revalidate":
                self._is_open = True
        return "spends more than the dataset's limit" if self.spent_nano > self.limit_nano else None

    def _spend(self, entry: Any) -> str | None:  # noqa: ANN401 - as above
        self.spent_nano += entry.epsilon_nano
        if not self._is_open:
            return "is a debit of a dataset that was not open"
        if entry.kind == "write_off":
            return None
        allowance = self._allowances.get(entry.principal)
        if allowance is None or allowance.revoked:
            return "is the debit of a principal without an allowance"
        allowance.look(entry.at)
        allowance.spent_nano += entry.epsilon_nano
        return (
            "spends more than the principal's allowance has left"
            if allowance.spent_nano > allowance.limit_nano
            else None
        )

    def wrong_allowances(self) -> Iterator[str]:
        """Yield the names of principals whose stored allowance differs, is missing, or has no entry."""
        for name in sorted(self._stored.keys() | self._allowances.keys()):
            replayed = self._allowances.get(name)
            if replayed is None or self._stored.get(name) != replayed.row():
                yield name
