"""Queries as texts, cached within a bound of bytes: one with ten thousand values takes a megabyte with its key."""

from collections.abc import Callable
from threading import Lock
from typing import ParamSpec

from cachetools import LRUCache, cached

MAX_CACHE_BYTES = 2**24
"""Of each cached function; the queries that were not used for longest go first."""

_BYTES_PER_QUERY, _BYTES_PER_CHARACTER = 16_000, 12

Arguments = ParamSpec("Arguments")


def _query_bytes(text: str) -> int:
    """About how much memory a query takes with its key, of which each value is written in the text."""
    return _BYTES_PER_QUERY + _BYTES_PER_CHARACTER * len(text)


def cache_queries(render: Callable[Arguments, str]) -> Callable[Arguments, str]:
    """Cache what a function of hashable arguments renders."""
    return cached(LRUCache[object, str](MAX_CACHE_BYTES, getsizeof=_query_bytes), lock=Lock())(render)
