"""Pandas, which not everybody has."""

import importlib
from typing import Any


def import_pandas() -> Any:  # noqa: ANN401 - it has no types of its own
    """Import pandas.

    Raises:
        ImportError: it is not installed; the text says how it gets there.
    """
    try:
        return importlib.import_module("pandas")
    except ModuleNotFoundError:
        raise ImportError("data frames need pandas: pip install pandas") from None
