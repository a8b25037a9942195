"""How an owner describes a table."""

import re
from functools import cache
from typing import Annotated, Literal, Self
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, Field, PlainValidator, WithJsonSchema, model_validator
from typing_extensions import TypeAliasType

from app.api.json_codec import JsonNumber
from app.api.schemas.base import RequestModel, limit_members
from app.api.schemas.field_types.json_schema import one_of_characters
from app.api.schemas.field_types.numbers import (
    WHOLE,
    DateText,
    DayText,
    EpsilonLimit,
    Flag,
    Number,
    Text,
    refuse,
    text,
    whole,
)
from app.services.names import NAME_PATTERN

NEVER_RENEWED = (
    "The total ε that may ever be spent on these rows. It is never renewed, since renewal over the same rows would in "
    "time reveal any amount about them. Only allowances can be renewed, within this limit."
)
MAX_COLUMNS = 5_000
MAX_CATEGORIES = 10_000
MAX_ROWS_PER_UNIT = 1_000_000
MAX_HEADER_ROW = 1_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")  # Unicode's category Cc
_REORDERING = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")  # Bidi_Control, Zl and Zp
MAX_DECIMAL_SCALE = 18  # more decimals would leave an int64 no whole part


def _no_control_characters(text: str) -> str:
    if _CONTROL.search(text):
        raise refuse("has a control character")
    return text


def _distinct(categories: list[str]) -> list[str]:
    if len(set(categories)) != len(categories):
        raise refuse("has the same category more than once")
    return categories


Drafted = TypeAliasType(
    "Drafted",
    Annotated[
        Literal["bounds", "categories", "time_zone"], Field(description="A member that was drafted from the data.")
    ],
)
Name = Annotated[
    Text,
    Field(
        pattern=NAME_PATTERN,
        examples=["penguins"],
        description="A name of up to 63 lower-case letters, digits, hyphens and underscores. It can never change.",
    ),
]
DeclaredName = Annotated[Text, Field(min_length=1, max_length=255), AfterValidator(_no_control_characters)]
BOUNDS = (
    "The smallest and the largest value that count, which everybody with access sees; choose them without the data."
)
Category = Annotated[Text, Field(max_length=255), AfterValidator(_no_control_characters)]


def _readable(text: str) -> str:
    """Accept a text that looks like what it is, beside other texts on a line."""
    if not text.strip() or _REORDERING.search(text):
        raise refuse("is blank, or has a character that starts a line or turns the direction of a text")
    return text


Label = Annotated[
    Text, Field(min_length=1, max_length=255), AfterValidator(_no_control_characters), AfterValidator(_readable)
]
Unit = Annotated[Text, Field(min_length=1, max_length=32), AfterValidator(_no_control_characters)]


FROM_THE_DATA = (
    "The members that were drafted from the data and that you have not confirmed yet. Registration is refused until "
    "the list is empty or omitted: everybody with access sees bounds and categories, and drafts reveal the data."
)


def _refuse_drafts(unconfirmed: list[Drafted]) -> list[Drafted]:
    if unconfirmed:
        raise refuse(
            "names members that come from the data: replace each with what you know without the data, "
            "then empty the list"
        )
    return unconfirmed


class _Declared(RequestModel):
    nullable: Flag = Field(default=True, description="Whether rows may have no value of the column.")
    label: Label | None = Field(default=None, description="How people call the column, such as `Body mass`.")
    description: Annotated[Text, Field(max_length=2_000)] | None = Field(
        default=None, description="What the column says, and how it was asked or measured."
    )
    unconfirmed: Annotated[
        list[Drafted], Field(max_length=3, fail_fast=True, description=FROM_THE_DATA), AfterValidator(_refuse_drafts)
    ] = Field(default=[])


MAX_SPELLINGS = 20  # of a boolean or a symbol in a file


def _no_digits(symbol: str) -> str:
    if symbol != symbol.strip() or any(each.isdigit() or each in ".,+-" for each in symbol):
        raise refuse("must have no digits, points, commas or signs, and no blanks around it")
    return symbol


Symbol = Annotated[Text, Field(min_length=1, max_length=32), AfterValidator(_no_control_characters)]
Symbols = Annotated[
    list[Annotated[Symbol, AfterValidator(_no_digits)]],
    Field(
        max_length=MAX_SPELLINGS,
        fail_fast=True,
        description="Texts of which one may stand before or after each number of a text file, such as `€` or `%`. They "
        "do not change the number: `12 %` is 12.",
    ),
]
Spellings = Annotated[
    list[Annotated[Text, Field(min_length=1, max_length=255), AfterValidator(_no_control_characters)]],
    Field(min_length=1, max_length=MAX_SPELLINGS, fail_fast=True),
]


class _Numeric(_Declared):
    bounds: Annotated[list[Number], Field(min_length=2, max_length=2, examples=[[2000, 7000]], description=BOUNDS)]
    null_value: Number | None = Field(
        default=None, description="What a missing value counts as: by default, the middle of the bounds in use."
    )
    unit: Unit | None = Field(
        default=None, description="The unit of the values, which summaries and plots show.", examples=["€", "mm"]
    )
    symbols: Symbols | None = None


class IntegerColumn(_Numeric):
    """Whole numbers of 64 bits."""

    kind: Literal["integer"]


class RealColumn(_Numeric):
    """Doubles; the bounds are the doubles nearest to what is written."""

    kind: Literal["real"]


class DecimalColumn(_Numeric):
    """Exact decimals of a fixed scale."""

    kind: Literal["decimal"]
    scale: Annotated[int, Field(ge=0, le=MAX_DECIMAL_SCALE, description="The number of decimals."), WHOLE]


class BooleanColumn(_Declared):
    """True or false; as a number, 1 or 0."""

    kind: Literal["boolean"]
    null_value: Flag | None = Field(default=None, description="What a missing value counts as; by default, false.")
    true_values: Spellings | None = Field(
        default=None,
        description="The texts of a text file that mean true, in upper or lower case, instead of `true` and `1`.",
        examples=[["yes"]],
    )
    false_values: Spellings | None = Field(
        default=None,
        description="The texts of a text file that mean false, in upper or lower case, instead of `false` and `0`.",
        examples=[["no"]],
    )

    @model_validator(mode="after")
    def _two_meanings(self) -> Self:
        if (self.true_values is None) != (self.false_values is None):
            raise refuse("needs both `true_values` and `false_values`, or neither")
        both = {text.lower() for text in self.true_values or ()} & {text.lower() for text in self.false_values or ()}
        if both:
            raise refuse("has the same text in `true_values` and in `false_values`")
        return self


class CategoryColumn(_Declared):
    """Texts, counted by the declared list; all others are counted together."""

    kind: Literal["category"]
    categories: Annotated[
        list[Category], Field(min_length=1, max_length=MAX_CATEGORIES, fail_fast=True), AfterValidator(_distinct)
    ] = Field(description="The texts that are counted, which everybody with access sees; choose them without the data.")
    category_labels: Annotated[dict[Category, Label], limit_members(MAX_CATEGORIES)] | None = Field(
        default=None, description="How people call some of the categories; requests and bins have the categories."
    )

    @model_validator(mode="after")
    def _labels_of_categories(self) -> Self:
        if self.category_labels and not self.category_labels.keys() <= set(self.categories):
            raise refuse("has a label of a text that is not among `categories`")
        return self


class DateColumn(_Declared):
    """Dates, counted in days since 1970-01-01. A time of the day in the data is dropped."""

    kind: Literal["date"]
    bounds: Annotated[
        list[DayText], Field(min_length=2, max_length=2, examples=[["2020-01-01", "2024-12-31"]], description=BOUNDS)
    ]
    null_value: DayText | None = Field(
        default=None, description="What a missing value counts as: by default, the middle of the bounds in use."
    )


_time_zones = cache(available_timezones)  # which reads files


def _zone(name: str) -> str:
    if name not in _time_zones():
        raise refuse("must be the name of a time zone in the IANA database, such as Europe/Paris or UTC")
    return name


class TimestampColumn(_Declared):
    """Times as the clocks of a time zone show them, in whole units of the resolution since 1970-01-01."""

    kind: Literal["timestamp"]
    bounds: Annotated[
        list[DateText], Field(min_length=2, max_length=2, examples=[["2020-01-01", "2024-12-31"]], description=BOUNDS)
    ]
    null_value: DateText | None = Field(
        default=None, description="What a missing value counts as: by default, the middle of the bounds in use."
    )
    time_zone: Annotated[Text, Field(max_length=64, examples=["Europe/Paris"]), AfterValidator(_zone)] = Field(
        description="The IANA name of the zone. A time with an offset from UTC is converted to what the clocks there "
        "show; a time without one is taken as it is written. Where clocks are set back, both hours count as the same."
    )
    resolution: Literal["day", "hour", "minute", "second"] = Field(
        description="The unit in which times are counted; each is rounded down to it."
    )


Column = TypeAliasType(
    "Column",
    Annotated[
        IntegerColumn | RealColumn | DecimalColumn | BooleanColumn | CategoryColumn | DateColumn | TimestampColumn,
        Field(discriminator="kind", description="How a column is declared. `kind` says what its values are."),
    ],
)


DeclaredColumns = Annotated[
    dict[DeclaredName, Column],
    Field(min_length=1, max_length=MAX_COLUMNS, description="The columns by name; others of the table are not stored."),
    limit_members(MAX_COLUMNS),
]


MAX_SHEETS = 1_000
MAX_SHEET_CHARACTERS = 255


def _sheet(value: object) -> str | int:
    if isinstance(value, str) and not isinstance(value, JsonNumber) and len(value) <= MAX_SHEET_CHARACTERS:
        return str(text(value))
    place = whole(value)
    if not 1 <= place <= MAX_SHEETS:
        raise refuse(f"must be a name, or a whole number from 1 to {MAX_SHEETS:,}")
    return place


SheetName = Annotated[
    str | int,
    PlainValidator(_sheet),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": MAX_SHEET_CHARACTERS},
                {"type": "integer", "minimum": 1, "maximum": MAX_SHEETS},
            ]
        }
    ),
]


class KnownFormat(RequestModel):
    """What a file itself may not show of how it is to be read."""

    encoding: Literal["utf-8", "windows-1252", "latin-1"] | None = Field(
        default=None, description="The encoding of a text file; UTF-8 by default, or UTF-16 with a byte order mark."
    )
    date_order: Literal["day-month-year", "month-day-year"] | None = Field(
        default=None,
        description="The order in which dates are written, such as `31.03.2021` or `3/31/2021 2:00 PM`. Dates in ISO "
        "8601 are always read.",
    )
    header_row: Annotated[int, Field(ge=1, le=MAX_HEADER_ROW), WHOLE] | None = Field(
        default=None,
        description="The number of the line with the names of the columns, counted from 1; those above it are skipped. "
        "By default it is the first line that is not blank, unless it looks like a row of values.",
    )
    sheet: SheetName | None = Field(
        default=None,
        description="The name of a workbook's sheet, or its place, counted from 1. By default it is the only visible "
        "one.",
    )


class DeclaredFormat(KnownFormat):
    """How the texts of a file are written. Everything is optional."""

    decimal: Annotated[Literal[".", ","], one_of_characters(".,")] = Field(
        default=".", description="What stands before the decimals of a number: a point or a comma."
    )
    thousands: Annotated[Literal[",", ".", " ", "'"], one_of_characters(",. '")] | None = Field(
        default=None,
        description="What may stand between groups of three digits: a comma, a point, an apostrophe or a space, which "
        "stands for all kinds of spaces, also those at which no line ends.",
    )
    strip: Flag | None = Field(
        default=None,
        description="Whether blanks around texts are dropped. By default they are, except around categories and units.",
    )
    column_names: Annotated[list[DeclaredName], Field(max_length=MAX_COLUMNS, fail_fast=True)] = Field(
        default=[], description="The names of all columns of a file without a header, in the order of the file."
    )

    @model_validator(mode="after")
    def _without_contradictions(self) -> Self:
        if self.decimal == self.thousands:
            raise refuse("has the same character for `decimal` and `thousands`")
        if self.header_row is not None and self.column_names:
            raise refuse("has a `header_row` and `column_names`, but a file with a header needs no names")
        return self


class DatasetRequest(RequestModel):
    """The `metadata` of an upload."""

    name: Name
    description: Annotated[Text, Field(max_length=10_000)] = Field(default="", description="What the data is.")
    epsilon_limit: Annotated[EpsilonLimit, Field(description=NEVER_RENEWED)]
    rows_per_unit: Annotated[int, Field(ge=1, le=MAX_ROWS_PER_UNIT), WHOLE] = Field(
        default=1, description="How many rows one protected unit, such as a person, may have."
    )
    columns: DeclaredColumns
    null_values: Annotated[list[Annotated[Text, Field(max_length=255)]], Field(max_length=100, fail_fast=True)] = Field(
        default=["", "NA", "NaN", "null"],
        description="Which texts of a text file mean a missing value, with or without blanks around them. A text "
        "that a column declares, as a category or as true or false, is a value there.",
    )
    format: DeclaredFormat = Field(default=DeclaredFormat(), description="How the texts of the file are written.")
    succeeds: Name | None = Field(
        default=None,
        description=(
            "An earlier dataset of yours with data of the same people. Each has its own budget, and both show a "
            "warning that the spending adds up for a person in both."
        ),
    )
    delimiter: Annotated[Literal[",", ";", "\t", "|"], one_of_characters(r",;\t|")] | None = Field(
        default=None,
        description="The delimiter of a CSV file: a comma, a semicolon, a tab or a bar. By default it is detected from "
        "the header.",
    )
    unit_column: DeclaredName | None = Field(
        default=None,
        description=(
            "The column of the file that identifies the person of each row. If it is not among `columns`, it is not "
            "stored. A table in which a person has more than `rows_per_unit` rows is refused."
        ),
    )
    truncate: Flag = Field(
        default=False,
        description="Keep `rows_per_unit` rows of each unit, chosen by a keyed hash of the row, instead of refusing.",
    )

    @model_validator(mode="after")
    def _require_units_to_truncate(self) -> Self:
        if self.truncate and self.unit_column is None:
            raise refuse("`truncate` needs a `unit_column`")
        return self


UploadedFile = Annotated[
    bytes,
    WithJsonSchema(
        {"type": "string", "format": "binary", "description": "CSV, Parquet or Excel (.xlsx), by its content."}
    ),
]


class DatasetUpload(BaseModel):
    """The two parts of an upload."""

    metadata: DatasetRequest
    file: UploadedFile


class TableSource(RequestModel):
    """A table of a connection that the operator configured."""

    connection: Name = Field(description="The name of a connection, which the operator configures with its password.")
    table: Annotated[Text, Field(min_length=1, max_length=255, examples=["public.people"])] = Field(
        description=(
            "In a database, the table's name, as `schema.table`; put a part that contains a dot in double quotes. In a "
            "bucket, in a directory or on an HTTPS server, the path of a Parquet file, or of a directory of such files "
            "with the same columns, as `2024/people`: below the path of the connection, without patterns."
        )
    )
    live: Flag = Field(
        default=False,
        description=(
            "Leave the data in its database, and compute answers there. The table must never change again: if its "
            "number of rows changes, the dataset becomes stale. By default the columns are copied. Files are always "
            "copied; a live dataset becomes stale if the name, size or version of a file changes."
        ),
    )
    prepare: Flag = Field(
        default=False,
        description=(
            "Compute the sums of each column of a live table now, and keep them in the service, as for a copy. A "
            "question that they answer then only counts the table's rows. `POST /v1/datasets/{name}/revalidation` "
            "computes them again."
        ),
    )


class SourcedDatasetRequest(DatasetRequest):
    """A registration of a table that is in a database, or in files elsewhere."""

    source: TableSource

    @model_validator(mode="after")
    def _without_texts(self) -> Self:
        if "format" in self.model_fields_set:
            raise refuse("`format` describes a file, and a table in a database has types: leave it out")
        members = {"true_values", "false_values", "symbols"}
        if any(members & column.model_fields_set for column in self.columns.values()):
            raise refuse("`true_values`, `false_values` and `symbols` describe the texts of a file: leave them out")
        return self

    @model_validator(mode="after")
    def _prepared_live(self) -> Self:
        if self.source.prepare and not self.source.live:
            raise refuse("`prepare` is for live tables: a copy is always prepared, so leave it out")
        return self

    @model_validator(mode="after")
    def _not_truncated_live(self) -> Self:
        if self.source.live and self.truncate:
            raise refuse("`truncate` needs a copy: the service cannot take rows out of a live table")
        return self
