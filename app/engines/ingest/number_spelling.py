"""How people write numbers: with a decimal comma, with separators between thousands, with a sign of their unit.

This is the one place that decides which number a text means. What it returns has the grammar of plain numbers, which
`cells` reads exactly.
"""

import re
import unicodedata
from collections.abc import Sequence

SPACES = " \u00a0\u202f\u2009"
"""An ordinary space, and those at which no line may end: spreadsheets and French texts have them in numbers."""

SYMBOLS = ("%", "€", "$", "£", "¥", "₹", "CHF", "EUR", "USD", "GBP", "kr", "zł")
"""The symbols that a draft recognises; an owner may declare any others."""

_SEPARATORS = {",": ",", ".": r"\.", " ": f"[{SPACES}]", "'": "['\u2019]"}
_NO_NUMBER = ","
_SEPARATED = re.compile(rf"[+-]?[0-9][0-9,.'\u2019{SPACES}]*")


class NumberSpelling:
    """The spelling of a column's numbers.

    Args:
        decimal: the decimal point, or the comma in its place.
        thousands: the character between groups of three digits, or of two before the last three, as in India. A number
            with it has no exponent and begins with no zero: `0,123` and `1.234e5` are decimals in another spelling.
        symbols: texts of which one may stand before or after the digits, such as a currency or the percent sign.
    """

    def __init__(self, decimal: str = ".", thousands: str | None = None, symbols: Sequence[str] = ()) -> None:
        self._decimal = decimal
        self._symbols = sorted(symbols, key=len, reverse=True)
        self._separator = self._grouped = None
        if thousands is not None:
            separator = _SEPARATORS[thousands]
            first = rf"(?:[1-9][0-9]{{0,2}}(?:{separator}[0-9]{{3}})*|[1-9][0-9]?(?:{separator}[0-9]{{2}})+)"
            self._separator = re.compile(separator)
            self._grouped = re.compile(rf"[+-]?{first}{separator}[0-9]{{3}}(?:{re.escape(decimal)}[0-9]*)?")
        self.is_plain = decimal == "." and thousands is None and not symbols

    def to_plain(self, text: str) -> str:
        """Return a text without blanks around it as a plain number; if it is none, a text that is none either."""
        if self._symbols:
            text = self._drop_symbol(text)
        if self._grouped is not None and self._separator is not None and self._grouped.fullmatch(text):
            text = self._separator.sub("", text)
        if self._decimal == ".":
            return text
        return _NO_NUMBER if "." in text else text.replace(self._decimal, ".")

    def _drop_symbol(self, text: str) -> str:
        """Return a number without its symbol, which may stand before or after the digits or the sign."""
        sign = text[:1] if text[:1] in {"+", "-"} else ""
        rest = text.removeprefix(sign).lstrip()
        for symbol in self._symbols:
            if rest.startswith(symbol):
                return sign + rest.removeprefix(symbol).lstrip()
            if rest.endswith(symbol):
                return sign + rest.removesuffix(symbol).rstrip()
        return text


def suggest_spelling(text: str) -> str:
    """Return what an owner may declare so that a text that is no plain number becomes one, as the end of a sentence."""
    if _SEPARATED.fullmatch(text):
        return ": declare `decimal` or `thousands` in `format`"
    ends = text.lstrip("+-")[:1] + text[-1:]
    if any(map(str.isdigit, text)) and any(each == "%" or unicodedata.category(each) == "Sc" for each in ends):
        return ": declare its sign in the column's `symbols`"
    return ""
