"""The log: a JSON object a line, on standard error, from the service and its server.

No library is heard, since its messages may quote what it was given; and nothing here is given a value, a key or a body.
"""

from contextvars import ContextVar
from typing import Any

import structlog
from structlog.typing import EventDict

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being answered; a thread that answers it has it too."""


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
    """Hand what structlog's loggers say to `logging`; each process of the service does it for itself."""
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
    """A configuration of `logging`; it takes what structlog's loggers and plain ones say."""
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
