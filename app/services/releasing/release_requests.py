"""Describes a request for a single release, a batch or a derived statistic: its questions and how it is answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.db.session import WriteSession
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers.releases import Rows
from app.services.planning.questions import Plan
from app.services.releasing.replays import Answer
from app.services.rendering.release_answers import SettledRelease

CREATED, OK = 201, 200

OnSettled = Callable[[WriteSession, Sequence[SettledRelease]], None]

Compose = Callable[[Sequence[SettledRelease], Account, Allowance | None, Rows], bytes]
"""Composes the answer to several questions from their releases and the remaining account and allowance."""


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """The plans of a request's questions.

    Attributes:
        compose: composes the answer; None if there is one release and it is the answer.
    """

    plans: Sequence[Plan]
    compose: Compose | None = None


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """A request for one release or several.

    Attributes:
        reuse: whether earlier releases may answer.
        items: how many items the batch has; 1 if the request is not a batch.
        kinds: returns the kinds of the questions' statistics.
        plan: returns the plans of the questions, or raises an error that refuses them.
        rehearse: whether to answer with a rehearsal, at no cost.
        on_settled: called in the transaction before its commit; an error of it leaves nothing debited.
    """

    reuse: bool
    items: int
    kinds: Callable[[], Sequence[str]]
    plan: Callable[[], PlannedRequest]
    rehearse: bool = False
    on_settled: OnSettled | None = None


@dataclass(frozen=True, slots=True)
class SettledRequest:
    """The answer to a request, which may be shown once it is committed.

    `body` is None if `PlannedRequest.compose` is None: then the only release is the answer.
    """

    releases: Sequence[SettledRelease]
    body: bytes | None

    @property
    def status(self) -> int:
        """The HTTP status: 201 (Created) if any release is fresh, else 200 (OK)."""
        return OK if all(each.reused for each in self.releases) else CREATED

    def answer(self, rows: Rows) -> Answer:
        """Return the answer for the caller. A large body is read from `rows` while it is sent."""
        if self.body is not None:
            return Answer(self.status, self.body)
        (release,) = self.releases
        return Answer(self.status, release.body(rows))
