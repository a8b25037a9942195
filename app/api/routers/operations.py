"""Health checks and metrics."""

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from app import metrics
from app.api.middleware.authentication import read_key
from app.api.openapi.document import metrics_response, probe_responses
from app.api.responses import json_response
from app.api.schemas.responses import Health
from app.errors import UnavailableError
from app.services.operations import budget_metrics, startup

router = APIRouter(tags=["operations"])


@router.get("/healthz", responses={200: {"model": Health, "description": "Alive."}})
async def alive() -> Response:  # not in a thread, so that it answers while all threads wait for a database
    """The process is alive."""
    return json_response({"status": "ok"})


@router.get("/readyz", responses=probe_responses(Health, "The database is reachable and migrated."))
def ready(request: Request) -> Response:
    """The database is reachable, has the schema of this version, and was not retired by `migrate-to`."""
    if not startup.is_ready(request.app.state.services):
        raise UnavailableError
    return json_response({"status": "ok"})


@router.get("/metrics", **metrics_response())
def measured(request: Request) -> Response:
    """Counts for Prometheus; with the key of an admin or an auditor, times and each dataset's budget too."""
    more = []
    if "authorization" in request.headers:
        more.append(budget_metrics.budget_collector(request.app.state.services, read_key(request.scope)))
    return Response(metrics.exposition(*more, times=bool(more)), media_type=CONTENT_TYPE_LATEST)
