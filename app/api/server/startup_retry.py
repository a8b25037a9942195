"""Starting while the database is away: to wait for it, rather than to end and take the other workers along."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from starlette.concurrency import run_in_threadpool

from app.config import Settings
from app.errors import UnavailableError
from app.services.context import Services
from app.services.operations import startup

PAUSE_SECONDS = 1.0
_SAID_EVERY = 30

log = structlog.stdlib.get_logger("snapledger.startup")


@contextmanager
def _signals_end_process() -> Iterator[None]:
    """Let signals end the process at once: nothing is served yet, and the server would wait for its start to end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def open_services_with_retry(settings: Settings) -> Services:
    """The services, as soon as their database can be reached.

    Raises:
        ValueError: as `open_services`; no waiting would help.
    """
    tries = 0
    while True:
        try:
            return await run_in_threadpool(startup.open_services, settings)
        except UnavailableError:
            if tries % _SAID_EVERY == 0:
                log.warning("the database does not answer; the service starts when it does")
        tries += 1
        with _signals_end_process():
            await asyncio.sleep(PAUSE_SECONDS)
