"""Prepares releases as JSON answers; the budget members are added last, because only the transaction knows them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp.mechanism.released_values import ReleasedValues
from app.dp.table.dates import format_range
from app.errors import DamagedAnswerError
from app.json_layout import MemberPlace, locate_members
from app.json_text import encode_json, open_object
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers import releases
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body, Opening, StoredAnswer
from app.ledger.answers.releases import Release, Rows
from app.ledger.answers.reused_answers import Copy, Intervals, ReusedOpening, Segment, Text, open_answer
from app.ledger.units import format_rounded_epsilon
from app.services.planning.questions import Plan
from app.services.rendering import documents, summaries, values
from app.services.rendering.documents import Document


@dataclass(frozen=True, slots=True)
class Outcome:
    """The statistic of a release as described then, and each number as in `value` and as in `value_in_range`."""

    statistic: Mapping[str, Any]
    values: tuple[mpq, ...]
    values_in_range: tuple[mpq, ...]


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """The facts of a release that answers a question, and the cost of the answer.

    Attributes:
        accuracy: the accuracy members at the question's α.
        interval: the interval around the number; None if the statistic has bins.
        charged_nano: the charge for this answer, in ledger units.
        reused: whether the release was made before.
    """

    release_id: str
    outcome: Outcome
    accuracy: Document
    interval: tuple[float, float] | None
    charged_nano: int
    reused: bool


@dataclass(frozen=True, slots=True)
class PreparedRelease:
    """A release that can answer a question but is not yet charged. Nobody may see a fresh one before its commit.

    Attributes:
        plan: the plan of the mechanism that released it, at the question's α.
        opening: the answer up to its budget.
        released_at: when an earlier release was made; None for a fresh one, since its transaction sets the time.
        read_outcome: returns the released numbers; those of an earlier release are read from the given rows.
    """

    release_id: str
    plan: Plan
    opening: Opening | ReusedOpening
    released_at: str | None
    read_outcome: Callable[[Rows], Outcome]

    @property
    def reused(self) -> bool:
        """Whether it was released before."""
        return self.released_at is not None

    def settle(
        self, charged_nano: int, account: Account, allowance: Allowance | None, at: str | None = None
    ) -> "SettledRelease":
        """Return the complete answer, with the remaining budgets; a fresh release gets the time `at`."""
        budget = documents.charge_document(charged_nano, account.remaining_nano, allowance)
        return SettledRelease(self, charged_nano, self.opening.complete(encode_ending(budget, self.released_at, at)))


@dataclass(frozen=True, slots=True)
class SettledRelease:
    """A release with its complete answer, which may be sent after the commit."""

    release: PreparedRelease
    charged_nano: int
    answer: StoredAnswer

    @property
    def reused(self) -> bool:
        """Whether it was released before."""
        return self.release.reused

    def read_facts(self, rows: Rows) -> ReleaseFacts:
        """Return the facts of the release."""
        release = self.release
        outcome = release.read_outcome(rows)
        return describe_facts(release.release_id, release.plan, outcome, self.charged_nano, reused=self.reused)

    def content(self, rows: Rows) -> bytes:
        """Return the complete JSON in memory, for use within the transaction."""
        plain = self.answer.plain
        return self._open_answer(rows).content() if plain is None else plain

    def body(self, rows: Rows) -> bytes | Body:
        """Return the JSON after the commit; a large one is read from the database while it is sent."""
        if (plain := self.answer.plain) is not None:
            return plain
        if self.reused:
            return self._open_answer(rows)
        return releases.read_committed_body(rows, self.release.release_id, self.answer)

    def _open_answer(self, rows: Rows) -> Body:
        return open_answer(self.answer, lambda: releases.response_body(rows, self.release.release_id))


def prepare_fresh_release(release_id: str, dataset: Dataset, plan: Plan, drawn: ReleasedValues) -> PreparedRelease:
    """Return a new draw as an answer to its question."""
    opening = Opening(encode_release(release_id, dataset, plan, drawn))
    return PreparedRelease(release_id, plan, opening, None, lambda _: fresh_outcome(plan, drawn))


def prepare_rehearsal(rehearsal_id: str, dataset: Dataset, plan: Plan, drawn: ReleasedValues) -> PreparedRelease:
    """Return numbers of made-up data as the answer to a question, marked as a rehearsal."""
    cost = f"a rehearsal is free, and a release would cost up to ε = {format_rounded_epsilon(plan.epsilon_nano)}."
    common = documents.encode_common_members(dataset, plan)
    opening = Opening(encode_answer(rehearsal_id, common, plan, drawn, cost, rehearsed=True))
    return PreparedRelease(rehearsal_id, plan, opening, None, lambda _: fresh_outcome(plan, drawn))


def describe_facts(release_id: str, plan: Plan, outcome: Outcome, charged_nano: int, *, reused: bool) -> ReleaseFacts:
    """Return the facts of a release by this plan."""
    accuracy = documents.accuracy_document(plan)
    interval = None if plan.statistic.bins is not None else _interval(plan, outcome.values_in_range[0])
    return ReleaseFacts(release_id, outcome, accuracy, interval, charged_nano, reused)


def fresh_outcome(plan: Plan, drawn: ReleasedValues) -> Outcome:
    """Return the statistic and the reported numbers of a draw."""
    return Outcome(plan.statistic.describe(), *values.report_values(plan.statistic, drawn))


def prepare_reused_release(release: Release, stored: Body, plan: Plan) -> PreparedRelease:
    """Return a stored release as an answer to another question: the stored answer with the accuracy at the new α.

    Args:
        release: the release.
        stored: its stored answer.
        plan: the plan of the stored release's mechanism, at the new question's α.

    Raises:
        DamagedAnswerError: the stored answer is not what was written.
    """
    try:
        places = locate_members(stored.read_checked_pieces())
        accuracy, summary, value = places["accuracy"], places["summary"], places["value_in_range"]
    except (KeyError, ValueError) as error:
        raise DamagedAnswerError from error
    around: list[Segment]
    described = encode_json(documents.accuracy_document(plan))
    number = None if plan.statistic.bins is not None else mpq(_read_member(stored, value))
    if number is not None:
        around = [Text(b',"accuracy":' + _add_interval(described, plan, number))]
    else:
        each = Intervals(value.value, value.end, plan.reach, *plan.statistic.range_in_doubles)
        around = [Text(b',"accuracy":%b,"interval":' % described[:-1]), each, Text(b"}")]
    told = {"summary": encode_json(f"{summaries.summarise_release(plan, number)}; {past_cost(plan)}")}
    if "treatment" not in places:  # a release of an older version has none
        told = {**documents.encode_treatment(plan), **told}
    members = Text(b"".join(b',"%b":%b' % (name.encode(), each) for name, each in told.items()))
    segments = [Copy(0, accuracy.start), *around, Copy(accuracy.end, summary.start), members]
    opening = ReusedOpening(stored, segments)
    held = stored if stored.size <= MAX_PLAIN_BYTES else None
    read_outcome = partial(_read_outcome, release.id, held, places)
    return PreparedRelease(release.id, plan, opening, release.created_at, read_outcome)


def past_cost(plan: Plan) -> str:
    """Return in words what an earlier release cost, by its own plan, and that it costs nothing now."""
    return f"an earlier release, which cost ε = {format_rounded_epsilon(plan.epsilon_nano)}, answers this at no cost."


def _read_outcome(release_id: str, held: Body | None, places: Mapping[str, MemberPlace], rows: Rows) -> Outcome:
    """Return the outcome in a stored answer, from `held` or, if that is None, from the rows."""
    stored = held or releases.response_body(rows, release_id)
    statistic, *reported = (_read_member(stored, places[n]) for n in ("statistic", "value", "value_in_range"))
    return Outcome(statistic, *(tuple(map(mpq, each if isinstance(each, list) else [each])) for each in reported))


def _read_member(stored: Body, place: MemberPlace) -> Any:  # noqa: ANN401 - JSON is any value
    return json.loads(b"".join(stored.pieces(place.value, place.end)))


def encode_release(release_id: str, dataset: Dataset, plan: Plan, drawn: ReleasedValues) -> Iterator[bytes]:
    """Yield the JSON of a fresh release in pieces, without the members that `encode_ending` adds."""
    cost = f"this release cost ε = {format_rounded_epsilon(plan.epsilon_nano)}."
    return encode_answer(release_id, documents.encode_common_members(dataset, plan), plan, drawn, cost)


def encode_answer(  # noqa: PLR0913 - each part of the answer by its name
    release_id: str,
    common: Mapping[str, bytes],
    plan: Plan,
    drawn: ReleasedValues,
    cost: str,
    *,
    rehearsed: bool = False,
) -> Iterator[bytes]:
    """Yield the JSON of an answer in pieces, without the members that `encode_ending` adds.

    Args:
        release_id: the release that answers.
        common: the JSON of the members that do not depend on the numbers.
        plan: what the release promises.
        drawn: the numbers.
        cost: what the summary ends with.
        rehearsed: whether the numbers are of made-up data, which the answer then says.
    """
    outcome = values.encode_values(plan.mechanism, drawn)
    number = None
    if plan.statistic.bins is None:
        number = values.report_value(plan.statistic, drawn[0])
        accuracy: bytes | Iterable[bytes] = _add_interval(common["accuracy"], plan, number)
    else:
        accuracy = _add_intervals(common["accuracy"], values.encode_intervals(plan.statistic, plan.reach, drawn))
    summary, first = f"{summaries.summarise_release(plan, number)}; {cost}", {"id": encode_json(release_id)}
    if rehearsed:
        summary, first = f"{summaries.REHEARSAL}{summary}", first | documents.REHEARSED
    first |= {"dataset": common["dataset"], "statistic": common["statistic"]}
    # The members of `first` come first, because a dict keeps the order of first insertion.
    yield from open_object({**first, **outcome, **common, "accuracy": accuracy, "summary": encode_json(summary)})


def _interval(plan: Plan, value_in_range: mpq) -> tuple[float, float]:
    return values.interval(plan.statistic, plan.reach, value_in_range)


def _add_interval(accuracy: bytes, plan: Plan, value_in_range: mpq) -> bytes:
    """Return the JSON of an accuracy with the interval as its last member, and for a date also as dates."""
    interval, kind = _interval(plan, value_in_range), plan.statistic.date_kind
    members = b'%b,"interval":[%b,%b]' % (accuracy[:-1], *map(encode_json, interval))
    if kind is not None:
        members += b',"interval_as_date":%b' % encode_json(format_range(mpq(interval[0]), mpq(interval[1]), kind))
    return members + b"}"


def _add_intervals(accuracy: bytes, intervals: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the JSON of an accuracy with the bins' intervals as its last member, in pieces."""
    yield b'%b,"interval":' % accuracy[:-1]
    yield from intervals
    yield b"}"


def encode_ending(budget: Document, released_at: str | None, at: str | None = None) -> bytes:
    """Return the last members of an answer; `released_at` is the time of an earlier release, `at` of a fresh one."""
    reused = b"false" if released_at is None else b"true"
    return b',"budget":%b,"reused":%b,"created_at":%b}' % (encode_json(budget), reused, encode_json(released_at or at))
