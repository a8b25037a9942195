"""The base classes of all answers, and the two functions that display an answer."""

from datetime import date, datetime
from decimal import Decimal
from functools import singledispatch
from html import escape
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer
from pydantic_core import from_json

Exact = Annotated[Decimal, PlainSerializer(lambda number: format(number, "f"), return_type=str, when_used="json")]
"""A decimal that the service sends as a JSON string, since every digit matters."""

Time = Annotated[
    datetime,
    PlainSerializer(
        lambda time: time.isoformat(timespec="microseconds").replace("+00:00", "Z"), return_type=str, when_used="json"
    ),
]


def _parse_date(text: object) -> object:
    """Return the date or the time of an ISO text; any other value as it is."""
    if not isinstance(text, str):
        return text
    return date.fromisoformat(text) if len(text) == len("2021-03-31") else datetime.fromisoformat(text)


Date = Annotated[date | datetime, BeforeValidator(_parse_date)]
"""A date, or a time as the clocks of its column's zone show it."""


class Answer(BaseModel):
    """An answer: typed and frozen. It keeps unknown members, which a later version of the service may add."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the service sent it, with every ε as an exact string.

        Examples:
            >>> penguins.budget().to_dict()["allowance"]["window"] is None
            True
        """
        return self.model_dump(mode="json", exclude_unset=True)

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Parse the body of a response.

        Raises:
            ValueError: the body does not fit this class.
        """
        return cls.model_validate(from_json(content))


@singledispatch
def render_text(answer: "DisplayedAnswer") -> str:
    """Return an answer as text of one or a few lines; `display.text` registers a function for each class."""
    return repr(answer)


@singledispatch
def render_html(answer: "DisplayedAnswer") -> str:
    """Return an answer as HTML for notebooks; `display.html` registers a function for each class."""
    return f"<pre>{escape(str(answer))}</pre>"


class DisplayedAnswer(Answer):
    """An answer with a text (`str`) and with HTML for notebooks."""

    def __str__(self) -> str:
        return render_text(self)

    def _repr_html_(self) -> str:
        return render_html(self)
