"""What a single release, a batch and a derived statistic differ in: their questions, and how their answer is made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers.releases import Rows
from app.services.planning.questions import Plan
from app.services.releasing.replays import Answer
from app.services.rendering.release_answers import SettledRelease

CREATED, OK = 201, 200

Compose = Callable[[Sequence[SettledRelease], Account, Allowance | None, Rows], bytes]
"""Makes the answer to several questions of their releases and of what remains after them."""


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """The plans of a request's questions.

    Attributes:
        compose: makes the answer; None where the only release is the answer.
    """

    plans: Sequence[Plan]
    compose: Compose | None = None


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """A request for one release or several.

    Attributes:
        reuse: whether earlier releases may answer.
        items: how many items a batch has; else 1.
        kinds: tells the kinds of the questions' statistics.
        plan: plans the questions, or refuses them.
    """

    reuse: bool
    items: int
    kinds: Callable[[], Sequence[str]]
    plan: Callable[[], PlannedRequest]


@dataclass(frozen=True, slots=True)
class SettledRequest:
    """The answer to a request, which may be shown once it is committed; `body` is None as `PlannedRequest.compose`."""

    releases: Sequence[SettledRelease]
    body: bytes | None

    @property
    def status(self) -> int:
        """Created if any release is fresh."""
        return OK if all(each.reused for each in self.releases) else CREATED

    def answer(self, rows: Rows) -> Answer:
        """What the caller is answered; what is large is read from there while it is sent."""
        if self.body is not None:
            return Answer(self.status, self.body)
        (release,) = self.releases
        return Answer(self.status, release.body(rows))
