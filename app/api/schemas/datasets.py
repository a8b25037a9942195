"""How an owner describes a table."""

import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.api.schemas.base import RequestModel
from app.api.schemas.numbers import Bound, Flag, LimitNano, Text, Whole, refuse
from app.api.schemas.statistics import Bounds
from app.services.names import NAME_PATTERN

NEVER_RENEWED = (
    "What may be spent on these rows, ever. It is never renewed, since renewal over the same rows would in time reveal "
    "any amount about them; only the allowances of those who ask may be renewed, within it."
)
MAX_COLUMNS = 5_000
MAX_CATEGORIES = 10_000
MAX_ROWS_PER_UNIT = 1_000_000
MAX_DECIMAL_SCALE = 18  # more decimals would leave an int64 no whole part


def _no_control_characters(text: str) -> str:
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise refuse("has a control character")
    return text


def _distinct(categories: list[str]) -> list[str]:
    if len(set(categories)) != len(categories):
        raise refuse("has the same category twice")
    return categories


Name = Annotated[Text, Field(pattern=NAME_PATTERN, examples=["penguins"])]
DeclaredName = Annotated[Text, Field(min_length=1, max_length=255), AfterValidator(_no_control_characters)]
Category = Annotated[Text, Field(max_length=255), AfterValidator(_no_control_characters)]


class _Declared(RequestModel):
    nullable: Flag = True


class _Numeric(_Declared):
    bounds: Bounds
    null_value: Bound | None = None


class IntegerColumn(_Numeric):
    """Whole numbers of 64 bits."""

    kind: Literal["integer"]


class RealColumn(_Numeric):
    """Doubles; the bounds are the doubles nearest to what is written."""

    kind: Literal["real"]


class DecimalColumn(_Numeric):
    """Exact decimals of a fixed scale."""

    kind: Literal["decimal"]
    scale: Annotated[Whole, Field(ge=0, le=MAX_DECIMAL_SCALE)]


class BooleanColumn(_Declared):
    """True or false; as a number, 1 or 0."""

    kind: Literal["boolean"]
    null_value: Flag | None = None


class CategoryColumn(_Declared):
    """Texts, counted by the declared list; all others are counted together."""

    kind: Literal["category"]
    categories: Annotated[list[Category], Field(min_length=1, max_length=MAX_CATEGORIES), AfterValidator(_distinct)]


DeclaredColumn = Annotated[
    IntegerColumn | RealColumn | DecimalColumn | BooleanColumn | CategoryColumn, Field(discriminator="kind")
]


class DatasetRequest(RequestModel):
    """The `metadata` of an upload."""

    name: Name
    description: Annotated[Text, Field(max_length=10_000)] = ""
    epsilon_limit: Annotated[LimitNano, Field(description=NEVER_RENEWED)]
    rows_per_unit: Annotated[Whole, Field(ge=1, le=MAX_ROWS_PER_UNIT)] = 1
    columns: Annotated[dict[DeclaredName, DeclaredColumn], Field(min_length=1, max_length=MAX_COLUMNS)]
    null_values: Annotated[list[Annotated[Text, Field(max_length=255)]], Field(max_length=100)] = Field(
        default=["", "NA", "NaN", "null"], description="Which texts of a CSV file are nulls."
    )
    succeeds: Name | None = Field(
        default=None,
        description=(
            "An earlier dataset of yours with data of the same people. Each has a budget of its own, and both are "
            "shown with a warning that the spendings add up for a person in both."
        ),
    )
