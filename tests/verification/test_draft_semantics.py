"""The draft's language: what arithmetic arrives at is where the semantics says, for random expressions and inputs."""

from collections.abc import Callable

import pytest
from gmpy2 import mpq
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from app.dp.mechanism.draw import draw, round_to_grid
from app.dp.mechanism.parameters import derive_parameters
from app.mechanism_audit.draft.expressions import (
    Binary,
    Clamped,
    Constant,
    Distribution,
    Exp,
    Expression,
    Ln,
    Operator,
    Rounded,
    Sample,
    Snapped,
    Variable,
    floating,
)
from app.mechanism_audit.draft.notes import draw_of_the_notes
from app.mechanism_audit.draft.semantics import compute, enclose, judge, nearest, widen
from app.mechanism_audit.draft.snap import NOISY, THRESHOLD, snap
from app.mechanism_audit.intervals import Interval
from app.mechanism_audit.tape import Tape

MANY = settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])

numbers = st.fractions(-1000, 1000, max_denominator=10**6).map(lambda q: mpq(q.numerator, q.denominator))
positive = st.fractions(mpq(1, 10**6), 1000).map(lambda q: mpq(q.numerator, q.denominator))
binary64 = st.floats(-1e3, 1e3, allow_nan=False).map(mpq)
leaves = st.one_of(numbers.map(Constant), st.sampled_from([Variable("x"), Variable("y")]))


def larger(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Binary, st.sampled_from(Operator), parts, parts),
        st.builds(Ln, parts),
        st.builds(lambda part: Exp(Clamped(mpq(40), part)), parts),  # e⁴⁰ is large enough
        st.builds(lambda part: Binary(Operator.TIMES, Sample("S", Distribution.SIGN), part), parts),
    )


expressions = st.recursive(leaves, larger, max_leaves=8)
environments = st.fixed_dictionaries({"x": binary64, "y": binary64, "S": st.sampled_from([mpq(1), mpq(-1)])})


def real(q: mpq) -> mpq:
    return q


@MANY
@given(expressions, environments, st.sampled_from([11, 24, 53, 118]))
def test_what_arithmetic_arrives_at_is_inside_and_so_is_the_real_number(
    expression: Expression, environment: dict[str, mpq], precision: int
) -> None:
    try:
        judgement = judge(floating(expression), environment, precision)
        exact = compute(expression, environment, real)
    except (ValueError, ZeroDivisionError):
        reject()
    assert judgement.value in judgement.error
    # The real number is known to 1,000 bits, and between them may lie the end of an interval of no width.
    slack = abs(exact) / 2**900 + mpq(1, 2**900)
    assert judgement.error.lower - slack <= exact <= judgement.error.upper + slack


@MANY
@given(expressions, environments, st.sampled_from([11, 53]), st.randoms(use_true_random=False))
def test_so_is_what_the_worst_arithmetic_arrives_at(
    expression: Expression, environment: dict[str, mpq], precision: int, choices: object
) -> None:
    eta = mpq(1, 2**precision)

    def unkind(q: mpq) -> mpq:
        return q * choices.choice([1 + eta, 1 / (1 + eta), mpq(1)])

    try:
        error = enclose(floating(expression), environment, eta, 400)
        value = compute(floating(expression), environment, unkind)
    except (ValueError, ZeroDivisionError):
        reject()
    assert value in error


@MANY
@given(numbers, st.sampled_from([2, 11, 53]))
def test_rounding_to_nearest_is_as_accurate_as_the_draft_assumes(q: mpq, precision: int) -> None:
    assert nearest(precision)(q) in widen(Interval.point(q), mpq(1, 2**precision))


# The draft's rules as printed, for e₁ * e₂ of operands that are rounded themselves.
ETA = mpq(1, 2**11)
ONE_THIRD = Rounded(Constant(mpq(1, 3)))
DIFFERENCE = Rounded(Binary(Operator.MINUS, ONE_THIRD, Constant(mpq(333, 1000))))


def printed(exact: mpq) -> tuple[mpq, mpq]:
    return exact / (1 + ETA), exact * (1 + ETA)


def test_the_printed_rule_for_operations_loses_the_errors_of_the_operands() -> None:
    exact = mpq(1, 3) - mpq(333, 1000)
    value = compute(DIFFERENCE, {}, nearest(11))
    low, high = printed(exact)
    assert not low <= value <= high
    assert value in enclose(DIFFERENCE, {}, ETA, 100)


def test_the_printed_interval_of_a_negative_number_is_empty() -> None:
    low, high = printed(mpq(-1, 3))
    assert low > high
    value = compute(Rounded(Constant(mpq(-1, 3))), {}, nearest(11))
    assert value in widen(Interval.point(mpq(-1, 3)), ETA)


@pytest.mark.parametrize("argument", [mpq(999, 1000), mpq(1001, 1000), mpq(1), mpq(3, 2), mpq(1, 10)])
def test_one_rule_for_logarithms_covers_arguments_on_both_sides_of_1(argument: mpq) -> None:
    logarithm = floating(Ln(Binary(Operator.TIMES, Constant(argument), Constant(mpq(1)))))
    for rounding in (nearest(11), lambda q: q * (1 + ETA), lambda q: q / (1 + ETA)):
        assert compute(logarithm, {}, rounding) in enclose(logarithm, {}, ETA, 200)


def test_logarithms_and_quotients_without_a_value_are_refused() -> None:
    for impossible in (Ln(Constant(mpq(0))), Ln(Constant(mpq(-1)))):
        with pytest.raises(ValueError, match="logarithm"):
            enclose(impossible, {}, ETA, 100)
    nearly_zero = Rounded(Binary(Operator.MINUS, ONE_THIRD, ONE_THIRD))
    with pytest.raises(ZeroDivisionError):
        enclose(Binary(Operator.OVER, Constant(mpq(1)), nearly_zero), {}, ETA, 100)


def test_an_interval_has_its_ends_in_order() -> None:
    with pytest.raises(ValueError, match="above"):
        Interval(mpq(2), mpq(1))


def test_an_implementation_rounds_constants_and_operations_and_nothing_else() -> None:
    sign, x = Sample("S", Distribution.SIGN), Variable("x")
    product = Binary(Operator.TIMES, sign, Ln(x))
    assert floating(product) == Binary(Operator.TIMES, sign, Rounded(Ln(x)))
    assert floating(Snapped(mpq(2), Clamped(mpq(3), Constant(mpq(1, 3))))) == Snapped(
        mpq(2), Clamped(mpq(3), ONE_THIRD)
    )
    assert floating(Rounded(Exp(x))) == Rounded(Rounded(Exp(x)))
    assert floating(Binary(Operator.TIMES, x, x)) == Rounded(Binary(Operator.TIMES, x, x))


def test_the_exponent_of_the_notes_u_is_as_large_as_it_happens_to_be() -> None:
    # Of the 374 bits, 289 are 0: more than a draw takes at first.
    parameters, x = derive_parameters(mpq(1), mpq(5000)), mpq(1, 3)
    noise = parameters.scale * 290 * mpq("0.693147180559945")
    assert draw_of_the_notes(x, parameters, Tape(1 << 84, 375)) == round_to_grid(x + noise, parameters.grid)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("u", [1, 2**200, 2**245 + 12345, 2**246 - 1])
def test_snap_is_the_mechanism_that_is_drawn(sign: int, u: int) -> None:
    parameters = derive_parameters(mpq(1), mpq(50))
    x = mpq(7, 3)
    drawn = draw(x, parameters, Tape((sign < 0) << 246 | u, 247))
    # Its sign + is noise downwards, since the logarithm is negative.
    environment = {"ε": 1 / parameters.scale, "f(a)": x, "S": mpq(-sign), "U": mpq(2 * u + 1, 2**247)}
    expression = snap(parameters.grid, parameters.bound)
    assert compute(expression, environment, real) == drawn
    judgement = judge(floating(expression), environment, 118)
    assert judgement.value in judgement.error
    assert drawn in judgement.error


@given(
    st.sampled_from([mpq(1), mpq(-1)]),
    st.fractions(mpq(-50), mpq(50), max_denominator=1000).map(lambda q: mpq(q.numerator, q.denominator)),
    st.fractions(mpq(1, 100), mpq(40), max_denominator=1000).map(lambda q: mpq(q.numerator, q.denominator)),
    st.lists(st.sampled_from([1 + ETA, 1 / (1 + ETA), mpq(1)]), min_size=3, max_size=3),
)
def test_the_threshold_is_the_inverse_of_snap_for_any_roundings(
    sign: mpq, query: mpq, distance: mpq, factors: list[mpq]
) -> None:
    environment = {"ε": mpq(1), "f(a)": query, "S": sign, "y": query - sign * distance}
    threshold = enclose(THRESHOLD, environment, ETA, 200)

    def noisy(u: mpq) -> mpq:
        chosen = iter(factors)
        return compute(floating(NOISY), environment | {"U": u}, lambda q: q * next(chosen))

    # More U is a result nearer to f(a): below the threshold it is on the far side of y, above it on the near one.
    far: Callable[[mpq], bool] = lambda w: w <= environment["y"] if sign > 0 else w >= environment["y"]  # noqa: E731
    assert far(noisy(threshold.lower * (1 - mpq(1, 2**100))))
    assert not far(noisy(threshold.upper * (1 + mpq(1, 2**100))))
