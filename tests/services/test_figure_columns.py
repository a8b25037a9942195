"""The columns of a figure's rows stand in several places, one for each form: all have the same."""

import csv
import re
from pathlib import Path

from app.api.routers import figures
from app.api.schemas.figures import FigureRow
from app.db.figures_schema import COLUMNS
from app.services.figures import formats
from app.services.figures.figure_rows import Row

ROOT = Path(__file__).parent.parent.parent


def test_every_form_of_a_figure_has_the_columns_of_its_rows() -> None:
    names = list(Row._fields)
    assert list(FigureRow.model_fields) == names  # JSON, and the OpenAPI document
    assert list(COLUMNS) == names  # the figures' database
    assert sorted(formats._TYPES) == sorted(names)  # Arrow and Parquet
    header, example = csv.reader(figures._CSV.splitlines())
    assert (header, len(example)) == (names, len(names))


def test_the_guide_explains_each_column_of_a_figure() -> None:
    text = (ROOT / "docs" / "figures.md").read_text()
    table = text.partition("| column | meaning |")[2].partition("\n\n")[0]
    explained = [name for row in table.splitlines() for name in re.findall("`([a-z_]+)`", row.split(" | ")[0])]
    assert explained == list(Row._fields)


def test_the_texts_that_could_be_formulas_are_guarded() -> None:
    """Dates, `epsilon` and `released_at` are never somebody's own words."""
    texts = {name for name, field in FigureRow.model_fields.items() if field.annotation in {str, str | None}}
    dates = {"value_as_date", "interval_lower_as_date", "interval_upper_as_date"}
    assert texts - {*dates, "epsilon", "released_at"} == formats._TEXTS
