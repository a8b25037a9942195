"""The errors that the engines raise. No error contains a value of the data."""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")


class EngineFailure(RuntimeError):  # noqa: N818  the name that callers read
    """A data engine is busy, unavailable or failed. The text is fixed, because an engine's own text can show values."""

    def __init__(self) -> None:
        super().__init__("the data engine could not answer")


def translate_engine_errors(logger: logging.Logger, engine: str, call: Callable[[], Result]) -> Result:
    """Return the result of a call to an engine, and replace the engine's own errors by `EngineFailure`.

    Raises:
        EngineFailure: the call raised any other error. Only the error's type is logged, because an engine's message
            can show values.
        InvalidFile, StaleTable: the call raised it.
    """
    try:
        return call()
    except (EngineFailure, InvalidFile, StaleTable):
        raise
    except Exception as error:  # noqa: BLE001  no error that leaves this function may contain a value
        logger.error("%s failed: %s", engine, type(error).__name__)  # noqa: TRY400  a traceback would show values
    raise EngineFailure  # outside the handler, so that the error is not even its context


class Problem(NamedTuple):
    """A problem with a file, which only the file's owner may read.

    Attributes:
        where: the file, a column, or a line (CSV) or row (others), counted from 1, and its column.
        what: a sentence about the problem, which never repeats the content of the file.
    """

    where: str
    what: str


class InvalidFile(ValueError):  # noqa: N818  the name that callers read
    """An upload or an external table does not match its declaration; `problems` holds the first problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{where}: {what}" for where, what in problems))
        self.problems = tuple(problems)


class StaleTable(RuntimeError):  # noqa: N818  the name that callers read
    """A live table's rows or columns have changed since it was registered. The error never says which or how many."""

    def __init__(self) -> None:
        super().__init__("the live table has changed since it was registered")
