"""INSERT … ON CONFLICT, which SQLAlchemy spells by database."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from sqlalchemy import Insert, Table
from sqlalchemy.dialects import postgresql, sqlite

S = TypeVar("S", bound=Insert)


def upsert(table: Table, build: Callable[[postgresql.Insert], S]) -> Mapping[str, S]:
    """The statement that `build` makes of an INSERT into the table, by the name of the session's dialect.

    Both dialects' INSERT have the same methods; the one's type stands for both.
    """
    return {
        "postgresql": build(postgresql.insert(table)),
        "sqlite": build(sqlite.insert(table)),  # type: ignore[arg-type]
    }
