"""How people write dates outside ISO 8601: the day or the month first, the year in four digits last."""

import re

ORDERS = ("day-month-year", "month-day-year")

_DATE = re.compile(
    r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4})"
    r"(?:,? ?([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\.[0-9]{1,9})?(?: ?([AaPp])\.?[Mm]\.?)?)?"
)


def to_iso(text: str, order: str) -> str:
    """Return a date, with or without a time of the day, in ISO 8601; any other text as it is.

    Whether there is such a date is not checked.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return text
    first, _, second, year, hour, minute, seconds, half = match.groups()
    day, month = (first, second) if order == ORDERS[0] else (second, first)
    iso = f"{year}-{month:0>2}-{day:0>2}"
    if hour is None:
        return iso
    if half is not None:
        if not 1 <= int(hour) <= 12:
            return text
        hour = str(int(hour) % 12 + (12 if half in "Pp" else 0))
    return f"{iso}T{hour:0>2}:{minute}:{seconds or '00'}"


def is_unordered(text: str) -> bool:
    """Return whether a text is a date that has a day and a month before the year."""
    return _DATE.fullmatch(text) is not None


def has_points(text: str) -> bool:
    """Return whether the parts of a date are separated by points, as they are only where the day comes first."""
    match = _DATE.fullmatch(text)
    return match is not None and match[2] == "."
