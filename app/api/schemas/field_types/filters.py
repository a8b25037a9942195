"""The schema of filters. `app.dp.table.filters` decides what their values mean for a column."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import TypeAliasType

from app.api.json_codec import JsonNumber
from app.api.schemas.base import RequestModel, limit_members
from app.api.schemas.field_types.numbers import (
    ColumnName,
    Flag,
    RangeEnd,
    refuse,
    text,
    to_exact,
)

MAX_VALUES = 10_000
"""The limit on values in one list."""

MAX_CONDITIONS = 100
"""The limit on conditions in one filter."""

MAX_REQUEST_VALUES, MAX_REQUEST_CONDITIONS = 20_000, 5_000
"""The limits on all filters of a request together, including those of a batch's items."""


_VALUE: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}


def _value(value: object) -> Any:  # noqa: ANN401  one of three types
    """Return a boolean, an exact number, or a text, which a numeric column will read as a number."""
    if isinstance(value, bool):
        return value
    if isinstance(value, JsonNumber):
        return to_exact(value)
    if isinstance(value, str):
        return text(value)
    raise refuse("must be a string, a number, true or false")


FilterValue = TypeAliasType(
    "FilterValue",
    Annotated[
        Any,
        PlainValidator(_value),
        WithJsonSchema(_VALUE | {"description": "A category, a number or a date, or true or false."}),
    ],
)


class PlainConditionObject(RequestModel):
    """The values of a column that meet a condition: a list, a range with one end or two, or the missing values."""

    one_of: Annotated[list[FilterValue], Field(min_length=1, max_length=MAX_VALUES, fail_fast=True)] | None = Field(
        default=None,
        alias="in",
        description="Declared categories, true and false, or numbers or dates that the column can hold.",
        examples=[["Adelie"]],
    )
    between: Annotated[list[RangeEnd], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="Columns of numbers or dates: both ends are included.", examples=[[2007, 2008]]
    )
    at_least: RangeEnd | None = Field(
        default=None, description="Columns of numbers or dates: this one or more.", examples=[65]
    )
    above: RangeEnd | None = Field(default=None, description="Columns of numbers or dates: more than this one.")
    at_most: RangeEnd | None = Field(default=None, description="Columns of numbers or dates: this one or less.")
    below: RangeEnd | None = Field(
        default=None, description="Columns of numbers or dates: less than this one.", examples=[18]
    )
    is_missing: Flag | None = Field(
        default=None, description="True for the rows without a value, false for those that have one."
    )


def _spell_out(condition: object) -> object:
    """Return what a shorthand stands for: a value or a list stands for `in`."""
    if isinstance(condition, list):
        return {"in": condition}
    if isinstance(condition, str | bool):
        return {"in": [condition]}
    if condition is None:
        raise refuse('must be a condition: write {"is_missing": true} for the rows without a value')
    return condition


class _Shorthands:
    """Adds the shorthands of a condition to its schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        values = handler(_VALUES.core_schema)
        description = "What the values of a column must meet. A value or a list of values stands for `in`."
        return {"anyOf": [handler(schema), *_VALUE["anyOf"], values], "description": description}


_VALUES = TypeAdapter(Annotated[list[FilterValue], Field(min_length=1, max_length=MAX_VALUES)])
PlainCondition = TypeAliasType(
    "PlainCondition", Annotated[PlainConditionObject, BeforeValidator(_spell_out), _Shorthands()]
)


class ConditionObject(PlainConditionObject):
    """The values of a column that meet a condition: a list, a range, the missing values, or `not` another condition.

    One or two of `at_least`, `above`, `at_most` and `below` make a range. Otherwise a condition has one member.
    """

    negated: PlainCondition | None = Field(
        default=None,
        alias="not",
        description="The known values that do not meet this condition. As in SQL, a missing value meets neither.",
        examples=[{"in": ["Adelie"]}],
    )

    @property
    def listed(self) -> int:
        """The number of values in its lists."""
        return len(self.one_of or ()) + len((self.negated and self.negated.one_of) or ())


Condition = TypeAliasType("Condition", Annotated[ConditionObject, BeforeValidator(_spell_out), _Shorthands()])


def require_few_conditions(filters: Iterable[Mapping[str, ConditionObject]]) -> None:
    """Refuse a request whose filters together have too many conditions or values.

    Raises:
        PydanticCustomError: there are more than the limits allow.
    """
    conditions = [condition for each in filters for condition in each.values()]
    if len(conditions) > MAX_REQUEST_CONDITIONS:
        raise refuse(f"has too many conditions: at most {MAX_REQUEST_CONDITIONS:,} are allowed in all its filters")
    if sum(each.listed for each in conditions) > MAX_REQUEST_VALUES:
        raise refuse(f"has too many values: at most {MAX_REQUEST_VALUES:,} are allowed in all its filters")


def _require_few_values(where: dict[str, ConditionObject]) -> dict[str, ConditionObject]:
    require_few_conditions([where])
    return where


Where = TypeAliasType(
    "Where",
    Annotated[
        dict[ColumnName, Condition],
        Field(
            min_length=1,
            max_length=MAX_CONDITIONS,
            description=(
                f"Conditions by column, all of which a row must meet: at most {MAX_CONDITIONS}, with at most "
                f"{MAX_REQUEST_VALUES:,} values in all lists together. A value or a list stands for `in`. A "
                "missing value meets only `is_missing`."
            ),
            examples=[{"species": "Adelie", "year": {"between": [2007, 2008]}, "body_mass_g": {"at_least": 4000}}],
        ),
        limit_members(MAX_CONDITIONS),
        AfterValidator(_require_few_values),
    ],
)
