"""The budget's rules once more, as plainly as they can be said: what the service's ledger is held against."""

from dataclasses import dataclass, field
from typing import Any

ONE = 10**9


def text(nano: int) -> str:
    """An ε as answers give it."""
    whole, part = divmod(nano, ONE)
    return f"{whole}.{part:09}".rstrip("0").rstrip(".") if part else str(whole)


@dataclass
class Allowance:
    limit: int
    spent: int = 0
    revoked: bool = False
    days: int | None = None
    started: int = 0  # the day on which the present window began

    def look(self, day: int) -> None:
        """Let windows pass until the one of this day."""
        while self.days is not None and self.started + self.days <= day:
            self.started += self.days
            self.spent = 0


@dataclass
class Budget:
    """One dataset's. Releases are (statistic, ε, id), the oldest first; keys are by principal and number."""

    limit: int
    spent: int = 0
    written_off: int = 0
    closed: bool = False
    day: int = 0
    allowances: dict[str, Allowance] = field(default_factory=dict)
    releases: list[tuple[str, int, str]] = field(default_factory=list)
    keys: dict[tuple[str, int], tuple[Any, bytes]] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=lambda: ["open"])

    def pass_days(self, days: int) -> None:
        self.day += days
        for allowance in self.allowances.values():
            allowance.look(self.day)

    def allow(self, principal: str, limit: int, days: int | None) -> int:
        if self.closed:
            return 409
        before, is_new = self.allowances.get(principal), not self.sees(principal)
        if before is None:
            self.allowances[principal] = Allowance(limit, days=days, started=self.day)
        elif limit < before.spent:
            return 422
        else:
            started = before.started if days == before.days else self.day
            self.allowances[principal] = Allowance(limit, before.spent, days=days, started=started)
        self.kinds.append("allow")
        return 201 if is_new else 200

    def sees(self, principal: str) -> bool:
        return principal in self.allowances and not self.allowances[principal].revoked

    def revoke(self, principal: str) -> int:
        if not self.sees(principal):
            return 404
        self.allowances[principal].revoked = True
        self.kinds.append("revoke")
        return 204

    def adjust(self, limit: int) -> int:
        if self.closed:
            return 409
        if limit < self.spent:
            return 422
        self.limit = limit
        self.kinds.append("adjust")
        return 201

    def write_off(self, cost: int) -> int:
        if self.closed or cost > self.limit - self.spent:
            return 409
        self.spent += cost
        self.written_off += cost
        self.kinds.append("write_off")
        return 201

    def close(self) -> int:
        if self.closed:
            return 409
        self.closed = True
        self.kinds.append("close")
        return 204

    def earlier(self, statistic: str, cost: int) -> str | None:
        """The release that answers again: a larger ε is more accurate; of equals the oldest."""
        enough = [(-paid, index) for index, (asked, paid, _) in enumerate(self.releases) if asked == statistic]
        best = min(enough, default=None)
        return None if best is None or -best[0] < cost else self.releases[best[1]][2]

    def refusal(self, principal: str, statistic: str, cost: int, *, reuse: bool) -> int | None:
        """Why a release that no key replays is refused; None where it is not."""
        if self.closed:
            return 409
        if reuse and self.earlier(statistic, cost) is not None:
            return None
        allowance = self.allowances[principal]
        return 409 if cost > self.limit - self.spent or cost > allowance.limit - allowance.spent else None

    def debit(self, principal: str, statistic: str, cost: int, release_id: str) -> None:
        self.spent += cost
        self.allowances[principal].spent += cost
        self.releases.append((statistic, cost, release_id))
        self.kinds.append("debit")
