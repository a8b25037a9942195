"""Windows of an allowance: periods of whole days without gaps between them. The full limit is available in each."""

from dataclasses import dataclass

from app.db.clock import days_after, whole_days_between

MAX_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Window:
    """One window of `days` × 24 hours, from `started_at` to before `ends_at`."""

    days: int
    started_at: str

    @property
    def ends_at(self) -> str:
        """The time at which the next window starts."""
        return days_after(self.started_at, self.days)

    def at(self, time: str) -> "Window":
        """Return the window of the same series that contains a time.

        It is never an earlier window: setting the clock back renews no budget.
        """
        passed = max(0, whole_days_between(self.started_at, time)) // self.days
        return Window(self.days, days_after(self.started_at, passed * self.days)) if passed else self
