"""Health checks and metrics."""

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from app import metrics
from app.api.middleware.authentication import read_key
from app.api.openapi.operations import metrics_response, probe_responses
from app.api.responses import json_response
from app.api.schemas.responses import Health
from app.api.strict_route import StrictRoute
from app.errors import UnavailableError
from app.services.operations import budget_metrics, startup

router = APIRouter(tags=["operations"], route_class=StrictRoute)


@router.get(
    "/healthz",
    operation_id="getHealth",
    summary="Check that the process is alive",
    **probe_responses(Health, "Alive."),
)
async def alive() -> Response:  # not in a thread, so that it answers while all threads wait for a database
    """The process is alive."""
    return json_response({"status": "ok"})


@router.get(
    "/readyz",
    operation_id="getReadiness",
    summary="Check that the service is ready",
    **probe_responses(Health, "The database is reachable and migrated.", 503),
)
def ready(request: Request) -> Response:
    """The database is reachable, has the schema of this version, and was not retired by `migrate-to`."""
    if not startup.is_ready(request.app.state.services):
        raise UnavailableError
    return json_response({"status": "ok"})


@router.get("/metrics", operation_id="getMetrics", summary="Get metrics for Prometheus", **metrics_response())
def measured(request: Request) -> Response:
    """Counts for Prometheus; with the key of an admin or an auditor, times and each dataset's budget too."""
    more = []
    if "authorization" in request.headers:
        more.append(budget_metrics.make_budget_collector(request.app.state.services, read_key(request.scope)))
    return Response(metrics.exposition(*more, times=bool(more)), media_type=CONTENT_TYPE_LATEST)
