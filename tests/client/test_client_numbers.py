from decimal import Decimal

import pytest

from snapledger_client import decimal_text, histogram, mean
from snapledger_client.calls import release_estimate


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0.50", "0.50"),
        ("1e-9", "1e-9"),
        (2, "2"),
        (10**30, "1" + "0" * 30),
        (Decimal("0.1"), "0.1"),
        (Decimal("1e-9"), "1E-9"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e-9, "1e-09"),
        (1e22, "1e+22"),
    ],
)
def test_a_number_is_the_decimal_that_was_written(number: str | Decimal | float, text: str) -> None:
    assert decimal_text(number) == text


def test_a_numpy_double_is_its_decimal() -> None:
    numpy = pytest.importorskip("numpy")
    assert decimal_text(numpy.float64("0.1")) == "0.1"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_a_number_is_finite(number: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        decimal_text(number)


@pytest.mark.parametrize("number", [True, None, [1], 1j, b"1"])
def test_nothing_else_is_a_number(number: object) -> None:
    with pytest.raises(TypeError):
        decimal_text(number)  # type: ignore[arg-type]


def test_no_float_is_on_the_wire() -> None:
    call = release_estimate(
        "d", mean("x", bounds=(0.1, Decimal("2.50"))), epsilon=0.1, alpha=Decimal("0.01"), gamma=1, key="k"
    )
    assert call.body == (
        b'{"statistic": {"kind": "mean", "column": "x", "bounds": ["0.1", "2.50"]}, '
        b'"epsilon": "0.1", "alpha": "0.01", "gamma": "1"}'
    )
    assert histogram("x", edges=[0, 0.5, "1.0"])["edges"] == ["0", "0.5", "1.0"]


@pytest.mark.parametrize("name", ["", ".", "..", "..."])
def test_a_name_is_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="letters"):
        release_estimate(name, mean("x"), epsilon=1)


def test_a_name_stays_in_its_place() -> None:
    assert release_estimate("a/../b?c#d", mean("x"), epsilon=1).path == "/v1/datasets/a%2F..%2Fb%3Fc%23d/releases"
