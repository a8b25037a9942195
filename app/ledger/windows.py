"""Windows of an allowance: spans of whole days that follow each other without a gap, each with the limit anew."""

from dataclasses import dataclass

from app.db.clock import days_after, whole_days_between

MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Window:
    """One window: `days` of 24 hours from `started_at` on, up to and without `ends_at`."""

    days: int
    started_at: str

    @property
    def ends_at(self) -> str:
        """When the next one starts."""
        return days_after(self.started_at, self.days)

    def at(self, time: str) -> "Window":
        """The window of the same series in which a time lies.

        Never an earlier one: a clock that is turned back gives nothing back.
        """
        passed = max(0, whole_days_between(self.started_at, time)) // self.days
        return Window(self.days, days_after(self.started_at, passed * self.days)) if passed else self
