"""What all answers have in common."""

from datetime import datetime
from decimal import Decimal
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
