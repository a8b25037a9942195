"""Who is heard in the log: the service and its server, and no library, whose messages may quote what it was given."""

from typing import Any


def configuration(level: str) -> dict[str, Any]:
    """A configuration of `logging` that writes to standard error."""
    heard = {"handlers": ["stderr"], "level": level, "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
            "nowhere": {"class": "logging.NullHandler"},
        },
        "root": {"handlers": ["nowhere"]},
        "loggers": dict.fromkeys(("snapledger", "app", "uvicorn"), heard),
    }
