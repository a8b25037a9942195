"""What all answers have in common, and the two functions by which they are displayed."""

from datetime import datetime
from decimal import Decimal
from functools import singledispatch
from html import escape
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic_core import from_json

Exact = Annotated[Decimal, PlainSerializer(lambda number: format(number, "f"), return_type=str, when_used="json")]
"""A decimal that the service gives as a text, since every digit counts."""

Time = Annotated[
    datetime,
    PlainSerializer(
        lambda time: time.isoformat(timespec="microseconds").replace("+00:00", "Z"), return_type=str, when_used="json"
    ),
]


class Answer(BaseModel):
    """An answer: frozen, typed, and with whatever members a later version of the service adds."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def to_dict(self) -> dict[str, Any]:
        """The answer as the service gave it, with every ε as an exact text.

        Examples:
            >>> penguins.budget().to_dict()["allowance"]["window"] is None
            True
        """
        return self.model_dump(mode="json", exclude_unset=True)

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Read an answer's body.

        Raises:
            ValueError: it is no such answer.
        """
        return cls.model_validate(from_json(content))


@singledispatch
def render_text(answer: "DisplayedAnswer") -> str:
    """An answer in a line or a few; `display.text` registers how, by the answer's class."""
    return repr(answer)


@singledispatch
def render_html(answer: "DisplayedAnswer") -> str:
    """What a notebook shows of an answer; `display.html` registers it, by the answer's class."""
    return f"<pre>{escape(str(answer))}</pre>"


class DisplayedAnswer(Answer):
    """An answer that reads as a sentence, and that notebooks show."""

    def __str__(self) -> str:
        return render_text(self)

    def _repr_html_(self) -> str:
        return render_html(self)
