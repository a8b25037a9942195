"""The forms of figures: each is made once, pictures one after the other, and kept while there is room."""

from collections.abc import Callable
from contextlib import nullcontext

from app.engines.storage.single_flight_cache import SingleFlightCache
from app.services.access import Credential
from app.services.figures.reading import OpenedFigure
from app.services.releasing.bulkhead import PICTURES

MAX_CACHE_BYTES = 2**24
"""The limit on all cached forms of a process together."""

MAX_CACHED, _BYTES_PER_ENTRY = 10_000, 1_000

_forms: SingleFlightCache[str, bytes] = SingleFlightCache(
    MAX_CACHED, MAX_CACHE_BYTES, lambda _, content: len(content) + _BYTES_PER_ENTRY
)


def render_once(opened: OpenedFigure, form: str, credential: Credential | None, render: Callable[[], bytes]) -> bytes:
    """Return a form of a figure, which never changes. All callers without a key count as one.

    Raises:
        OverloadedError: too many pictures are being drawn, or too many for this caller.
    """

    def make() -> bytes:
        opened.database.pause()
        with PICTURES.enter(credential) if form == "png" else nullcontext():
            return render()

    return _forms.get(opened.tag(form), make)
