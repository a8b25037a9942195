"""A cache of rendered queries, limited in bytes: a query with ten thousand values takes a megabyte with its key."""

from collections.abc import Callable
from threading import Lock
from typing import ParamSpec

from cachetools import LRUCache, cached

MAX_CACHE_BYTES = 2**24
"""The limit for each cached function; the least recently used queries are evicted first."""

_BYTES_PER_QUERY, _BYTES_PER_CHARACTER = 16_000, 12

Arguments = ParamSpec("Arguments")


def _query_bytes(text: str) -> int:
    """Estimate how much memory a query takes with its key; the text contains every value of the key."""
    return _BYTES_PER_QUERY + _BYTES_PER_CHARACTER * len(text)


def cache_queries(render: Callable[Arguments, str]) -> Callable[Arguments, str]:
    """Return `render` with a thread-safe cache; its arguments must be hashable."""
    return cached(LRUCache[object, str](MAX_CACHE_BYTES, getsizeof=_query_bytes), lock=Lock())(render)
