"""The audit lets what serves releases pass, and catches what is broken in one way, by what that way breaks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gmpy2 import mpq
from mutants import MUTANTS

from app.dp.mechanism import bulk_draw
from app.dp.mechanism.parameters import Parameters
from app.dp.numbers.exact import Rational
from app.dp.statistics import STATISTICS
from app.dp.statistics.adaptive_histogram import AdaptiveHistogram
from app.dp.statistics.count_base import SharedCounts
from app.dp.statistics.sum import Sum
from app.dp.table.sums import Answer
from app.mechanism_audit import neighbours, tails
from app.mechanism_audit.audit import audit
from app.mechanism_audit.subject import COUNTS, SINGLE, Subject
from app.mechanism_audit.tape import Tape

SMALL = mpq(1), mpq(1)
"""Few releases, of which some are ties and some clamped; at ε = 1, where a λ' rounded to a double is wrong."""


def test_what_serves_releases_passes() -> None:
    assert [finding for finding in audit(*SMALL) if not finding.holds] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_what_is_broken_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    expected = set(mutant.caught_by)
    for finding in audit(*SMALL, implementation=mutant.install(monkeypatch)):
        if not finding.holds:
            expected -= {word for word in expected if word in finding.quantity}
        if not expected:
            return
    pytest.fail(f"not found: {expected}")


@pytest.mark.slow
def test_a_bulk_draw_that_trusts_doubles_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_draw, "_certainty_margin", lambda t, _: np.zeros_like(t))
    findings = audit(mpq(1), mpq(20), implementation=COUNTS, most_releases=4)
    assert any("beside ends" in finding.quantity for finding in findings if not finding.holds)


@pytest.mark.slow
def test_half_the_noise_that_a_histogram_needs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SharedCounts, "mechanisms", property(lambda counts: counts.rows_per_unit))
    found = {finding.quantity: finding.exact for finding in neighbours.findings(mpq(1), 20, 1) if not finding.holds}
    kinds = ("histogram", "histogram of two columns", "histogram with a filter", "count by group")
    assert found.keys() == {f"{kind}: {what}" for kind in kinds for what in ("distance of neighbours", "privacy loss")}
    assert found["histogram: distance of neighbours"] == "2"


@pytest.mark.slow
def test_a_sensitivity_for_one_row_is_caught_where_a_person_has_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("mean", "variance", "covariance", "count", "sum"):
        monkeypatch.setattr(STATISTICS[kind], "sensitivity", property(lambda statistic: statistic.row_sensitivity))
    found = {finding.quantity for finding in neighbours.findings(mpq(1), 21, 3) if not finding.holds}
    kinds = ("mean", "variance", "covariance", "count with a filter", "sum with a filter")
    assert {f"{kind}: privacy loss" for kind in kinds} <= found


@pytest.mark.slow
def test_half_the_noise_that_sums_of_groups_need_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sum, "mechanisms", property(lambda total: total.rows_per_unit))
    found = {finding.quantity for finding in neighbours.findings(mpq(1), 20, 1) if not finding.holds}
    assert found == {"sum by group: distance of neighbours", "sum by group: privacy loss"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["adaptive_histogram", "quantile_search"])
def test_too_little_noise_for_counts_that_earlier_ones_choose_is_caught(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = mpq(2, 3)
    enough = STATISTICS[kind].mechanisms.fget
    monkeypatch.setattr(STATISTICS[kind], "mechanisms", property(lambda counts: enough(counts) * fewer))
    found = {finding.quantity for finding in neighbours.findings(mpq(1), 20, 1) if not finding.holds}
    assert {f"{kind}: privacy loss", f"{kind} with a filter: privacy loss"} <= found


@pytest.mark.slow
def test_cells_that_the_data_choose_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    search, choose = AdaptiveHistogram.search, AdaptiveHistogram.choose_cells

    def peek(counts: AdaptiveHistogram, answer: Answer, scale: Rational, release: Callable[..., Rational]) -> Any:
        exact = search(counts, answer, scale, lambda count, _=None: count)
        with monkeypatch.context() as patch:
            patch.setattr(AdaptiveHistogram, "choose_cells", lambda counts, _, scale: choose(counts, exact, scale))
            return search(counts, answer, scale, release)

    monkeypatch.setattr(AdaptiveHistogram, "search", peek)
    found = {finding.quantity for finding in neighbours.findings(mpq(1), 20, 1) if not finding.holds}
    assert "adaptive_histogram: privacy loss" in found


def test_a_radius_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    smaller = 1 - mpq(1, 10**9)
    for name in ("radius", "tight_radius"):
        production = getattr(tails, name)
        monkeypatch.setattr(tails, name, lambda p, alpha, production=production: production(p, alpha) * smaller)
    parameters = SINGLE.derive(mpq(1), mpq(50), mpq(1, 20), 0)
    found = [finding.quantity for finding in tails.findings(Subject(parameters)) if not finding.holds]
    assert [quantity for quantity in found if "tight radius" in quantity]


def test_a_radius_too_large_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    production = tails.tight_radius
    monkeypatch.setattr(tails, "tight_radius", lambda p, alpha: production(p, alpha) * (1 + mpq(1, 10**9)))
    parameters = SINGLE.derive(mpq(1), mpq(50), mpq(1, 20), 0)
    found = [finding.quantity for finding in tails.findings(Subject(parameters)) if not finding.holds]
    assert any("tighter" in quantity for quantity in found)


def test_a_release_that_only_one_of_two_neighbours_can_have_is_caught() -> None:
    def draw(x: mpq, parameters: Parameters, bits: Tape) -> mpq:
        return SINGLE.draw(x, parameters, bits) if x else mpq(0)

    findings = audit(*SMALL, implementation=replace(SINGLE, draw=draw))
    assert any(finding.exact == "unbounded" for finding in findings)
