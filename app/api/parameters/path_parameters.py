"""Numbers in the path of a request."""

import re
from typing import Annotated

from pydantic import WithJsonSchema

from app.errors import NotFoundError

NumberInPath = Annotated[str, WithJsonSchema({"type": "integer", "minimum": 1})]


def number_in_path(text: str, maximum: int = 10**18 - 1) -> int:
    """Return the number of something in a numbered list.

    Raises:
        NotFoundError: it is not a number from 1 to `maximum`, without leading zeros.
    """
    if re.fullmatch("[1-9][0-9]{0,17}", text) and int(text) <= maximum:
        return int(text)
    raise NotFoundError
