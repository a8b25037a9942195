"""The grammars of numbers, booleans and texts in a CSV."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.dp.table.columns import Column, Kind
from app.engines.ingest.cells import CellReader, UnreadableError, read_whole
from app.engines.ingest.file_format import FileFormat

NULLS = ["", "NA", "NaN", "null"]
INTEGER, REAL, BOOLEAN = (Column("v", kind) for kind in (Kind.INTEGER, Kind.REAL, Kind.BOOLEAN))
YES_NO = Column("v", Kind.BOOLEAN, true_values=("yes", "Ja"), false_values=("no",))
ONE_ZERO = Column("v", Kind.BOOLEAN, true_values=("1.0",), false_values=("null", "0.0"))
MONEY = Column("v", Kind.DECIMAL, scale=2)
SEPARATORS = "is not a number: declare `decimal` or `thousands` in `format`"
SIGN = "is not a number: declare its sign in the column's `symbols`"
NO_BOOLEAN = "is not true, false, 1 or 0: declare other texts as `true_values` and `false_values`"
NOT_WHOLE, NO_NUMBER, BEYOND = "is not a whole number", "is not a number", "is beyond the range of 64-bit whole numbers"

GOOD: list[tuple[Column, str, Any]] = [
    (INTEGER, "3750", 3750),
    (INTEGER, "3750.0", 3750),
    (INTEGER, "3750.", 3750),
    (INTEGER, "-007", -7),
    (INTEGER, "+5", 5),
    (INTEGER, " 12\t", 12),
    (INTEGER, "1e3", 1000),
    (INTEGER, "1.25E+2", 125),
    (INTEGER, "1200e-2", 12),
    (INTEGER, "0e999999999", 0),
    (INTEGER, "-0", 0),
    (INTEGER, "9223372036854775807", 2**63 - 1),
    (INTEGER, "-9223372036854775808.000", -(2**63)),
    (INTEGER, "9007199254740993", 2**53 + 1),
    (INTEGER, "0" * 5000 + "7", 7),
    (INTEGER, " NA ", None),
    (MONEY, "12.34", 1234),
    (MONEY, "12.3", 1230),
    (MONEY, "12", 1200),
    (MONEY, "-.05", -5),
    (MONEY, "-0.05", -5),
    (MONEY, "12.3400", 1234),
    (MONEY, "1e-2", 1),
    (MONEY, "92233720368547758.07", 2**63 - 1),
    (MONEY, "-92233720368547758.08", -(2**63)),
    (MONEY, "null", None),
    (REAL, "1.5", 1.5),
    (REAL, ".5", 0.5),
    (REAL, "5.", 5.0),
    (REAL, " -1e-3 ", -0.001),
    (REAL, "1e999", math.inf),
    (REAL, "-1e999", -math.inf),
    (REAL, "Infinity", math.inf),
    (REAL, "-INF", -math.inf),
    (REAL, "0.1", 0.1),
    (REAL, "5e-324", 5e-324),
    (REAL, "1e-400", 0.0),
    (REAL, "NaN", None),
    (BOOLEAN, "true", True),
    (BOOLEAN, "FALSE", False),
    (BOOLEAN, " tRuE", True),
    (BOOLEAN, "1", True),
    (BOOLEAN, "0", False),
    (BOOLEAN, "", None),
    (YES_NO, " YES", True),
    (YES_NO, "No", False),
    (YES_NO, "NA", None),
    (ONE_ZERO, "1.0", True),
    (ONE_ZERO, "null", False),  # a declared text is a value
]
BAD: list[tuple[Column, str, str]] = [
    *((INTEGER, text, NOT_WHOLE) for text in ("1.5", "1e-1", "3750.01", "1e-999999999")),
    *((INTEGER, text, BEYOND) for text in ("9223372036854775808", "-9223372036854775809", "1e19", "1e999999999")),
    (INTEGER, "9" * 5000, BEYOND),
    *((INTEGER, text, NO_NUMBER) for text in ("x", "1_0", "١٢", "0x10", "--1", ".", "+", "e5", "1e", "True", "inf")),
    *((INTEGER, text, NO_NUMBER) for text in ("1e5000000000", "²", "-", "nan", "n/a", "%", "x%5y" * 20)),
    *((INTEGER, text, SEPARATORS) for text in ("1,5", "1 2", "6,718", "1.250,00", "1\u202f000", "1'000")),
    *((INTEGER, text, SIGN) for text in ("$5", "5 %", "-€ 1,5")),
    *((MONEY, text, "has more than 2 decimals") for text in ("12.345", "0.001", "1e-3")),
    *((MONEY, text, NO_NUMBER) for text in (".", "-", "+", "-.", "1.-2", ".+2", "+.", "1.+2", "12.3_", "abc")),
    (MONEY, "92233720368547758.08", BEYOND),
    *((REAL, text, NO_NUMBER) for text in ("x", "1_0.5", "١٫٥", "1e", "0x1p3", "infinite", "na n", ".", "+-1", "1d5")),
    *((BOOLEAN, text, NO_BOOLEAN) for text in ("yes", "2", "t", "01", "1.0", "tru e")),
]


def read(column: Column, *texts: str) -> tuple[list[Any], dict[int, str]]:
    array, problems = CellReader(column, FileFormat(NULLS)).read(texts)
    return array.to_pylist(), problems


@pytest.mark.parametrize(("column", "text", "value"), GOOD)
def test_what_is_read(column: Column, text: str, value: Any) -> None:
    assert read(column, text) == ([value], {})
    # Beside something unusual, the whole batch is read by the grammar instead of Python's conversions.
    assert read(column, " 1 ", text)[0][1] == value


@pytest.mark.parametrize(("column", "text", "what"), BAD)
def test_what_is_refused(column: Column, text: str, what: str) -> None:
    assert read(column, "1", text) == ([1 if column is not MONEY else 100, None], {1: what})


def test_declared_booleans_are_the_only_ones() -> None:
    what = "is not among the declared `true_values` and `false_values`"
    assert read(YES_NO, "yes", "true", "1", "y") == ([True, None, None, None], dict.fromkeys((1, 2, 3), what))


def test_not_a_number_that_is_no_null_text_stays_one() -> None:
    values, problems = read(REAL, "nan", "-NAN", " nan ")
    assert all(math.isnan(value) for value in values)
    assert problems == {}


GERMAN, FRENCH, SWISS = (
    FileFormat(NULLS, decimal=",", thousands="."),
    FileFormat(NULLS, decimal=",", thousands=" "),
    FileFormat(NULLS, thousands="'"),
)
ENGLISH, COMMA = FileFormat(NULLS, thousands=","), FileFormat(NULLS, decimal=",")
EURO = Column("v", Kind.DECIMAL, scale=2, symbols=("€", "EUR", "%"))


@pytest.mark.parametrize(
    ("form", "column", "text", "value"),
    [
        (GERMAN, MONEY, "1.250,00", 125000),
        (GERMAN, MONEY, "-1.234.567,8", -123456780),
        (GERMAN, MONEY, "1250,5", 125050),
        (GERMAN, MONEY, "1.250", 125000),
        (GERMAN, MONEY, "1.25", None),
        (GERMAN, MONEY, "92.233.720.368.547.758,07", 2**63 - 1),
        (COMMA, MONEY, "0,05", 5),
        (COMMA, MONEY, "0.05", None),
        (COMMA, REAL, "1,5e3", 1500.0),
        (COMMA, INTEGER, "3750,0", 3750),
        (FRENCH, MONEY, "1\u202f234\u00a0567,89", 123456789),
        (FRENCH, INTEGER, " 9 007 199 254 740 993 ", 2**53 + 1),
        (SWISS, INTEGER, "1'234", 1234),
        (SWISS, INTEGER, "1\u2019234", 1234),
        (ENGLISH, INTEGER, "6,718", 6718),
        (ENGLISH, INTEGER, "12,34,567", 1234567),
        (ENGLISH, INTEGER, "6718", 6718),
        (ENGLISH, REAL, "-6,718.25", -6718.25),
        *((ENGLISH, INTEGER, text, None) for text in (",123", "1,23", "1,2345", "1234,567", "1,,234", "1,234,5")),
        (ENGLISH, INTEGER, "-1,234,567", -1234567),
        # Points and commas that no writer of groups puts there: those of decimals, in a column declared otherwise.
        *((GERMAN, REAL, text, None) for text in ("0.123", "-0.500", "00.123", "1.234e5", "1.234,5e2", "123.45.678")),
        *((ENGLISH, REAL, text, None) for text in ("0,123", "1,234e5", "1,234e+05", "12,34,567,890")),
        *((ENGLISH, EURO, text, 123400) for text in ("€1,234", "€ 1,234.00", "1,234 €", "+ €1234", "€+1234")),
        (ENGLISH, EURO, "-€5", -500),
        (ENGLISH, EURO, "12.5 %", 1250),
        *((ENGLISH, EURO, text, None) for text in ("€", "€€5", "$5", "5 € €", "-€-5", "5 EUR €")),
    ],
)  # fmt: skip
def test_other_spellings_of_numbers(form: FileFormat, column: Column, text: str, value: Any) -> None:
    array, problems = CellReader(column, form).read([text, "NA", ""])
    assert array.to_pylist() == [value, None, None]
    assert [*problems] == ([0] if value is None else [])


DAY, SECOND = Column("v", Kind.DATE), Column("v", Kind.SECONDS, time_zone="UTC")


@pytest.mark.parametrize(
    ("column", "order", "text", "value"),
    [
        (DAY, "day-month-year", "03.01.1970", 2),
        (DAY, "month-day-year", "1/3/1970", 2),
        (DAY, "month-day-year", "1970-01-03", 2),
        (DAY, "day-month-year", "3-1-1970 23:59", 2),
        (SECOND, "day-month-year", "01.01.1970, 10:20:30.5", 37_230),
        (SECOND, "month-day-year", "1/1/1970 12:00 AM", 0),
        (SECOND, "month-day-year", "1/1/1970 12:05:01 p.m.", 43_501),
        *((DAY, "day-month-year", text, None) for text in ("1/13/1970", "3.1/1970", "3.1.70", "0.1.1970")),
        (SECOND, "month-day-year", "1/1/1970 13:00 PM", None),
    ],
)
def test_dates_in_other_orders(column: Column, order: str, text: str, value: int | None) -> None:
    array, problems = CellReader(column, FileFormat(NULLS, date_order=order)).read([text])
    assert (array.to_pylist(), len(problems)) == ([value], int(value is None))
    hint = read(DAY, "3.1.1970")[1][0]
    assert hint.endswith("2021-03-31T14:00: declare `date_order` in `format`")


def test_blanks_and_declared_texts() -> None:
    column = Column("v", Kind.CATEGORY, categories=("NA", " x", "x"))
    texts = ["NA", " NA", " x", "x ", "x", " "]
    for strip, found in (
        (None, ["NA", "other", " x", "other", "x", None]),
        (True, ["NA", "NA", "x", "x", "x", None]),
        (False, ["NA", "other", " x", "other", "x", "other"]),
    ):
        array, problems = CellReader(column, FileFormat(NULLS, strip=strip)).read(texts)
        assert (array.to_pylist(), problems) == (found, {})
    assert CellReader(INTEGER, FileFormat(NULLS, strip=False)).read([" 1", "1"])[1] == {0: NO_NUMBER}


def test_texts_keep_their_blanks() -> None:
    column = Column("v", Kind.CATEGORY)
    assert read(column, " x", "x ", " NA", "NA", "na", "a b") == ([" x", "x ", None, None, "na", "a b"], {})
    assert read(column, "é" * 10_000, "é" * 10_001)[1] == {1: "has more than 10,000 characters"}


plain = st.text("0123456789+-.eEaNnifty_ ", max_size=9)


@given(st.sampled_from([INTEGER, MONEY, REAL, BOOLEAN]), st.lists(plain, min_size=1, max_size=4))
@example(MONEY, [".+2"])
@example(MONEY, ["1.-2"])
@example(MONEY, ["."])
@example(MONEY, ["-"])
def test_the_fast_way_agrees_with_the_grammar(column: Column, texts: list[str]) -> None:
    reader = CellReader(column, FileFormat(NULLS))
    array, problems = reader.read(texts)
    careful, careful_problems = reader._read_carefully(texts)
    assert (str(array), problems) == (str(careful), careful_problems)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 18), st.integers(0, 5))
def test_decimals_exactly(units: int, scale: int, zeros: int) -> None:
    digits = f"{abs(units):0{scale + 1}d}"
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    text = f"{'-' if units < 0 else ''}{whole}.{fraction}{'0' * zeros}"
    assert read_whole(text, scale) == units
    assert Fraction(text) * 10**scale == units
    if abs(units) < 2**62 and scale < 18:
        with pytest.raises(UnreadableError):
            read_whole(f"{text}{'0' * scale}1", scale)
