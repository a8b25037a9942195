"""Imports pandas, which is optional."""

import importlib
from typing import Any


def import_pandas() -> Any:  # noqa: ANN401 - it has no types of its own
    """Import pandas.

    Raises:
        ImportError: pandas is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module("pandas")
    except ModuleNotFoundError:
        raise ImportError("data frames need pandas: pip install pandas") from None
