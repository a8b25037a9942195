"""What an engine is to the rest of the house."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from app.dp.sums import Answer, Needs


class Engine(Protocol):
    """Computes exact sums over a stored table, on any thread."""

    def compute(self, path: Path, scan: Sequence[Needs]) -> Sequence[Answer]:
        """The exact integers of each need, and nothing else, by one statement (`app.engines.shared_queries`).

        Raises:
            EngineFailure: the engine is busy, away or failed.
        """
        ...

    def close(self) -> None:
        """Give up what the engine holds; it can compute no more."""
        ...
