"""Reused answers of many bins are stored by what they follow from: the spelling of intervals must never change."""

import pytest
from gmpy2 import mpq

from app.interval_text import interval_pieces


@pytest.mark.parametrize(
    ("values", "reach", "range_", "spelled"),
    [
        (
            [b"[0,7.5,172,-3", b",1e-07,344]"],
            mpq(1161550079521509, 10**13),
            (0.0, 344.0),
            (
                b"[[0.0,116.15500795215091],[0.0,123.65500795215091],[55.8449920478491,288.1550079521509],"
                b"[0.0,113.15500795215091],[0.0,116.1550080521509],[227.84499204784908,344.0]]"
            ),
        ),
        (
            [b"[1e+22,0.1]"],
            mpq(1, 3),
            (-1e300, 1e300),
            b"[[9.999999999999998e+21,1.0000000000000002e+22],[-0.23333333333333334,0.43333333333333335]]",
        ),
    ],
)
def test_the_spelling_of_intervals_is_written_down(
    values: list[bytes], reach: mpq, range_: tuple[float, float], spelled: bytes
) -> None:
    assert b"".join(interval_pieces(values, reach, *range_)) == spelled
