"""Times of requests: RFC 3339, with a zone, as the database keeps them."""

import re
from datetime import datetime
from typing import Annotated, Final

from pydantic import PlainValidator, WithJsonSchema

from app.api.schemas.numbers import refuse, text
from app.db import clock

_RFC_3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _time(value: object) -> str:
    given = str(text(value))
    try:
        if _RFC_3339.fullmatch(given):
            return clock.to_stored_time(datetime.fromisoformat(given.upper()))
    except (ValueError, OverflowError):  # a day that is in no calendar, or before or after all of them
        pass
    raise refuse("must be a time with its zone (RFC 3339), such as 2027-01-31T12:00:00Z")


Moment = Annotated[str, PlainValidator(_time), WithJsonSchema({"type": "string", "format": "date-time"})]
