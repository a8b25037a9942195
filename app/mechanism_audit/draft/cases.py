"""The draft's case analysis (its Theorem 2): the case of a release, and the bound of its loss by interval arithmetic.

Neighbours have f(a') = f(a) + 1. The release x comes from the noisy results y₁ <= w < y₂ that snap to it, and these
come from the U between two thresholds. As in the draft, an interval bounds each threshold, and the loss is computed at
the worst ends. The draft says that some thresholds are "actually" 1, but rounding can change that, so this module uses
their intervals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from gmpy2 import mpq

from app.dp.mechanism.parameters import GAMMA, ceil_log2, clamping_bound, power_of_two_at_least
from app.dp.numbers.exact import Rational
from app.mechanism_audit.draft.semantics import enclose
from app.mechanism_audit.draft.snap import THRESHOLD
from app.mechanism_audit.intervals import Interval, ln

_GUARD_BITS = 192


@dataclass(frozen=True, slots=True)
class Setting:
    """The draft's parameters: noise of scale 1/ε, the bound B, the grid Λ, and arithmetic with relative error η."""

    epsilon: Rational
    bound: Rational
    grid: Rational
    eta: Rational

    @classmethod
    def of(cls, epsilon: Rational, b_prime: Rational) -> "Setting":
        """Return the setting with the notes' B and η, and the draft's Λ: the smallest power of two not below 1/ε."""
        precision_bits, bound = clamping_bound(epsilon, b_prime, GAMMA)
        return cls(epsilon, bound, power_of_two_at_least(1 / epsilon), mpq(1, 2**precision_bits))

    @property
    def outermost(self) -> int:
        """The first multiple of Λ that is released as B."""
        return int((self.bound / self.grid).__ceil__())

    @property
    def precision(self) -> int:
        """A working precision, in bits, at which rounding errors are negligible compared with η."""
        return _GUARD_BITS - ceil_log2(self.eta)

    def constant(self, excess: Rational) -> Rational:
        """Return the c for which a loss of ε + `excess` equals ε(1 + cBη)."""
        return excess / (self.epsilon * self.bound * self.eta)


class Case(Enum):
    """The cases of the theorem, each with the constant c that the draft states for it, or None if it states none."""

    LOWEST = "x = −B", mpq("10.1")
    BELOW_NEGATIVE = "−B < x < ⌊f(a)⌉, x < 0", mpq(23)
    BELOW_ZERO = "−B < x < ⌊f(a)⌉, x = 0", mpq(14)
    BELOW_POSITIVE = "−B < x < ⌊f(a)⌉, x > 0", mpq(12)
    FIRST = "x = ⌊f(a)⌉", mpq(12)
    BETWEEN = "⌊f(a)⌉ < x < ⌊f(a′)⌉", None
    BOTH = "x = ⌊f(a)⌉ = ⌊f(a′)⌉", None
    SECOND = "x = ⌊f(a′)⌉", mpq(12)
    ABOVE_NEGATIVE = "⌊f(a′)⌉ < x < B, x < 0", None
    ABOVE_ZERO = "⌊f(a′)⌉ < x < B, x = 0", None
    ABOVE_POSITIVE = "⌊f(a′)⌉ < x < B, x > 0", None
    HIGHEST = "x = B", mpq(6)

    def __init__(self, title: str, claimed: Rational | None) -> None:
        self.title = title
        self.claimed = claimed


@dataclass(frozen=True, slots=True)
class Need:
    """The constant that the intervals require for one release of one query: found by search, and rigorous for these."""

    constant: Rational
    query: Rational
    release: int


def case_of(setting: Setting, query: Rational, release: int) -> Case:
    """Return the case of a release, in multiples of Λ, for f(a) = `query` and f(a') = `query` + 1."""
    first, second = (_snap(setting, value) for value in (query, query + 1))
    if abs(release) >= setting.outermost:
        return Case.HIGHEST if release > 0 else Case.LOWEST
    if first <= release <= second:
        if first == second:
            return Case.BOTH
        return {first: Case.FIRST, second: Case.SECOND}.get(release, Case.BETWEEN)
    below = Case.BELOW_NEGATIVE, Case.BELOW_ZERO, Case.BELOW_POSITIVE
    above = Case.ABOVE_NEGATIVE, Case.ABOVE_ZERO, Case.ABOVE_POSITIVE
    return (below if release < first else above)[1 + (release > 0) - (release < 0)]


def mass(setting: Setting, query: Rational, release: int) -> Interval:
    """Return an interval with the probability of a release of f(a) = `query`, for a real U and any roundings."""
    below = _share(setting, query, release + 1, 1) - _share(setting, query, release, 1)
    above = _share(setting, query, release, -1) - _share(setting, query, release + 1, -1)
    return (below + above) * Interval.point(mpq(1, 2))


def excess(setting: Setting, query: Rational, release: int) -> Rational:
    """Return a bound of the loss of a release minus ε; negative if the loss is below ε."""
    one, other = mass(setting, query, release), mass(setting, query + 1, release)
    ratio = max(one.upper / other.lower, other.upper / one.lower)
    return ln(Interval.point(ratio), setting.precision).upper - setting.epsilon


def search(setting: Setting) -> dict[Case, Need]:
    """Return the largest constant that is needed in each case, over queries at which roundings matter most."""
    found: dict[Case, Need] = {}
    for query in _queries(setting):
        for release in _releases(setting, query):
            case = case_of(setting, query, release)
            need = Need(setting.constant(excess(setting, query, release)), query, release)
            if case not in found or need.constant > found[case].constant:
                found[case] = need
    return found


def _snap(setting: Setting, value: Rational) -> int:
    return int((value / setting.grid + mpq(1, 2)).__floor__())


def _share(setting: Setting, query: Rational, release: int, sign: int) -> Interval:
    """Return the part of U whose noisy result is below the release's cell (sign +), or in it or above (sign -)."""
    if not -setting.outermost < release <= setting.outermost:  # all results are above the lowest, and below the highest
        return Interval.point(mpq((release > 0) == (sign > 0)))
    y = (release - mpq(1, 2)) * setting.grid
    environment = {"ε": setting.epsilon, "f(a)": query, "y": y, "S": mpq(sign)}
    # U is at most 1, so the exact threshold does not matter if it is larger.
    if sign * (y - query) * setting.epsilon > 1:
        return Interval.point(mpq(1))
    threshold = enclose(THRESHOLD, environment, setting.eta, setting.precision)
    return threshold.under(lambda u: min(u, mpq(1)))


def _queries(setting: Setting) -> Iterator[Rational]:
    """Yield inputs f(a) at the ends of the range, in the middle, and at and beside the ends of cells."""
    blur = setting.bound * setting.eta
    last = setting.outermost - 1
    candidates = [-setting.bound, setting.bound - 1, mpq(0), mpq(-1, 2), setting.bound / 3, -setting.bound / 3]
    for cell in {-last, -last // 2, -1, 0, 1, last // 2, last}:
        end = (cell - mpq(1, 2)) * setting.grid
        for beside in (mpq(0), blur, 4 * blur, setting.grid / 3):
            candidates += [end - beside, end + beside, end - beside - 1, end + beside - 1]
    return (query for query in dict.fromkeys(candidates) if -setting.bound <= query <= setting.bound - 1)


def _releases(setting: Setting, query: Rational) -> Iterator[int]:
    """Yield releases at both ends, at 0, and near f(a) and f(a')."""
    first, second, last = _snap(setting, query), _snap(setting, query + 1), setting.outermost
    near = [cell + step for cell in (first, (first + second) // 2, second) for step in (-2, -1, 0, 1, 2)]
    chosen = [-last, 1 - last, last // 2, -(last // 2), -1, 0, 1, last - 1, last, *near]
    return (release for release in dict.fromkeys(chosen) if abs(release) <= last)
