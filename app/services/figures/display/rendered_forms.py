"""The forms of figures: each is made once, pictures one after the other, and kept while there is room."""

import time
from collections.abc import Callable

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


class _Pace:
    """Draws pictures in at most half of the time: resvg holds the interpreter's lock, so all other requests wait.

    `PICTURES` lets one thread at a time call this.
    """

    def __init__(self) -> None:
        self._rest_until = 0.0

    def draw(self, render: Callable[[], bytes]) -> bytes:
        time.sleep(max(0.0, self._rest_until - time.monotonic()))
        started = time.monotonic()
        try:
            return render()
        finally:
            ended = time.monotonic()
            self._rest_until = ended + (ended - started)


_pace = _Pace()


def render_once(opened: OpenedFigure, form: str, credential: Credential | None, render: Callable[[], bytes]) -> bytes:
    """Return a form of a figure, which never changes. All callers without a key count as one.

    Raises:
        OverloadedError: too many pictures are being drawn, or too many for this caller.
    """

    def make() -> bytes:
        opened.database.pause()
        if form != "png":
            return render()
        with PICTURES.enter(credential):
            return _pace.draw(render)

    return _forms.get(opened.tag(form), make)
