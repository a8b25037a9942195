"""The words of SQL that every engine has, and the name of the table that the texts of these tests are about."""

import re
from functools import cache

from sqlglot import exp, parse_one

from app.engines.sql.queries import Dialect

TABLE = exp.to_table("worst")
# Every engine has these, with the same meaning; a dialect that lacks a word may drop it without a sound.
WORDS = {
    *(
        "Add",
        "Alias",
        "Case",
        "Cast",
        "Column",
        "Count",
        "DataType",
        "DataTypeParam",
        "Div",
        "EQ",
        "Floor",
        "From",
        "GTE",
    ),
    *("And", "Div", "GT", "Not", "Or"),
    *("Group", "Identifier", "If", "Is", "LT", "LTE", "Least", "Literal", "Mul", "Null", "Paren", "Select", "Star"),
    *("Sub", "Subquery", "Sum", "Table", "TableAlias"),
    *("Join", "Tuple", "Values"),  # with the list of declared categories
}


def assert_common_words(text: str, dialect: Dialect, *, also: frozenset[str] = frozenset()) -> None:
    """Every word of a statement is one of `WORDS`, or of those that are allowed beside them."""
    one = re.sub(r"\b\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\b", "1", text)  # so that few texts are parsed
    words = _words(re.sub(r"(CAST\('-?1' AS \w+\), )+", r"\1", one), dialect)
    if dialect == "spark":  # whose CAST sqlglot reads as one that tries
        words -= {"TryCast"}
    assert words <= WORDS | also
    assert "TRY_CAST" not in text


@cache
def _words(text: str, dialect: Dialect) -> frozenset[str]:
    return frozenset(type(node).__name__ for node in parse_one(text, dialect=dialect).walk())
