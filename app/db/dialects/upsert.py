"""INSERT … ON CONFLICT, for which SQLAlchemy has a separate class in each dialect."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from sqlalchemy import Insert, Table
from sqlalchemy.dialects import postgresql, sqlite

S = TypeVar("S", bound=Insert)


def upsert(table: Table, build: Callable[[postgresql.Insert], S]) -> Mapping[str, S]:
    """Build a statement from an INSERT into the table for each dialect, by the dialect's name.

    The INSERT classes of both dialects have the same methods, so the type of one is used for both.
    """
    return {
        "postgresql": build(postgresql.insert(table)),
        "sqlite": build(sqlite.insert(table)),  # type: ignore[arg-type]
    }
