"""Waits for the database at the start. If a worker ended instead, the server would stop all other workers too."""

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
    """Let signals end the process at once. The server's own handlers would wait until the start has finished."""
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
    """Return the services, as soon as their database responds.

    Raises:
        ValueError: `open_services` failed for a reason that waiting does not change.
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
