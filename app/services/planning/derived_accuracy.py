"""The interval that a derived statistic would have, and the smallest ε for a wanted one. No data is read here.

Half the width of the interval is computed as if each release were exactly the statistic, which is guessed, or is that
of the worst case, where there is one. Unlike a radius it is no promise: noise makes intervals wider or narrower.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gmpy2 import mpq

from app.dp.derived import DerivedStatistic
from app.dp.derived.base import Basis
from app.dp.mechanism.epsilon_sharing import by_weight
from app.dp.mechanism.mechanism import GridRefinement, Mechanism
from app.dp.statistics import Statistic
from app.errors import AccuracyTrivialError, AccuracyUnattainableError, InvalidRequestError
from app.ledger.units import MAX_EPSILON_NANO, NANO_PER_EPSILON
from app.services.planning.epsilon_split import Weights, find_narrowest

MAX_PROBABILITIES = 5
"""Of quantiles whose accuracy is given: each takes its time at each ε that is tried."""

_NOT_NEGATIVE = ("count", "weight", "standard_deviation", "standard_deviation_x", "standard_deviation_y", "proportion")
_AT_MOST_ONE = ("correlation", "proportion")


@dataclass(frozen=True, slots=True)
class Target:
    """What is wanted of a derived statistic: exactly one of an ε (in ledger units) and two ways to say an accuracy.

    Attributes:
        accuracy: half the width of the interval, in the statistic's units.
        relative_accuracy: the same, as a part of the guess of the statistic.
        guesses: of numbers of the table, by name.
    """

    epsilon_nano: int | None
    accuracy: mpq | None
    relative_accuracy: mpq | None
    guesses: Mapping[str, mpq]


@dataclass(frozen=True, slots=True)
class PlannedWidth:
    """Half the width of the interval that is planned; None where it would have no ends."""

    half_width: mpq | None
    basis: Basis


@dataclass(frozen=True, slots=True)
class Setting:
    """What the width depends on beside ε.

    Attributes:
        guesses: of numbers of the table, by name; if some that the width needs are missing, it is not planned.
    """

    derived: DerivedStatistic
    statistics: Mapping[str, Statistic]
    alpha: mpq
    gamma: mpq
    grid_refinement: GridRefinement
    guesses: Mapping[str, mpq]
    _splits: dict[int, Weights] = field(default_factory=dict, init=False)

    @property
    def has_guesses(self) -> bool:
        """Whether all guesses that the width needs are given."""
        return set(self.derived.required_guesses) <= set(self.guesses)

    def share(self, epsilon_nano: int) -> dict[str, int]:
        """Return each component's part of the ε, by role.

        By the statistic's own weights or, with guesses, by those with the narrowest planned interval. These are found
        for the greatest power of √2 that is not above ε, so that all ε up to the next power are split alike.
        """
        weights: Weights = self.derived.weights
        if self.derived.guess_names and self.has_guesses and len(weights) > 1:
            power = (epsilon_nano**2).bit_length() - 1
            if power not in self._splits:
                self._splits[power] = self._find_split(math.isqrt(2**power))
            weights = self._splits[power]
        return self._divide(epsilon_nano, weights)

    def _find_split(self, epsilon_nano: int) -> Weights:
        def width(weights: Weights) -> mpq | None:
            return self._width_of(self._divide(epsilon_nano, weights))

        return find_narrowest(self.derived.weights, self.derived.traded, width)

    def _divide(self, epsilon_nano: int, weights: Weights) -> dict[str, int]:
        roles = list(self.derived.components)
        shares = by_weight(mpq(epsilon_nano, NANO_PER_EPSILON), [mpq(weights[role]) for role in roles])
        return {role: int(each * NANO_PER_EPSILON) for role, each in zip(roles, shares, strict=True)}

    def half_width(self, epsilon_nano: int) -> mpq | None:
        """Return half the width of the interval; None if it would have no ends, or a share of ε is below a unit."""
        return self._width_of(self.share(epsilon_nano))

    def usual_half_width(self, epsilon_nano: int) -> mpq | None:
        """Return the same if ε is divided by the statistic's own weights."""
        return self._width_of(self._divide(epsilon_nano, self.derived.weights))

    def _width_of(self, shares: Mapping[str, int]) -> mpq | None:
        if 0 in shares.values():
            return None
        mechanisms = {
            role: Mechanism.for_epsilon(
                self.statistics[role], mpq(share, NANO_PER_EPSILON), self.gamma, self.grid_refinement
            )
            for role, share in shares.items()
        }
        return self.derived.half_width(self.guesses, mechanisms, self.alpha)


def choose_epsilon(setting: Setting, target: Target, most_nano: int) -> int:
    """Return the ε, in ledger units, that the components share: the requested one, or the smallest for the accuracy.

    Raises:
        InvalidRequestError: a guess is missing, or is none; or no ε is enough.
        AccuracyTrivialError, AccuracyUnattainableError: as their names say.
    """
    derived = setting.derived
    _check_guesses(derived, target)
    if target.epsilon_nano is not None:
        return target.epsilon_nano
    where = "accuracy" if target.relative_accuracy is None else "relative_accuracy"
    wanted = _compute_wanted_half_width(derived, target)
    if len(derived.described.get("probabilities", ())) > MAX_PROBABILITIES:
        what = f"is for at most {MAX_PROBABILITIES} probabilities: give `epsilon`, or ask for fewer"
        raise InvalidRequestError((where, what))

    def suffices(epsilon_nano: int) -> bool:
        half_width = setting.half_width(epsilon_nano)
        return half_width is not None and half_width <= wanted

    least_nano = sum(setting.derived.weights[role] for role in setting.derived.components)
    if suffices(least_nano):
        raise AccuracyTrivialError
    low, high = least_nano, MAX_EPSILON_NANO
    if not suffices(high):
        what = "is too small for any ε: ask for a larger one"
        if derived.kind == "quantile":
            what = "is too small for any ε, because intervals of quantiles end at edges of bins: ask for more bins"
        raise InvalidRequestError((where, what))
    high = _find_smallest(suffices, *_bracket(setting, wanted, low, high))
    if max(setting.share(high).values()) > most_nano:
        raise AccuracyUnattainableError(high, most_nano)
    return high


def _bracket(setting: Setting, wanted: mpq, low: int, high: int) -> tuple[int, int]:
    """Return a narrow part of a range of ε, the last of which is enough by the statistic's own weights, or not at all.

    To divide ε at the guesses takes much longer, and needs not much less ε.
    """
    while high > 2 * low:
        middle = math.isqrt(low * high)
        width = setting.usual_half_width(middle)
        low, high = (low, middle) if width is not None and width <= wanted else (middle, high)
    return low, high


def _find_smallest(suffices: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest ε that suffices, to the unit, from about where it is."""
    while not suffices(high):
        low, high = high, min(2 * high, MAX_EPSILON_NANO)
    while low > 1 and suffices(low):
        low, high = low // 2, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def plan_width(setting: Setting, epsilon_nano: int) -> PlannedWidth | None:
    """Return half the width of the planned interval, or None without the guesses that it needs."""
    if not setting.has_guesses:
        return None
    return PlannedWidth(setting.half_width(epsilon_nano), setting.derived.basis(setting.guesses))


def _compute_wanted_half_width(derived: DerivedStatistic, target: Target) -> mpq:
    if target.relative_accuracy is None:
        return target.accuracy or mpq(0)
    if derived.date_kind is not None:
        raise InvalidRequestError(
            ("relative_accuracy", f"does not go with dates: give `accuracy`, in {derived.date_kind.unit}")
        )
    if derived.compared is None:
        what = f"does not go with a {derived.kind}, which has several values: give `accuracy`"
        raise InvalidRequestError(("relative_accuracy", what))
    guess = target.guesses.get(derived.compared)
    if not guess:
        raise InvalidRequestError(
            (f"guesses.{derived.compared}", "is missing, or 0: `relative_accuracy` is a part of it")
        )
    return target.relative_accuracy * abs(guess)


def _check_guesses(derived: DerivedStatistic, target: Target) -> None:
    """Refuse guesses that the statistic does not use or cannot have, and an accuracy without the guesses it needs."""
    allowed = tuple(dict.fromkeys((*derived.required_guesses, *derived.optional_guesses)))
    for name, guess in target.guesses.items():
        where = f"guesses.{name}"
        if name not in allowed:
            takes = f"it takes {', '.join(allowed)}" if allowed else "its width depends on no guess"
            raise InvalidRequestError((where, f"does not belong to a {derived.kind}: {takes}"))
        if name in _NOT_NEGATIVE and guess < 0:
            raise InvalidRequestError((where, "must be at least 0"))
        if name in _AT_MOST_ONE and abs(guess) > 1:
            raise InvalidRequestError((where, "must be at most 1 in size"))
    missing = [name for name in derived.required_guesses if name not in target.guesses]
    if missing and (target.guesses or target.epsilon_nano is None):
        what = f"is missing: how wide the interval of a {derived.kind} is depends on it"
        raise InvalidRequestError((f"guesses.{missing[0]}", what))
