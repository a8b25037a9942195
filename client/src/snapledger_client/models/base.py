"""The base classes of all answers, and the two functions that display an answer."""

from datetime import date, datetime
from decimal import Decimal
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, PrivateAttr
from pydantic_core import from_json

from snapledger_client.frames import import_pandas

if TYPE_CHECKING:
    import pandas as pd

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


class TaggedAnswer(Answer):
    """An answer with an entity tag: `if_match` makes a change only if the thing is still as this answer shows it."""

    _etag: str = PrivateAttr(default="")

    @property
    def etag(self) -> str:
        """The entity tag; an empty text if the service sent none.

        Examples:
            >>> penguins.limit().etag == penguins.limit().etag
            True
        """
        return self._etag

    def tag(self, etag: str) -> None:
        """Set the entity tag, which is not in the body of a response."""
        self._etag = etag


@singledispatch
def render_text(answer: Any) -> str:  # noqa: ANN401 - of each class that is registered
    """Return an answer as a sentence or a few; `display.text` registers a function for each class."""
    return "\n".join(f"{name}: {value}" for name, value in answer if value is not None)


@singledispatch
def render_table(answer: "Answer") -> str:
    """Return the numbers of an answer that has several as a table of text; `display.tables` registers functions."""
    del answer
    return ""


@singledispatch
def render_html(answer: Any) -> str:  # noqa: ANN401
    """Return an answer as HTML for notebooks; `display.html` registers a function for each class."""
    return f"<pre>{escape(str(answer))}</pre>"


@singledispatch
def list_records(answer: "Answer") -> list[dict[str, Any]]:
    """Return the rows of an answer's frame; `display.records` registers a function for each class."""
    return [answer.model_dump(exclude_unset=True)]


@singledispatch
def make_list_row(answer: "Answer") -> dict[str, Any]:
    """Return the row of an answer in a list; `display.listings` registers a function for each class."""
    return answer.model_dump(exclude_unset=True)


@singledispatch
def draw_plot(answer: "Answer", axes: Any = None) -> Any:  # noqa: ANN401 - matplotlib's
    """Draw an answer on axes of matplotlib, or as SVG without it; `display.plots` registers functions."""
    del axes
    raise ValueError(f"a {type(answer).__name__} has nothing to plot")


def make_frame(answer: "Answer", columns: Any) -> "pd.DataFrame":  # noqa: ANN401 - rows or columns
    """Return a pandas frame of rows or columns; one of made-up data has a column that says so."""
    frame = import_pandas().DataFrame(columns)
    if getattr(answer, "rehearsed", False):
        frame["rehearsed"] = True
    return frame


class DisplayedAnswer(Answer):
    """An answer that shows itself: as text, as HTML in notebooks, as a frame and, if it has numbers, as a plot."""

    def __str__(self) -> str:
        return "\n".join(filter(None, (render_text(self), render_table(self))))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return render_html(self)

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas frame with a row for each number, item, column or account.

        Raises:
            ImportError: pandas is not installed.

        Examples:
            >>> penguins.mean("body_mass_g", epsilon="0.5").to_frame().columns.to_list()
            ['statistic', 'value', 'lower', 'upper', 'alpha', 'epsilon', 'charged']
        """
        return make_frame(self, list_records(self))

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 - matplotlib's
        """Plot the answer on `ax` or on new axes of matplotlib, and return them; without matplotlib, return SVG.

        Raises:
            ValueError: there is nothing to plot.

        Examples:
            >>> _ = penguins.histogram("species", epsilon="0.5").plot()
        """
        return draw_plot(self, ax)
