"""Times in requests: RFC 3339 with a time zone, converted to the form in which the database stores them."""

import re
from datetime import datetime
from typing import Annotated, Final

from pydantic import PlainValidator, WithJsonSchema

from app.api.schemas.field_types.numbers import refuse, text
from app.db import clock

_RFC_3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _time(value: object) -> str:
    given = str(text(value))
    try:
        if _RFC_3339.fullmatch(given):
            return clock.to_stored_time(datetime.fromisoformat(given.upper()))
    except (ValueError, OverflowError):  # a date that does not exist, or is out of Python's range
        pass
    raise refuse("must be a time with its zone (RFC 3339), such as 2027-01-31T12:00:00Z")


Moment = Annotated[str, PlainValidator(_time), WithJsonSchema({"type": "string", "format": "date-time"})]
