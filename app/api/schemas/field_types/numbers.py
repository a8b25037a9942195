"""The API's numbers as pydantic types, which parse every number exactly."""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Literal

from gmpy2 import mpq
from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from app.api.json_codec import JsonNumber
from app.dp.mechanism.mechanism import AUTO
from app.dp.mechanism.parameters import MAX_REFINEMENT
from app.dp.numbers.exact import NUMBER, parse_exact
from app.dp.table.dates import Beyond, parse_moment
from app.ledger.units import MAX_EPSILON_NANO, whole_units

MAX_BOUND = mpq(10**100)
ACCURACY_DIGITS = 30
_LIKE_A_DATE = re.compile(r"[0-9]+([-/.])[0-9]+\1[0-9]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def refuse(what: str) -> PydanticCustomError:
    """Return a validation error with our own text, because pydantic's texts quote the input."""
    return PydanticCustomError("refused", what)


def to_exact(value: object) -> mpq:
    """Return the exact number that a JSON number, or a string of the same grammar, stands for.

    Raises:
        PydanticCustomError: the value is anything else, such as `true`.
    """
    if isinstance(value, str) and (number := parse_exact(value)) is not None:
        return number
    raise refuse("must be a number: up to 40 digits, up to 40 decimals and an exponent of up to 3 digits")


def _ledger_units(value: object) -> int:
    units = whole_units(to_exact(value))
    if units is None or not 0 <= units <= MAX_EPSILON_NANO:
        raise refuse("must be from 0 to 1,000,000, with at most 9 decimals")
    return units


def _epsilon(value: object) -> int:
    units = whole_units(to_exact(value))
    if units is None or units <= 0:
        raise refuse("must be above 0, with at most 9 decimals")
    if units > MAX_EPSILON_NANO:
        raise refuse("must be at most 1,000,000; a release may have a lower limit")
    return units


def _between(low: int, high: int, *, low_open: bool, high_open: bool) -> Callable[[object], mpq]:
    words = f"must be {'above' if low_open else 'at least'} {low} and {'below' if high_open else 'at most'} {high}"

    def check(value: object) -> mpq:
        number = to_exact(value)
        if number < low or number > high or (low_open and number == low) or (high_open and number == high):
            raise refuse(words)
        return number

    return check


def _bound(value: object) -> mpq:
    number = to_exact(value)
    if abs(number) > MAX_BOUND:
        raise refuse("must be from -1e100 to 1e100")
    return number


def _bound_or_date(value: object) -> mpq | date:
    if isinstance(value, str) and not isinstance(value, JsonNumber) and _LIKE_A_DATE.match(value):
        return _date(value)
    return _bound(value)


def _range_end(value: object) -> mpq | date | Beyond:
    moment = parse_moment(value) if isinstance(value, str) and not isinstance(value, JsonNumber) else None
    return moment if isinstance(moment, Beyond) else _bound_or_date(value)


def _date(value: object) -> date:
    """Return the date or time of an ISO text."""
    moment = parse_moment(value) if isinstance(value, str) else None
    if moment is None or isinstance(moment, Beyond):
        raise refuse("must be an ISO date or time that exists, such as 2021-03-31 or 2021-03-31T14:00")
    return moment


def _date_text(written: str) -> str:
    _date(written)
    return written


def _day_text(written: str) -> str:
    if isinstance(_date(written), datetime):
        raise refuse("must be a date without a time, such as 2021-03-31")
    return written


def _significant_digits(number: str) -> int:
    mantissa = number.lower().partition("e")[0].lstrip("+-").replace(".", "")
    return len(mantissa.strip("0"))


def _accuracy(value: object) -> mpq:
    number = to_exact(value)
    if number <= 0:
        raise refuse("must be above 0")
    if _significant_digits(str(value)) > ACCURACY_DIGITS:
        raise refuse(f"must have at most {ACCURACY_DIGITS} significant digits")
    return number


def whole(value: object) -> int:
    """Return a JSON number as an int, or refuse it."""
    number = to_exact(value)
    if number.denominator != 1:
        raise refuse("must be a whole number")
    return int(number)


def _grid_refinement(value: object) -> int | str:
    if value == AUTO and not isinstance(value, JsonNumber):
        return AUTO
    number = to_exact(value)
    if number.denominator != 1 or not 0 <= number <= MAX_REFINEMENT:
        raise refuse(f'must be "{AUTO}" or a whole number from 0 to {MAX_REFINEMENT}')
    return int(number)


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise refuse("must be true or false")


def text(value: object) -> object:
    """Refuse a JSON number where a text is expected, although `JsonNumber` is a `str`."""
    if isinstance(value, JsonNumber) or not isinstance(value, str):
        raise refuse("must be a string")
    if _UNSTORABLE.search(value):
        raise refuse("has a NUL character or a lone surrogate, which cannot be stored")
    return value


def _schema(description: str, **facts: Any) -> WithJsonSchema:  # noqa: ANN401 - JSON schema is any value
    number = {"type": "number", **facts}
    return WithJsonSchema(
        {"anyOf": [number, {"type": "string", "pattern": f"^{NUMBER.pattern}$"}], "description": description}
    )


Text = Annotated[str, BeforeValidator(text)]
ColumnName = Annotated[Text, Field(min_length=1, max_length=255, description="The name of a column.")]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]
WHOLE = BeforeValidator(whole)
"""Reads a whole number. It stands after the limits, which JSON Schema otherwise gets under pydantic's own names."""

Rehearse = Annotated[
    Flag,
    Field(
        description="Answer with made-up data instead of the dataset's: at no cost, marked with `rehearsed`, and never"
        " stored. A plan is the same with it."
    ),
]
GridRefinement = TypeAliasType(
    "GridRefinement",
    Annotated[
        int | Literal["auto"],
        PlainValidator(_grid_refinement),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "string", "const": AUTO},
                    {"type": "integer", "minimum": 0, "maximum": MAX_REFINEMENT},
                ],
                "description": (
                    "How often the grid of the published mechanism is halved. It costs no privacy: a finer grid takes "
                    'less ε for the same accuracy. `"auto"` keeps counts whole numbers and halves others 10 times; 0 '
                    "gives the published mechanism's own figures."
                ),
            }
        ),
    ],
)
Number = TypeAliasType("Number", Annotated[mpq, PlainValidator(_bound), _schema("A number, at most 1e100 in size.")])
NumberOrDate = TypeAliasType(
    "NumberOrDate",
    Annotated[
        Any,
        PlainValidator(_bound_or_date),
        WithJsonSchema(
            {
                "anyOf": [{"type": "number"}, {"type": "string"}],
                "description": "A number, at most 1e100 in size. For a column of dates, an ISO date or time.",
            }
        ),
    ],
)
RangeEnd = TypeAliasType(
    "RangeEnd",
    Annotated[
        Any,
        PlainValidator(_range_end),
        WithJsonSchema(
            {
                "anyOf": [{"type": "number"}, {"type": "string"}],
                "description": "A number, at most 1e100 in size. For a column of dates, an ISO date or time, or "
                "`infinity` or `-infinity` for what is beyond all dates.",
            }
        ),
    ],
)
DateText = Annotated[
    str,
    BeforeValidator(text),
    AfterValidator(_date_text),
    WithJsonSchema({"type": "string", "description": "An ISO date or time, such as 2021-03-31 or 2021-03-31T14:00."}),
]
DayText = Annotated[
    DateText,
    AfterValidator(_day_text),
    WithJsonSchema({"type": "string", "format": "date", "description": "An ISO date, such as 2021-03-31."}),
]
_UNITS = "a whole number of ledger units of 1e-9; exact, so best written as a string."
Epsilon = TypeAliasType(
    "Epsilon",
    Annotated[int, PlainValidator(_epsilon), _schema(f"An ε: {_UNITS}", exclusiveMinimum=0, maximum=1000000)],
)
EpsilonLimit = TypeAliasType(
    "EpsilonLimit",
    Annotated[int, PlainValidator(_ledger_units), _schema(f"A limit of ε: {_UNITS}", minimum=0, maximum=1000000)],
)
PositiveNumber = TypeAliasType(
    "PositiveNumber",
    Annotated[
        mpq,
        PlainValidator(_accuracy),
        _schema(f"A number above 0 of at most {ACCURACY_DIGITS} significant digits.", exclusiveMinimum=0),
    ],
)
ONE_IN_TWENTY = mpq(1, 20)
"""The default of `alpha` and of `gamma`."""

ALPHA = "The chance, at most, that the true statistic lies outside the radius."
Probability = TypeAliasType(
    "Probability",
    Annotated[
        mpq,
        PlainValidator(_between(0, 1, low_open=True, high_open=True)),
        _schema("A probability above 0 and below 1.", exclusiveMinimum=0, exclusiveMaximum=1),
    ],
)
Gamma = TypeAliasType(
    "Gamma",
    Annotated[
        mpq,
        PlainValidator(_between(0, 1, low_open=True, high_open=False)),
        _schema("The chance, at most, that the clamping bound binds.", exclusiveMinimum=0, maximum=1),
    ],
)
