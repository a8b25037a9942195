"""Random questions of every kind, held against a second computation of what they cost and promise."""

import json
import random
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest
from lengths import LONGER
from random_questions import COLUMNS, FILTERS, random_statistic, random_terms
from service_world import Service, Table
from textbook import Shape, radius, shape, shown

UNIT = Decimal("1e-9")
OF_ONE_GROUP = {"kind": "count", "where": FILTERS[0]}
BY_GROUP = json.dumps({"kind": "count", "group_by": "k"})
"""A release of this one has the count of one group."""

RADII = {"radius", "tight_radius", "simultaneous_radius"}

MANY = pytest.param(300 * LONGER, marks=pytest.mark.slow)


def told_by(of: Shape, rows_per_unit: int, epsilon: Decimal, terms: dict[str, Any]) -> Decimal:
    alpha, gamma = Decimal(terms["alpha"]), Decimal(terms["gamma"])
    return radius(of, rows_per_unit, epsilon, alpha, gamma, terms["grid_refinement"])


def part_of(of: Shape, chance: random.Random) -> str:
    """An accuracy from a ten-thousandth to nearly all of the public range."""
    share = Decimal(chance.randint(1, 9_999)) / 10_000
    return f"{Decimal(of.width.numerator) / of.width.denominator * share:.25g}"


@pytest.mark.parametrize("count", [100, MANY])
def test_the_smallest_epsilon_attains_and_a_unit_less_does_not(one_service: Service, count: int) -> None:
    """Of any n and rows a person, whatever it would take: what is unattainable tells its ε as well."""
    chance, kinds, unattainable = random.Random(7), set(), 0
    for _ in range(count):
        statistic, terms = random_statistic(chance), random_terms(chance)
        n, rows = chance.choice([2, 3, 10, 1000, 10**6, 10**15]), chance.choice([1, 1, 2, 7, 1000])
        of = shape(statistic, n, rows)
        wanted = part_of(of, chance)
        body = {"statistic": statistic, "n": n, "rows_per_unit": rows, "columns": COLUMNS, **terms}
        answer = one_service.admin.post("/v1/plan", json=body | {"accuracy": wanted})
        document = answer.json()
        if answer.status_code == 422:
            assert document["type"] == "/problems/accuracy-unattainable", answer.text
            epsilon, unattainable = Decimal(document["epsilon"]), unattainable + 1
            assert epsilon > 1000
        else:
            assert answer.status_code == 200, answer.text
            epsilon = Decimal(document["privacy"]["epsilon"])
            exact = told_by(of, rows, epsilon, terms)
            assert document["accuracy"]["radius"] == shown(exact)
            kinds.add(json.dumps([statistic["kind"], *sorted(statistic)]))
        if epsilon < 10**6:
            assert told_by(of, rows, epsilon, terms) <= Decimal(wanted), body
            assert epsilon == UNIT or told_by(of, rows, epsilon - UNIT, terms) > Decimal(wanted), body
    assert len(kinds) == 14
    assert unattainable < count / 2


@pytest.fixture
def table(one_service: Service) -> Table:
    rows = "x,r,b,k\n" + "".join(f"{i},{i / 128},{i % 2},{'st'[i % 2]}\n" for i in range(101))
    return one_service.table(COLUMNS, rows, limit="1000000", allowance="1000000", rows_per_unit=2)


@pytest.mark.parametrize("count", [40, MANY])
def test_curve_plan_and_release_agree_and_plans_know_what_is_free(table: Table, count: int) -> None:
    """To the last digit; and after releases, what an earlier one answers costs nothing, and else nothing is free."""
    chance = random.Random(8)
    some = [random_statistic(chance) for _ in range(count // 8)]
    known: dict[str, list[tuple[dict[str, Any], Decimal, dict[str, Any]]]] = defaultdict(list)
    reused = 0
    for _ in range(count):
        statistic, terms = chance.choice(some), random_terms(chance)
        of = shape(statistic, 101, 2)
        asked: dict[str, Any] = {"epsilon": f"{Decimal(chance.randint(1, 10**6)) / 10 ** chance.choice([5, 6, 9]):f}"}
        if chance.random() < 0.5:
            asked = {"accuracy": part_of(of, chance)}
        fresh = table.plan(statistic, **asked, **terms, reuse=False).json()
        if fresh.get("type") == "/problems/accuracy-unattainable":
            continue
        same = json.dumps(fresh["statistic"])  # a filter on the summed column may make one of two requests
        epsilon = Decimal(fresh["privacy"]["epsilon"])
        exact = told_by(of, 2, epsilon, terms)
        assert fresh["accuracy"]["radius"] == shown(exact)
        plan = table.plan(statistic, **asked, **terms).json()
        # A number answers if it is as accurate as what is wanted; else none of the radii may be larger to a reader.
        wanted = Decimal(asked.get("accuracy", 0))
        single = "simultaneous_radius" not in fresh["accuracy"]
        spent_on = [
            (its_own, spent, {**its, "alpha": terms["alpha"]})
            for its_own, spent, its in known[same] + (known[BY_GROUP] if statistic == OF_ONE_GROUP else [])
        ]
        earlier = [told_by(shape(its_own, 101, 2), 2, *each) for its_own, *each in spent_on]
        told = [
            table.plan(its_own, epsilon=str(spent), **its, reuse=False).json()["accuracy"]
            for its_own, spent, its in spent_on
        ]
        enough = [
            (single and each <= wanted)
            or all(radii[name] <= fresh["accuracy"][name] for name in RADII & fresh["accuracy"].keys())
            for each, radii in zip(earlier, told, strict=True)
        ]
        free = any(enough)
        assert plan["reused"] is free
        assert Decimal(plan["budget"]["charged"]) == (0 if free else epsilon)
        span = {"from": f"{epsilon:f}", "to": f"{min(4 * epsilon, Decimal(1000)):f}", "points": 3}
        curve = table.plan(statistic, **asked, **terms, curve=span).json()["curve"] if epsilon < 1000 else []
        for point in curve[:1]:
            assert point.items() >= {name: fresh["accuracy"][name] for name in ("radius", "tight_radius")}.items()
            assert Decimal(point["epsilon"]) == epsilon
        for point in curve:
            exact_there = told_by(of, 2, Decimal(point["epsilon"]), terms)
            assert point["radius"] == shown(exact_there)
            if single or not point["reused"]:
                least = [radii["tight_radius"] for radii in told]
                assert (
                    point["reused"]
                    is any(
                        shown(each) <= shown(exact_there) and tight <= point["tight_radius"]
                        for each, tight in zip(earlier, least, strict=True)
                    )
                    or not single
                )
        release = table.release(statistic, **asked, **terms)
        assert release.status_code == (200 if free else 201)
        document = release.json()
        assert document["budget"]["charged"] == plan["budget"]["charged"]
        if free:
            answering = min(each for each, is_enough in zip(earlier, enough, strict=True) if is_enough)
            assert document["accuracy"]["radius"] == shown(answering)
            reused += 1
            continue
        for name in ("statistic", "privacy", "mechanism"):
            assert document[name] == plan[name]
        assert document["accuracy"].items() >= plan["accuracy"].items()
        known[same].append((statistic, epsilon, terms))
    assert count * 0.2 < reused < count * 0.9
