"""Whether the service is alive, and whether it can do its work."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.documentation import operational
from app.api.responses import json_response
from app.api.schemas.answers import Health
from app.db.migrate import is_current
from app.errors import UnavailableError

router = APIRouter(tags=["operations"])


@router.get("/healthz", responses={200: {"model": Health, "description": "Alive."}})
def alive() -> Response:
    """The process answers."""
    return json_response({"status": "ok"})


@router.get("/readyz", responses=operational(Health, "The database is reachable and migrated."))
def ready(request: Request) -> Response:
    """The database is reachable, and its schema is the one that this version works with."""
    if not is_current(request.app.state.services.database):
        raise UnavailableError
    return json_response({"status": "ok"})
