"""The log of the service and its server: one JSON object on each line, on standard error.

Messages of other libraries are dropped, since they may quote their input. Our own messages contain no value of the
data, no key and no body.
"""

from contextvars import ContextVar
from typing import Any

import structlog
from structlog.typing import EventDict

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the current request, also in the thread that runs it."""


def _with_request_id(_: Any, __: str, event: EventDict) -> EventDict:  # noqa: ANN401 - structlog's own
    if identity := request_id.get():
        event.setdefault("request_id", identity)
    return event


_SHARED: list[structlog.typing.Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _with_request_id,
]


def configure_structlog() -> None:
    """Send the messages of structlog's loggers to `logging`. Each process of the service must call this."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def configuration(level: str) -> dict[str, Any]:
    """Return a configuration of `logging` for structlog's loggers and plain ones, from `level` on."""
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": _SHARED,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.EventRenamer("event"),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    }
    heard = {"handlers": ["stderr"], "level": level, "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": formatter},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "json"},
            "nowhere": {"class": "logging.NullHandler"},
        },
        "root": {"handlers": ["nowhere"]},
        "loggers": dict.fromkeys(("snapledger", "app", "uvicorn"), heard),
    }
