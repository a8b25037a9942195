"""Wakes this process's worker when a run is queued, so that the run does not wait for the worker's next look."""

from threading import Event
from typing import Final

QUEUED: Final = Event()
"""Set when a run may have been queued by this process."""
