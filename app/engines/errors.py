"""What the engines refuse. No error carries a value of the data."""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")


class EngineFailure(RuntimeError):  # noqa: N818  the name that callers read
    """A data engine is busy, away or failed. The text is always the same, for engines echo values in theirs."""

    def __init__(self) -> None:
        super().__init__("the data engine could not answer")


def translate_engine_errors(logger: logging.Logger, engine: str, call: Callable[[], Result]) -> Result:
    """The result of a call to an engine.

    Raises:
        EngineFailure: whatever went wrong; engines put values into their messages, so only its kind is logged.
        InvalidFile, StaleTable: as the call raises them.
    """
    try:
        return call()
    except (EngineFailure, InvalidFile, StaleTable):
        raise
    except Exception as error:  # noqa: BLE001  nothing may carry a value of the data out of here
        logger.error("%s failed: %s", engine, type(error).__name__)  # noqa: TRY400  a traceback would show values
    raise EngineFailure  # outside the handler, so that the error is not even its context


class Problem(NamedTuple):
    """What is wrong with a file, for its owner alone.

    Attributes:
        where: the file, a column, or a line (CSV) or row (others), counted from 1, and its column.
        what: a sentence about it that never repeats what stands there.
    """

    where: str
    what: str


class InvalidFile(ValueError):  # noqa: N818  the name that callers read
    """An upload, or a table elsewhere, does not hold what is declared; `problems` are the first of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{where}: {what}" for where, what in problems))
        self.problems = tuple(problems)


class StaleTable(RuntimeError):  # noqa: N818  the name that callers read
    """A live table has other rows or columns than when it was registered. Which and how many is never told."""

    def __init__(self) -> None:
        super().__init__("the live table has changed since it was registered")
