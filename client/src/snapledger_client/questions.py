"""How questions are asked, as keyword arguments."""

from typing import TypedDict

from snapledger_client.numbers import Number


class Question(TypedDict, total=False):
    """How a statistic is asked for, as keyword arguments: exactly one of `epsilon` and `accuracy`, and what may differ.

    `epsilon` is what the release may cost, `accuracy` the radius wanted; it holds with probability 1 - `alpha`, by
    default 0.95. `gamma` and `grid_refinement` shape the mechanism. With `reuse=False` no earlier release answers.

    Examples:
        >>> from snapledger_client import Question
        >>> precise: Question = {"accuracy": 50, "alpha": "0.01"}
        >>> penguins.plan(mean("body_mass_g"), **precise).accuracy.alpha
        0.01
    """

    epsilon: Number
    accuracy: Number
    alpha: Number
    gamma: Number
    grid_refinement: int
    reuse: bool


class Asked(Question, total=False):
    """A `Question`, and the idempotency key of its release: by default a new one.

    Examples:
        >>> from snapledger_client import Asked
        >>> asked: Asked = {"epsilon": "0.5", "key": "monday's report"}
        >>> first, again = (penguins.mean("body_mass_g", **asked) for _ in range(2))
        >>> first.id == again.id
        True
    """

    key: str


class PlanAsked(Question, total=False):
    """A `Question` of a plan: also a `curve`, as (first ε, last ε, points), and a `guess` at which to tell the bias.

    Examples:
        >>> from snapledger_client import PlanAsked
        >>> asked: PlanAsked = {"epsilon": "0.5", "curve": ("0.01", 10, 20), "guess": 4200}
        >>> len([point for point in penguins.plan(mean("body_mass_g"), **asked).curve if not point.cliff])
        20
    """

    curve: tuple[Number, Number, int]
    guess: Number


class Together(TypedDict, total=False):
    """How a derived statistic is asked for: the `epsilon` that its components share, and the rest as a `Question`.

    Examples:
        >>> from snapledger_client import Together
        >>> asked: Together = {"epsilon": "0.3", "alpha": "0.01"}
        >>> penguins.plan_derived(correlation("bill_length_mm", "body_mass_g"), **asked).alpha
        0.01
    """

    epsilon: Number
    alpha: Number
    gamma: Number
    grid_refinement: int
    reuse: bool


class TogetherAsked(Together, total=False):
    """The same, and the idempotency key: by default a new one.

    Examples:
        >>> from snapledger_client import TogetherAsked
        >>> asked: TogetherAsked = {"epsilon": "0.2", "key": "spread of masses"}
        >>> first, again = (penguins.standard_deviation("body_mass_g", **asked) for _ in range(2))
        >>> first == again
        True
    """

    key: str


class Shared(Together, total=False):
    """How a batch is asked for: an `epsilon` to share by weight, or with `equalise="relative"` for equal radii.

    Examples:
        >>> from snapledger_client import Shared
        >>> asked: Shared = {"epsilon": 1, "equalise": "relative"}
        >>> items = [item(mean("body_mass_g")), item(mean("bill_length_mm"))]
        >>> penguins.plan_batch(items, **asked).budget.charged <= 1
        True
    """

    equalise: str


class SharedAsked(Shared, total=False):
    """The same, and the batch's idempotency key: by default a new one.

    Examples:
        >>> from snapledger_client import SharedAsked
        >>> asked: SharedAsked = {"epsilon": "0.2", "key": "the means"}
        >>> items = [item(mean("body_mass_g"), weight=1), item(mean("bill_length_mm"), weight=1)]
        >>> len(penguins.batch(items, **asked).items)
        2
    """

    key: str
