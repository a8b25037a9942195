"""Imports pandas and pyarrow, which are optional."""

import importlib
from typing import Any


def import_pandas() -> Any:  # noqa: ANN401 - it has no types of its own
    """Import pandas.

    Raises:
        ImportError: pandas is not installed; the message says how to install it.
    """
    return _import("pandas", "to get data frames")


def import_pyarrow() -> Any:  # noqa: ANN401 - as pandas
    """Import pyarrow with its Parquet part.

    Raises:
        ImportError: pyarrow is not installed; the message says how to install it.
    """
    _import("pyarrow.parquet", "to register a data frame")
    return importlib.import_module("pyarrow")


def _import(module: str, purpose: str) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise ImportError(f"{package} is needed {purpose}: pip install {package}") from None
