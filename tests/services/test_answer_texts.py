"""What is spelled once for each number that occurs is what each component would be spelled as, to the byte."""

import json
import random
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st
from seeded_bits import SeededBits

from app.db.repositories.datasets import Dataset
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import decimal_text, json_number, round_down, round_up
from app.dp.statistics import build
from app.dp.statistics.treatment import Treatment
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import ColumnSums, Moments, Total
from app.json_text import BATCH, dictionary_entries, double_texts, encode_json, join_array, number_texts, texts_array
from app.ledger.answers.answer_storage import of_content, open_body
from app.ledger.answers.releases import Release
from app.ledger.answers.reused_answers import open_answer
from app.ledger.units import epsilon_text
from app.services.figures.display import chart
from app.services.planning import questions
from app.services.planning.questions import Plan
from app.services.rendering import documents, release_answers, summaries
from app.services.rendering.rounded_numbers import confidence_text

DATASET = Dataset(1, "t", "", 1, "{}", 1000, 1, "2026-11-28T00:00:00.000000Z", "open", "f")
TRICKY = 'a,"accuracy":{"value_in_range":[1],"bins":\\", é\u2028'
COLUMNS = {
    "real": Column("real", Kind.REAL, (mpq("-0.3"), mpq("1e12"))),
    "tiny": Column("tiny", Kind.REAL, (mpq(0), mpq("1e-5")), nullable=False),
    "text": Column("text", Kind.CATEGORY, None, categories=(TRICKY, "b")),
    TRICKY: Column(TRICKY, Kind.BOOLEAN),
    "whole": Column("whole", Kind.INTEGER, (mpq(0), mpq(10))),
    "day": Column("day", Kind.DATE, (mpq(0), mpq(1_500)), time_zone="UTC"),
}
SPECS: list[dict[str, Any]] = [
    {"kind": "histogram", "column": "real", "bins": mpq(7)},
    {"kind": "histogram", "column": "real", "bins": mpq(1001)},
    {"kind": "histogram", "column": "tiny", "bins": mpq(2000)},
    {"kind": "histogram", "column": "whole", "edges": (mpq(0), mpq(1), mpq("2.5"), mpq(10))},
    {"kind": "histogram", "column": "day", "bins": mpq(1_500)},
    {"kind": "histogram", "column": "text"},
    {"kind": "histogram", "column": TRICKY},
    {"kind": "mean", "column": TRICKY},
    {"kind": "variance", "column": "real"},
]
ALPHA = mpq(1, 20)
RULE = "counting missing values of x as 5; values outside 0 to 10 count as the nearer bound"


def interval(value_in_range: float, mechanism: Mechanism, radius: mpq) -> list[float]:
    reach, middle, statistic = radius + mechanism.resolution, mpq(value_in_range), mechanism.statistic
    return [
        max(round_down(middle - reach), round_down(statistic.lower)),
        min(round_up(middle + reach), round_up(statistic.upper)),
    ]


def defined(plan: Plan, drawn: Sequence[mpq]) -> dict[str, Any]:
    """A release as its definition has it, component by component."""
    mechanism, statistic = plan.mechanism, plan.statistic
    in_range = [json_number(min(max(value, statistic.lower), statistic.upper)) for value in drawn]
    lists: dict[str, Any] = {
        "value": [json_number(value) for value in drawn],
        "value_exact": [decimal_text(value) for value in drawn],
        "value_in_range": in_range,
        "interval": [interval(value, mechanism, plan.radius) for value in in_range],
    }
    if statistic.bins is None:
        lists = {name: values[0] for name, values in lists.items()}
    around, paid = lists.pop("interval"), epsilon_text(plan.epsilon_nano)
    told = summaries.summarise_release(plan, mpq(lists["value_in_range"]) if statistic.bins is None else None)
    accuracy = documents.accuracy_document(plan) | {"interval": around}
    bins: dict[str, Any] = {}
    if statistic.bins is not None:
        described = statistic.bins.describe()
        bins = {"bins": None, "edges": statistic.bins.edge_values()} if len(described) > 1_000 else {"bins": described}
    return {
        "id": "an id",
        "dataset": "t",
        "statistic": statistic.describe(),
        **lists,
        **bins,
        "accuracy": accuracy,
        "privacy": {
            "epsilon": paid,
            "neighbours": "replace_one",
            "rows_per_unit": DATASET.rows_per_unit,
            "n": DATASET.n,
        },
        "mechanism": documents.mechanism_document(mechanism),
        "summary": f"{told}; this release cost ε = {paid}.",
    }


def planned(spec: dict[str, Any], epsilon: mpq, refinement: int) -> Plan:
    statistic = build(spec, COLUMNS, DATASET.n, DATASET.rows_per_unit)
    mechanism = Mechanism.for_epsilon(statistic, epsilon, mpq(1), refinement)  # γ = 1: the clamp often binds
    radius = mechanism.radius(ALPHA)
    return Plan(mechanism, ALPHA, int(epsilon * 10**9), radius, radius)


def released(plan: Plan, seed: int) -> tuple[bytes, Sequence[mpq]]:
    numbers = random.Random(seed)
    answer: Any
    if plan.statistic.bins is not None:
        places = [int(numbers.random() ** 3 * plan.statistic.components) for _ in range(DATASET.n)]
        answer = tuple(np.bincount(places, minlength=plan.statistic.components).tolist())
    else:
        squared = isinstance(plan.statistic.needs, ColumnSums)
        answer = Moments(DATASET.n, 700, 700) if squared else Total(DATASET.n, 700)
    drawn = plan.mechanism.draw(answer, SeededBits(seed))
    return b"".join(release_answers.encode_release("an id", DATASET, plan, drawn)), list(drawn)


@pytest.mark.parametrize("epsilon", [mpq(1, 10**9), mpq("0.3"), mpq(1), mpq(8)])
@pytest.mark.parametrize("refinement", [0, 3, 30])
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec['kind']} of {spec['column'][:5]} {len(spec)}")
def test_a_release_is_spelled_as_it_is_defined(spec: dict[str, Any], refinement: int, epsilon: mpq) -> None:
    plan = planned(spec, epsilon, refinement)
    opening, drawn = released(plan, refinement)
    assert opening + b"}" == encode_json(defined(plan, drawn))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec['kind']} of {spec['column'][:5]} {len(spec)}")
def test_an_earlier_release_is_the_stored_one_with_another_accuracy(spec: dict[str, Any]) -> None:
    plan = planned(spec, mpq("0.3"), 2)
    opening, _ = released(plan, 4)
    stored = opening + release_answers.encode_ending({"charged": "0.3"}, None, "then")
    alpha, radius = mpq(1, 3), plan.mechanism.radius(mpq(1, 3))
    at_alpha = questions.plan_mechanism(plan.mechanism, alpha)
    body = open_body(of_content(stored), len(stored))
    release = Release("an id", 1, 1, "", 1, "1", 2, "then", stored)
    prepared = release_answers.prepare_reused_release(release, body, at_alpha)
    made = prepared.opening.complete(release_answers.encode_ending({"charged": "0"}, prepared.released_at))
    answer = open_answer(made, lambda: body).content()
    assert (len(answer), sha256(answer).digest()) == (made.size, made.sha256)
    expected: dict[str, Any] = json.loads(stored)
    value = expected["value_in_range"]
    listed = [interval(x, plan.mechanism, radius) for x in value] if isinstance(value, list) else None
    around = listed or interval(value, plan.mechanism, radius)
    expected["accuracy"] = documents.accuracy_document(at_alpha) | {"interval": around}
    told = summaries.summarise_release(at_alpha, None if isinstance(value, list) else mpq(value))
    expected["summary"] = f"{told}; an earlier release, which cost ε = 0.3, answers this at no cost."
    assert answer == encode_json(expected | {"reused": True, "budget": {"charged": "0"}})


def test_a_release_of_an_older_version_gets_its_treatment_when_it_is_reused() -> None:
    plan = planned(SPECS[0], mpq("0.3"), 2)
    stored = released(plan, 4)[0] + release_answers.encode_ending({"charged": "0.3"}, None, "then")
    treatment = Treatment("x", Kind.INTEGER, mpq(5), clamped_to=(mpq(0), mpq(10)))
    told = questions.plan_mechanism(plan.mechanism, ALPHA, treatments=(treatment,))
    for known in (
        stored,
        stored.replace(b',"summary"', b',"treatment":%b,"summary"' % documents.encode_treatment(told)["treatment"]),
    ):
        body = open_body(of_content(known), len(known))
        prepared = release_answers.prepare_reused_release(
            Release("an id", 1, 1, "", 1, "1", 2, "then", known), body, told
        )
        answer = json.loads(prepared.opening.complete(b"}").content)
        assert answer["treatment"] == {"x": {"missing_as": 5, "clamped_to": [0, 10], "rule": RULE}}
        assert f"95 % confidence, {RULE}; an earlier release, which cost" in answer["summary"]


def test_the_clamp_and_many_bins_are_among_the_cases() -> None:
    opening, drawn = released(planned(SPECS[1], mpq(1), 0), 1)
    members = json.loads(opening + b"}")
    assert members["value"] != members["value_in_range"]
    assert len(set(drawn)) < len(drawn) / 10
    assert len(members["edges"]) == 1002


finite = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
decimals = st.builds(lambda x, e: x / 10**e, st.integers(-(10**17), 10**17), st.integers(0, 25)).map(lambda x: x + 0.0)


@given(st.lists(finite | decimals | st.integers(-(2**54), 2**54).map(float), min_size=1, max_size=20))
def test_doubles_are_spelled_as_json_spells_them(values: list[float]) -> None:
    doubles = np.array(values)
    assert double_texts(doubles).to_pylist() == [json.dumps(value) for value in values]
    assert number_texts(doubles).to_pylist() == [json.dumps(json_number(mpq(value))) for value in values]


@pytest.mark.parametrize("size", [1e-4, 1e10, 2.0**53, 1e16])
def test_the_sizes_where_spellings_change(size: float) -> None:
    doubles = np.array([np.nextafter(size, 0), size, np.nextafter(size, np.inf), 0.0])
    doubles = np.concatenate([doubles, 0.0 - doubles])
    assert double_texts(doubles).to_pylist() == [json.dumps(value) for value in doubles.tolist()]
    assert number_texts(doubles).to_pylist() == [json.dumps(json_number(mpq(value))) for value in doubles.tolist()]


def test_an_array_is_taken_apart_into_its_entries() -> None:
    entries = dictionary_entries(b"1,2.5,1,-3")
    assert entries.dictionary.to_pylist() == ["1", "2.5", "-3"]
    assert entries.indices.to_pylist() == [0, 1, 0, 2]
    assert join_array(entries.dictionary.take(entries.indices)) == b"[1,2.5,1,-3]"


@pytest.mark.parametrize("length", [1, BATCH - 1, BATCH, BATCH + 1])
def test_texts_are_kept_in_order(length: int) -> None:
    assert texts_array(map(str, range(length))).equals(pa.array([str(i) for i in range(length)]))


@pytest.mark.parametrize(
    ("alpha", "level"),
    [
        ("0.05", "95 %"),
        ("1/60", "98.33 %"),
        ("0.0001", "99.99 %"),
        ("1e-9", "99.9999999 %"),
        ("1e-300", "99.99999999 %"),
    ],
)
def test_a_confidence_level_is_rounded_down_and_never_to_certainty(alpha: str, level: str) -> None:
    assert confidence_text(mpq(alpha)) == level
    assert chart.describe_intervals([{"alpha": float(mpq(alpha))}]).startswith(f"{level} confidence intervals")
