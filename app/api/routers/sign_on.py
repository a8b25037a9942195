"""How people sign on: public, so that clients can ask before they have a token."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.openapi.operations import probe_responses
from app.api.pages.sign_on import START_PATH
from app.api.responses import json_response
from app.api.schemas.responses import SignOn
from app.api.strict_route import StrictRoute
from app.config import Settings
from app.services.context import Services

PATH = "/v1/sign-on"

router = APIRouter(tags=["principals"], route_class=StrictRoute)


def _provider_document(settings: Settings) -> dict[str, object] | None:
    shared = None if settings.oidc_client_secret is not None else settings.oidc_client_id
    device = settings.oidc_device_client_id or shared
    if settings.oidc_client_id is None and device is None:
        return None
    start = None if settings.oidc_client_id is None else f"{settings.public_url}{START_PATH}"
    return {
        "issuer": settings.oidc_issuer,
        "client_id": device,
        "scopes": settings.oidc_scopes.split(),
        "resource": settings.oidc_resource,
        "dashboard_url": start,
    }


@router.get(
    PATH,
    operation_id="getSignOn",
    summary="Get how people sign on",
    **probe_responses(SignOn, "The provider, or null.", 429),
)
async def read_sign_on(request: Request) -> Response:  # not in a thread: it needs no database
    """How people sign on with their organisation's account. This needs no key."""
    services: Services = request.app.state.services
    return json_response({"provider": _provider_document(services.settings)})
