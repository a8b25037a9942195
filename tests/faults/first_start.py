"""What each worker of a service does at its start, in processes that all begin at the same moment."""

import asyncio
import multiprocessing
import traceback
from collections.abc import Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from app.config import Settings
from app.main import create_app

_SECONDS = 250  # for all of them together


def start_together(all_settings: Sequence[Settings]) -> list[str]:
    """Start a worker with each of the settings, and stop them all; the traceback of each, or an empty text."""
    context = multiprocessing.get_context("forkserver")  # which imports the service once
    context.set_forkserver_preload(["app.main"])
    barrier, outcomes = context.Barrier(len(all_settings)), context.SimpleQueue()
    workers = [context.Process(target=_start, args=(settings, barrier, outcomes)) for settings in all_settings]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(_SECONDS)
        if worker.exitcode is None:
            worker.kill()
    return [outcomes.get() for _ in range(len(workers)) if not outcomes.empty()]


def _start(settings: Settings, barrier: Barrier, outcomes: Any) -> None:
    async def live() -> None:
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            pass

    barrier.wait(_SECONDS)
    try:
        asyncio.run(live())
    except BaseException:  # noqa: BLE001 - whatever ends a worker is what the test is about
        outcomes.put(traceback.format_exc())
    else:
        outcomes.put("")


def settings_for(database_url: str, data_dir: Path) -> Settings:
    """A service whose operator has set nothing but where it lives: it makes its secret and its admin's key itself."""
    return Settings(database_url=database_url, data_dir=data_dir)
