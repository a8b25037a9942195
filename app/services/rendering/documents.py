"""The members of a plan's or release's JSON. Exact numbers become doubles here, each with an explicit rounding."""

from collections.abc import Mapping
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from cachetools import LRUCache, cached
from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp.mechanism import bias as biases
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import json_number, json_probability, round_up
from app.json_text import encode_json, join_object
from app.ledger.allowances import Allowance
from app.ledger.units import epsilon_text
from app.services.planning.presentation import Presentation
from app.services.planning.questions import Plan
from app.services.rendering.bin_documents import encode_bins
from app.services.rendering.treatments import treatment_document

MAX_CACHE_BYTES = 2**25
"""The maximum total size of all cached members, including their plans."""

Document = dict[str, Any]

REHEARSED = {"rehearsed": b"true"}
"""The member, as JSON, that marks an answer of made-up data."""


@cached(WeakKeyDictionary[Plan, Document](), key=lambda plan: plan)
def accuracy_document(plan: Plan) -> Document:
    """Return the error bounds, which hold for any data: the radii at α, and the resolution of codes and doubles.

    It is kept as long as the plan; all callers share it, so none changes it.
    """
    mechanism, alpha = plan.mechanism, plan.alpha
    document: Document = {
        "alpha": json_probability(alpha),
        "radius": round_up(plan.radius),
        "tight_radius": round_up(mechanism.tight_radius(alpha)),
        "resolution": round_up(mechanism.resolution),
    }
    if mechanism.statistic.bins is not None:
        document["simultaneous_radius"] = round_up(mechanism.simultaneous_radius(alpha))
    return document


def reuse_members(answering: Plan | None) -> Document:
    """Return whether an earlier release answers a plan, and the accuracy of that release.

    `answering` is the plan of the earlier release, or None if there is none.
    """
    if answering is None:
        return {"reused": False}
    return {"reused": True, "reused_accuracy": accuracy_document(answering)}


def privacy_document(plan: Plan) -> Document:
    """Return the cost of a release and the neighbours that it protects."""
    return {
        "epsilon": epsilon_text(plan.epsilon_nano),
        "neighbours": "replace_one",
        "rows_per_unit": plan.statistic.rows_per_unit,
        "n": plan.statistic.n,
    }


def charge_document(cost_nano: int, remaining_nano: int, allowance: Allowance | None) -> Document:
    """Return the charge, and the remainders of the dataset's budget and of the caller's allowance after it."""
    return {
        "charged": epsilon_text(cost_nano),
        "dataset_remaining": epsilon_text(remaining_nano),
        "allowance_remaining": None if allowance is None else epsilon_text(allowance.remaining_nano),
    }


def bias_document(mechanism: Mechanism, guess: mpq) -> Document:
    """Return the bias of `value` if the statistic is `guess`, and the largest bias in its range, in its units."""
    statistic, parameters = mechanism.statistic, mechanism.parameters
    within = min(max(guess, statistic.lower), statistic.upper)
    normalised = (within - statistic.centre) / statistic.sensitivity
    return {
        "guess": json_number(guess),
        "at_guess": json_number(statistic.sensitivity * biases.bias(parameters, normalised)),
        "largest": round_up(statistic.sensitivity * biases.largest_bias(parameters)),
    }


def mechanism_document(mechanism: Mechanism) -> Document:
    """Return the mechanism's parameters in the statistic's units (per bin for a histogram)."""
    parameters, sensitivity = mechanism.parameters, mechanism.sensitivity
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


def _member_bytes(members: Mapping[str, bytes]) -> int:
    """Return an estimate of the memory of the members and of the plan, which has the same values and categories."""
    return 8_000 + 3 * sum(map(len, members.values())) + 16 * len(members["statistic"])


@cached(
    LRUCache(MAX_CACHE_BYTES, getsizeof=_member_bytes),
    key=lambda dataset, plan: (dataset.name, plan),
    lock=Lock(),
)
def encode_common_members(dataset: Dataset, plan: Plan) -> Mapping[str, bytes]:
    """Return the members that a plan and its release have in common, each as JSON."""
    return {"dataset": encode_json(dataset.name), **encode_facts(plan)}


def encode_facts(plan: Plan) -> Mapping[str, bytes]:
    """Return the members for a plan's statistic, bins, accuracy, privacy and mechanism, each as JSON."""
    return {
        "statistic": encode_json(plan.statistic.describe()),
        **encode_bins(plan.mechanism),
        "accuracy": encode_json(accuracy_document(plan)),
        "privacy": encode_json(privacy_document(plan)),
        "mechanism": encode_json(mechanism_document(plan.mechanism)),
        **encode_treatment(plan),
        **encode_presentation(plan.presentation),
    }


def encode_treatment(plan: Plan) -> Mapping[str, bytes]:
    """Return the member for missing values and values outside the bounds as JSON, if there may be any."""
    return {"treatment": encode_json(treatment_document(plan.treatments))} if plan.treatments else {}


def encode_presentation(presentation: Presentation) -> Mapping[str, bytes]:
    """Return the unit of a release and what is declared of its columns as JSON, if there is anything."""
    shown = {"unit": presentation.unit, "columns": presentation.columns}
    return {name: encode_json(member) for name, member in shown.items() if member}


def encode_plan(dataset: Dataset, plan: Plan, **more: object) -> bytes:
    """Return the JSON of a plan with `more` members, which depend on the current budget and so are not cached."""
    return join_object(encode_common_members(dataset, plan), more)
