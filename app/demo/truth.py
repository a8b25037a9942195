"""The true values of the demonstration's public table, computed from the file without the service."""

import csv
from collections import Counter
from fractions import Fraction
from importlib.resources import files


def table() -> bytes:
    """Return the content of the CSV file."""
    return files("app.demo").joinpath("penguins.csv").read_bytes()


def _column(name: str) -> list[str]:
    return [row[name] for row in csv.DictReader(table().decode().splitlines())]


def numbers(name: str, bounds: tuple[int, int]) -> list[Fraction]:
    """Return a column's values, clipped to the bounds; a missing value becomes their midpoint, as in the service."""
    lower, upper = map(Fraction, bounds)
    middle = (lower + upper) / 2
    return [middle if text == "NA" else min(max(Fraction(text), lower), upper) for text in _column(name)]


def mean(values: list[Fraction]) -> Fraction:
    """Return the mean."""
    return sum(values, Fraction()) / len(values)


def covariance(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """Return the sample covariance; for a column with itself this is the sample variance."""
    centre, other_centre = mean(first), mean(second)
    products = ((x - centre) * (y - other_centre) for x, y in zip(first, second, strict=True))
    return sum(products, Fraction()) / (len(first) - 1)


def counts(name: str, categories: list[str]) -> list[int]:
    """Return the number of rows in each category."""
    counted = Counter(_column(name))
    return [counted[category] for category in categories]
