"""What plans and releases are answered with. Here exact numbers become doubles, each by a named rounding.

What has an entry for each bin of a histogram becomes JSON text at once, and each number that occurs only once: with a
million bins there are some hundred numbers.
"""

import json
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached
from gmpy2 import mpq

from app.db.datasets import Dataset
from app.dp.bins import IntervalBins
from app.dp.mechanism import Mechanism
from app.dp.numbers import decimal_text, json_number, round_down, round_up
from app.dp.released import Released
from app.ledger.units import epsilon_text
from app.services import listing
from app.services.questions import Plan

MOST_LISTED_INTERVALS = 1_000
_MOST_KEPT_BYTES = 2**24

Document = dict[str, Any]


def encode(value: Any) -> bytes:  # noqa: ANN401 - JSON is any value
    """Compact UTF-8 JSON. NaN and Infinity would be a defect of ours, and raise."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def accuracy(mechanism: Mechanism, alpha: mpq) -> Document:
    """What may be said of the error, whatever the data: radii at `alpha`, and what codes and doubles add to them."""
    document: Document = {
        "alpha": json_number(alpha),
        "radius": round_up(mechanism.radius(alpha)),
        "tight_radius": round_up(mechanism.tight_radius(alpha)),
        "resolution": round_up(mechanism.resolution),
    }
    if mechanism.statistic.bins is not None:
        document["simultaneous_radius"] = round_up(mechanism.simultaneous_radius(alpha))
    return document


def privacy(dataset: Dataset, epsilon_nano: int) -> Document:
    """What the release costs, and what that protects."""
    return {
        "epsilon": epsilon_text(epsilon_nano),
        "neighbours": "replace_one",
        "rows_per_unit": dataset.rows_per_unit,
        "n": dataset.n,
    }


def mechanism_figures(mechanism: Mechanism) -> Document:
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
        "gamma": json_number(parameters.gamma),
    }
    if mechanism.statistic.bins is not None:
        figures["epsilon_per_bin"] = json_number(parameters.epsilon)
    return figures


def bins(mechanism: Mechanism) -> Document:
    """What each position of a histogram's lists stands for; many intervals are told by their edges alone."""
    described = mechanism.statistic.bins
    if described is None:
        return {}
    if isinstance(described, IntervalBins) and described.edges.intervals > MOST_LISTED_INTERVALS:
        return {"bins": None, "edges": described.edge_values()}
    return {"bins": described.describe()}


@cached(
    LRUCache(_MOST_KEPT_BYTES, getsizeof=lambda members: sum(map(len, members.values()))),
    key=lambda dataset, plan: (dataset.name, plan),
    lock=Lock(),
)
def _common(dataset: Dataset, plan: Plan) -> Mapping[str, bytes]:
    """What a plan and its release have in common, each member as JSON."""
    document = {
        "dataset": dataset.name,
        "statistic": plan.statistic.describe(),
        **bins(plan.mechanism),
        "accuracy": accuracy(plan.mechanism, plan.alpha),
        "privacy": privacy(dataset, plan.epsilon_nano),
        "mechanism": mechanism_figures(plan.mechanism),
    }
    return {name: listing.numbers(member) if name == "edges" else encode(member) for name, member in document.items()}


def planned(dataset: Dataset, plan: Plan, **more: object) -> bytes:
    """The JSON of a plan, with what depends on the hour."""
    return _object({**_common(dataset, plan), **{name: encode(member) for name, member in more.items()}})


def released(release_id: str, dataset: Dataset, plan: Plan, drawn: Released) -> bytes:
    """The JSON of a release but for its budget, `reused` and `created_at`, which its transaction knows."""
    members = {**_common(dataset, plan)}
    statistic = {name: members.pop(name) for name in ("dataset", "statistic")}
    outcome = _values(plan.mechanism, drawn)
    members["accuracy"] = _accuracy(plan.mechanism, plan.alpha, plan.radius, outcome["value_in_range"])
    return _object({"id": encode(release_id), **statistic, **outcome, **members})


def reused(stored: bytes, mechanism: Mechanism, alpha: mpq, radius: mpq, budget: Document) -> bytes:
    """The JSON of a stored release as the answer to another question: as it was, but with the accuracy at its α.

    Its members are cut out between their names, and these cannot be mistaken: in a text quotes are escaped.
    """
    head, rest = stored.split(b',"accuracy":', 1)
    _, rest = rest.split(b',"privacy":', 1)
    facts, rest = rest.split(b',"budget":', 1)
    _, created_at = rest.split(b',"created_at":', 1)
    value_in_range = head.split(b',"value_in_range":', 1)[1].split(b',"bins":', 1)[0]
    accuracy = _accuracy(mechanism, alpha, radius, value_in_range)
    answer = b',"accuracy":%b,"privacy":%b,"budget":%b,"reused":true,"created_at":%b'
    return head + answer % (accuracy, facts, encode(budget), created_at)


def _values(mechanism: Mechanism, drawn: Released) -> dict[str, bytes]:
    """The release itself: the mechanism's output, its exact text, and the output clamped to the public range."""
    statistic = mechanism.statistic
    clamped = [min(max(value, statistic.lower), statistic.upper) for value in drawn.distinct]
    columns = {
        "value": _texts(json_number(value) for value in drawn.distinct),
        "value_exact": _texts(decimal_text(value) for value in drawn.distinct),
        "value_in_range": _texts(json_number(value) for value in clamped),
    }
    if statistic.bins is None:
        return {name: text.encode() for name, (text,) in columns.items()}
    return {name: listing.spread(texts, drawn.places) for name, texts in columns.items()}


def _accuracy(mechanism: Mechanism, alpha: mpq, radius: mpq, value_in_range: bytes) -> bytes:
    """The accuracy with the interval of the value in `value_in_range`, or of each of a histogram's."""
    if mechanism.statistic.bins is None:
        (text,) = _intervals([float(value_in_range)], mechanism, radius)
        interval = text.encode()
    else:
        values, places = listing.gathered(value_in_range)
        interval = listing.spread(_intervals(map(float, values), mechanism, radius), places)
    return encode(accuracy(mechanism, alpha))[:-1] + b',"interval":' + interval + b"}"


def _intervals(values_in_range: Iterable[float], mechanism: Mechanism, radius: mpq) -> list[str]:
    """For each value ± (radius + resolution), rounded outwards and cut to the statistic's public range."""
    reach = radius + mechanism.resolution
    lowest, highest = round_down(mechanism.statistic.lower), round_up(mechanism.statistic.upper)
    middles = [mpq(value) for value in values_in_range]
    lower = _texts(max(round_down(middle - reach), lowest) for middle in middles)
    upper = _texts(min(round_up(middle + reach), highest) for middle in middles)
    return [f"[{least},{most}]" for least, most in zip(lower, upper, strict=True)]


def _texts(values: Iterable[str | float]) -> list[str]:
    """The JSON of each of at least one number, or of texts without commas."""
    return encode(list(values))[1:-1].decode().split(",")


def _object(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(b'"%b":%b' % (name.encode(), member) for name, member in members.items()) + b"}"
