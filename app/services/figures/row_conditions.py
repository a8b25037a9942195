"""Tells in words which rows and values the numbers of a figure are of: public facts of the question and the columns."""

from collections.abc import Mapping
from typing import Any

from app.services.rendering.filters import filter_in_words, shorten_value
from app.services.rendering.treatments import shorten_rules

MAX_CHARACTERS = 600
"""Each of a figure's rows repeats the text."""


def conditions_in_words(question: Mapping[str, Any], treatment: Mapping[str, Any]) -> str:
    """Return a question's filter and the rules for missing values and bounds; empty if there is nothing to tell.

    Args:
        question: the statistic or derived statistic of an answer.
        treatment: the treatment of each column of the answer.
    """
    clauses = []
    if question.get("category") is not None:
        clauses.append(f"category {shorten_value(question['category'])}")
    if question.get("weight") is not None:
        clauses.append(f"weighted by {question['weight']}")
    if question.get("where"):
        clauses.append(filter_in_words(question["where"]))
    clauses += shorten_rules([each["rule"] for each in treatment.values()])
    text = "; ".join(clauses)
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
