"""What plans and releases are answered with. Here exact numbers become doubles, each by a named rounding."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached
from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp.mechanism import bias as biases
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.released_values import ReleasedValues
from app.dp.numbers.exact import json_number, json_probability, round_up
from app.dp.table.bins import Bins, IntervalBins
from app.dp.table.cells import Cells, WithOutside
from app.json_text import encode_json, join_array, join_object, number_texts, open_object
from app.ledger.allowances import Allowance
from app.ledger.answers.answer_storage import Body, StoredAnswer
from app.ledger.answers.reused_answers import Copy, Intervals, ReusedOpening, Segment, Text
from app.ledger.units import epsilon_text
from app.services.planning.questions import Plan
from app.services.rendering import summaries, values

MOST_LISTED_INTERVALS = 1_000
MAX_CACHE_BYTES = 2**25
"""Of all members that are cached, with the plans that they are of."""

Document = dict[str, Any]


def accuracy_document(mechanism: Mechanism, alpha: mpq) -> Document:
    """What may be said of the error, whatever the data: radii at `alpha`, and what codes and doubles add to them."""
    document: Document = {
        "alpha": json_probability(alpha),
        "radius": round_up(mechanism.radius(alpha)),
        "tight_radius": round_up(mechanism.tight_radius(alpha)),
        "resolution": round_up(mechanism.resolution),
    }
    if mechanism.statistic.bins is not None:
        document["simultaneous_radius"] = round_up(mechanism.simultaneous_radius(alpha))
    return document


def privacy_document(plan: Plan) -> Document:
    """What the release costs, and what that protects."""
    return {
        "epsilon": epsilon_text(plan.epsilon_nano),
        "neighbours": "replace_one",
        "rows_per_unit": plan.statistic.rows_per_unit,
        "n": plan.statistic.n,
    }


def charge_document(cost_nano: int, remaining_nano: int, allowance: Allowance | None) -> Document:
    """What is charged, and what remains after it of the dataset's budget and of the caller's allowance."""
    return {
        "charged": epsilon_text(cost_nano),
        "dataset_remaining": epsilon_text(remaining_nano),
        "allowance_remaining": None if allowance is None else epsilon_text(allowance.remaining_nano),
    }


def bias_document(mechanism: Mechanism, guess: mpq) -> Document:
    """How far `value` is from the statistic on average, in its units, if that is `guess`, and at most in its range."""
    statistic, parameters = mechanism.statistic, mechanism.parameters
    within = min(max(guess, statistic.lower), statistic.upper)
    normalised = (within - statistic.centre) / statistic.sensitivity
    return {
        "guess": json_number(guess),
        "at_guess": json_number(statistic.sensitivity * biases.bias(parameters, normalised)),
        "largest": round_up(statistic.sensitivity * biases.largest_bias(parameters)),
    }


def mechanism_document(mechanism: Mechanism) -> Document:
    """The mechanism's figures in the statistic's units (per bin for a histogram)."""
    parameters, sensitivity = mechanism.parameters, mechanism.statistic.sensitivity
    figures: Document = {
        "name": "snapping",
        "epsilon_prime": json_number(parameters.epsilon_prime),
        "sensitivity": json_number(sensitivity),
        "centre": json_number(mechanism.statistic.centre),
        "b_prime": json_number(parameters.b_prime * sensitivity),
        "bound": json_number(parameters.bound * sensitivity),
        "scale": json_number(parameters.scale * sensitivity),
        "grid": json_number(parameters.grid * sensitivity),
        "grid_refinement": parameters.grid_refinement,
        "precision_bits": parameters.precision_bits,
        "gamma": json_probability(parameters.gamma),
    }
    if mechanism.statistic.bins is not None:
        figures["epsilon_per_bin"] = json_number(parameters.epsilon)
    return figures


def encode_bins(mechanism: Mechanism) -> Mapping[str, bytes]:
    """What each position of the lists stands for, as JSON; many intervals are told by their edges alone.

    A two-way table has its columns' bins in `axes`, and `bins` only for what is not a cell.
    """
    described = mechanism.statistic.bins
    if described is None:
        return {}
    inside = described.inside if isinstance(described, WithOutside) else described
    if isinstance(inside, Cells):
        axes = (join_object(_encode_bins_of(axis)) for axis in (inside.x, inside.y))
        listed = described.describe() if isinstance(described, WithOutside) else None
        return {"bins": encode_json(listed), "axes": b"[%b]" % b",".join(axes)}
    return _encode_bins_of(described if isinstance(described, WithOutside) else inside)


def _encode_bins_of(described: Bins | WithOutside) -> Mapping[str, bytes]:
    inside = described.inside if isinstance(described, WithOutside) else described
    if isinstance(inside, IntervalBins) and inside.edges.intervals > MOST_LISTED_INTERVALS:
        return {"bins": encode_json(None), "edges": join_array(number_texts(inside.edges.doubles()))}
    return {"bins": encode_json(described.describe())}


def _member_bytes(members: Mapping[str, bytes]) -> int:
    """About how much memory members take, with the plan, whose values and categories are written in them."""
    return 8_000 + 3 * sum(map(len, members.values())) + 16 * len(members["statistic"])


@cached(
    LRUCache(MAX_CACHE_BYTES, getsizeof=_member_bytes),
    key=lambda dataset, plan: (dataset.name, plan),
    lock=Lock(),
)
def _encode_common_members(dataset: Dataset, plan: Plan) -> Mapping[str, bytes]:
    """What a plan and its release have in common, each member as JSON."""
    return {"dataset": encode_json(dataset.name), **encode_facts(plan)}


def encode_facts(plan: Plan) -> Mapping[str, bytes]:
    """What a plan says of the statistic, the accuracy, the privacy and the mechanism, each member as JSON."""
    return {
        "statistic": encode_json(plan.statistic.describe()),
        **encode_bins(plan.mechanism),
        "accuracy": encode_json(accuracy_document(plan.mechanism, plan.alpha)),
        "privacy": encode_json(privacy_document(plan)),
        "mechanism": encode_json(mechanism_document(plan.mechanism)),
    }


def encode_plan(dataset: Dataset, plan: Plan, **more: object) -> bytes:
    """The JSON of a plan, with what depends on the hour."""
    return join_object(
        {**_encode_common_members(dataset, plan), **{name: encode_json(member) for name, member in more.items()}}
    )


def encode_release(release_id: str, dataset: Dataset, plan: Plan, drawn: ReleasedValues) -> Iterator[bytes]:
    """The pieces of a release up to its budget, `reused` and `created_at`, which its transaction knows (`ending`)."""
    common = _encode_common_members(dataset, plan)
    outcome = values.encode_values(plan.mechanism, drawn)
    if plan.statistic.bins is None:
        value: Any = outcome["value_in_range"]
        interval = values.interval(plan.statistic, plan.reach, value)
        accuracy_: bytes | Iterable[bytes] = _add_interval(common["accuracy"], interval)
    else:
        interval = b""
        accuracy_ = _with_intervals(common["accuracy"], values.encode_intervals(plan.statistic, plan.reach, drawn))
    summary = encode_json(
        f"{summaries.summarise_release(plan, interval)}; the release cost ε = {epsilon_text(plan.epsilon_nano)}."
    )
    first = {"id": encode_json(release_id), "dataset": common["dataset"], "statistic": common["statistic"]}
    # What is first keeps its place.
    yield from open_object({**first, **outcome, **common, "accuracy": accuracy_, "summary": summary})


def _add_interval(accuracy_: bytes, interval: bytes) -> bytes:
    """The JSON of an accuracy with the interval as its last member."""
    return b'%b,"interval":%b}' % (accuracy_[:-1], interval)


def _with_intervals(accuracy_: bytes, intervals: Iterable[bytes]) -> Iterator[bytes]:
    """The JSON of an accuracy with each bin's interval as its last member, in pieces."""
    yield b'%b,"interval":' % accuracy_[:-1]
    yield from intervals
    yield b"}"


def ending(budget: Document, created_at: str) -> bytes:
    """What a release ends with, after the pieces of `released`."""
    return b',"budget":%b,"reused":false,"created_at":%b}' % (encode_json(budget), encode_json(created_at))


@dataclass(frozen=True, slots=True)
class ReusedAnswer:
    """The answer that an earlier release gives to another question, up to its budget, and what follows on that."""

    opening: ReusedOpening
    last: bytes

    @property
    def release_id(self) -> str:
        """Of the release that answers."""
        return self.opening.release_id

    @property
    def stored_bytes(self) -> int:
        """About how much has to be stored of it."""
        return self.opening.stored_bytes

    def complete(self, budget: Document) -> StoredAnswer:
        """The whole answer."""
        return self.opening.complete(b',"budget":%b,"reused":true%b' % (encode_json(budget), self.last))


def encode_reused_release(release_id: str, stored: Body, plan: Plan) -> ReusedAnswer:
    """A stored release as the answer to another question: as it was, but with the accuracy at its α.

    `plan` is what a release by the stored one's mechanism promises there.

    Its members are cut out between their names, and these cannot be mistaken: in a text quotes are escaped, and only
    the statistic, which comes before them, has members that others name: the columns of a filter.
    """
    at = _last_places(stored)
    start = at["value_in_range"] + len(_NAMES["value_in_range"])
    value = start, next(at[name] for name in ("bins", "accuracy") if at.get(name, 0) > start)
    statistic, around = plan.statistic, encode_json(accuracy_document(plan.mechanism, plan.alpha))
    if statistic.bins is None:
        interval = values.interval(statistic, plan.reach, b"".join(stored.pieces(*value)))
        between: list[Segment] = [Text(b',"accuracy":' + _add_interval(around, interval))]
    else:
        interval = b""
        around_each = Intervals(*value, plan.reach, *values.public_range(statistic))
        between = [Text(b',"accuracy":%b,"interval":' % around[:-1]), around_each, Text(b"}")]
    past = f"it was released before, for ε = {epsilon_text(plan.epsilon_nano)}, and cost nothing now."
    summary = Text(b',"summary":' + encode_json(f"{summaries.summarise_release(plan, interval)}; {past}"))
    segments = [Copy(0, at["accuracy"]), *between, Copy(at["privacy"], at["summary"]), summary]
    last = b"".join(stored.pieces(at["created_at"]))
    return ReusedAnswer(ReusedOpening(release_id, stored, segments), last)


_PLACED = ("value_in_range", "bins", "accuracy", "privacy", "summary", "created_at")
_NAMES = {name: b',"%b":' % name.encode() for name in _PLACED}
_LONGEST_NAME = max(map(len, _NAMES.values()))


def _last_places(stored: Body) -> dict[str, int]:
    """Where each of these members' names stands last."""
    places, before, position = {}, b"", 0
    for piece in stored.pieces():
        window = before + piece
        start = position - len(before)
        for name, spelled in _NAMES.items():
            if (found := window.rfind(spelled)) >= 0:
                places[name] = start + found
        position += len(piece)
        before = window[1 - _LONGEST_NAME :]
    return places
